import { appointmentEvents } from '#modules/appointments/contract.ts';
import { customerEvents } from '#modules/customers/contract.ts';
import { dealEvents } from '#modules/deals/contract.ts';
import { enquiryEvents } from '#modules/enquiries/contract.ts';
import { jobCardEvents } from '#modules/job-cards/contract.ts';
import { themeEvents } from '#modules/themes/contract.ts';
import { vehicleEvents } from '#modules/vehicles/contract.ts';
import type { EventType } from '#platform/contract.ts';
import { ping } from './shapes.ts';

/** Every type that can be subscribed to … */
export const subscribable: readonly EventType[] = [
  ...vehicleEvents,
  ...enquiryEvents,
  ...customerEvents,
  ...dealEvents,
  ...appointmentEvents,
  ...jobCardEvents,
  ...themeEvents,
];

/** … and every type there is. */
export const eventTypes: readonly EventType[] = [...subscribable, ping];

/** `vehicle` of `vehicle.created`; a type without a dot belongs to no family. */
export const familyOf = (type: string): string | null => (type.includes('.') ? type.slice(0, type.lastIndexOf('.')) : null);
