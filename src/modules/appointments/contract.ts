import type { z } from 'zod';
import { anyOf, byId, codeOf, dateOrMoment, eventType, id, operation, privateKeys, recordListQuery } from '#platform/contract.ts';
import { appointmentStatuses } from './codes.ts';
import { appointment, appointmentChanges, appointmentType, cancellation, newAppointment } from './shapes.ts';

export * from './codes.ts';
export * from './shapes.ts';

const tag = 'Appointments';
const readers = { scopes: ['appointments:read'], kinds: privateKeys } as const;
const writers = { scopes: ['appointments:write'], kinds: privateKeys } as const;

export const appointmentListQuery = recordListQuery({
  starts_from: dateOrMoment.optional().describe('Only those that start at or after it. A date is a day in the dealership’s time zone.'),
  starts_to: dateOrMoment.optional().describe('Only those that start at or before it: of a date, by the end of that day.'),
  status: anyOf(codeOf('appointment-statuses', appointmentStatuses)).optional(),
  type: anyOf(appointmentType).optional(),
  customer_id: anyOf(id).optional(),
  vehicle_id: anyOf(id).optional(),
  assigned_to_id: anyOf(id).optional(),
});
export type AppointmentListQuery = z.output<typeof appointmentListQuery>;

export const listAppointments = operation({
  id: 'appointments.list',
  method: 'GET',
  path: '/v1/appointments',
  tag,
  summary: 'List appointments',
  description: 'In the order of `updated_at`. `starts_from` and `starts_to` take a day or a week out of the diary.',
  access: readers,
  query: appointmentListQuery,
  success: { status: 200, data: appointment, shape: 'page' },
  refusals: ['validation_failed'],
});

export const getAppointment = operation({
  id: 'appointments.get',
  method: 'GET',
  path: '/v1/appointments/{id}',
  tag,
  summary: 'Read an appointment',
  access: readers,
  params: byId,
  success: { status: 200, data: appointment },
  refusals: ['not_found'],
});

export const createAppointment = operation({
  id: 'appointments.create',
  method: 'POST',
  path: '/v1/appointments',
  tag,
  summary: 'Book an appointment',
  description:
    'Needs `type`, `starts_at`, and `customer_id` or `contact`. It is BOOKED unless another status is given. A contact is kept as given: no customer is looked for or made.',
  access: writers,
  body: newAppointment,
  success: { status: 201, data: appointment, location: '/v1/appointments/{id}' },
  refusals: ['branch_move_not_permitted', 'external_id_taken', 'validation_failed'],
  emits: ['appointment.created'],
  example: {
    body: {
      external_id: 'booking-318',
      type: 'TEST_DRIVE',
      starts_at: '2026-02-07T10:00:00Z',
      ends_at: '2026-02-07T10:45:00Z',
      contact: { first_name: 'Alex', last_name: 'Rowan', email: 'Alex.Rowan@customer.example', mobile: '07700 900118' },
      vehicle_id: '{/v1/vehicles}',
      customer_vehicle: { registration: 'ab12 cde', make: 'Vauxhall', model: 'Astra', mileage: 61_200 },
      notes: 'Would like to try the motorway.',
    },
  },
});

export const updateAppointment = operation({
  id: 'appointments.update',
  method: 'PATCH',
  path: '/v1/appointments/{id}',
  tag,
  summary: 'Change an appointment',
  description:
    'A merge patch: an absent field is left, null clears it. The status goes forward, steps left out or not: BOOKED, CONFIRMED, ARRIVED, COMPLETED; or to NO_SHOW once `starts_at` has passed. A completed, missed or cancelled appointment keeps its status and its time; the rest of it can still be written.',
  access: writers,
  params: byId,
  body: appointmentChanges,
  success: { status: 200, data: appointment },
  refusals: ['not_found', 'branch_move_not_permitted', 'external_id_taken', 'appointment_closed', 'validation_failed'],
  emits: ['appointment.updated'],
  example: { body: { status: 'CONFIRMED', starts_at: '2026-02-07T11:00:00Z' } },
});

export const cancelAppointment = operation({
  id: 'appointments.cancel',
  method: 'POST',
  path: '/v1/appointments/{id}/cancel',
  tag,
  summary: 'Cancel an appointment',
  description: 'One that is cancelled already is answered as it is. A completed or missed one is not cancelled any more.',
  access: writers,
  params: byId,
  body: cancellation,
  success: { status: 200, data: appointment },
  refusals: ['not_found', 'appointment_closed', 'validation_failed'],
  emits: ['appointment.cancelled'],
  example: { body: { reason: 'The customer is ill and will ring again.' } },
});

export const appointmentOperations = [listAppointments, getAppointment, createAppointment, updateAppointment, cancelAppointment];

const { scopes } = readers;

export const appointmentCreated = eventType({
  type: 'appointment.created',
  summary: 'An appointment was booked.',
  object: appointment,
  scopes,
});

export const appointmentUpdated = eventType({
  type: 'appointment.updated',
  summary: 'A field or the status of an appointment changed, other than by its cancellation.',
  object: appointment,
  scopes,
});

export const appointmentCancelled = eventType({
  type: 'appointment.cancelled',
  summary: 'An appointment was cancelled.',
  object: appointment,
  scopes,
});

export const appointmentEvents = [appointmentCreated, appointmentUpdated, appointmentCancelled];
