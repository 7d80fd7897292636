// The code lists of an appointment, in the order in which the reference lists show them.

/** Dealers may add codes of their own (`X_…`). */
export const appointmentTypes = [
  'TEST_DRIVE',
  'VIEWING',
  'VIDEO_CALL',
  'PHONE_CALL',
  'PART_EXCHANGE_APPRAISAL',
  'HANDOVER',
  'SERVICE',
  'MOT',
  'REPAIR',
  'DIAGNOSTIC',
  'RECALL',
  'OTHER',
] as const;

export const appointmentStatuses = ['BOOKED', 'CONFIRMED', 'ARRIVED', 'COMPLETED', 'NO_SHOW', 'CANCELLED'] as const;
export type AppointmentStatus = (typeof appointmentStatuses)[number];

/** From these an appointment goes no further. */
export const closedStatuses = ['COMPLETED', 'NO_SHOW', 'CANCELLED'] as const satisfies readonly AppointmentStatus[];

export const appointmentLocations = ['BRANCH', 'CUSTOMER_ADDRESS', 'ONLINE'] as const;
export type AppointmentLocation = (typeof appointmentLocations)[number];

/** How a customer gets about while the car is here. Dealers may add codes of their own (`X_…`). */
export const transportOptions = ['NONE', 'WHILE_YOU_WAIT', 'COURTESY_CAR', 'COLLECTION_AND_DELIVERY', 'DROP_OFF'] as const;
