import { z } from 'zod';
import { contact, contactChanges, enquirySources } from '#modules/enquiries/contract.ts';
import { shownBranch } from '#modules/house/contract.ts';
import { shownCustomer, shownDeal, shownEnquiry, shownJobCard, shownStaff, shownVehicle } from '#modules/links/contract.ts';
import { registration } from '#modules/vehicles/contract.ts';
import { dateTime, externalIdField, id, metadataChanges, moment, openCodeOf, shownOpenCode, text, whole } from '#platform/contract.ts';
import { appointmentLocations, appointmentStatuses, appointmentTypes, transportOptions } from './codes.ts';

const line = (max: number) => text(max).nullable();

// ---- Requests, each in the form of a merge patch: absent leaves it, null clears it, an object is merged ----

export const appointmentType = openCodeOf('appointment-types', appointmentTypes);

/** A status the API never sets is an error of shape, like a status that does not exist. */
const notAStatus = 'Not a code of the reference list "appointment-statuses".';
const settable = z.enum(appointmentStatuses, { error: notAStatus }).exclude(['CANCELLED'], {
  error: ({ input }) => (input === 'CANCELLED' ? 'CANCELLED is set by POST /v1/appointments/{id}/cancel.' : notAStatus),
});

/** No diary reaches further; an end that moves along stays within the calendar. */
const slot = moment.refine((value) => value > '1900' && value < '3000', { error: 'From the year 1900 to the year 2999.' });

const given = {
  external_id: externalIdField,
  branch_id: id,
  type: appointmentType,
  status: settable.describe('Forward only: BOOKED, CONFIRMED, ARRIVED, COMPLETED; NO_SHOW once `starts_at` has passed.'),
  starts_at: slot,
  ends_at: slot.nullable().describe('After `starts_at`: 30 minutes when it is not said. It moves along when `starts_at` alone changes.'),
  customer_id: id.nullable(),
  contact: contactChanges.describe('Who comes, as given: a name, and an e-mail or a number.'),
  enquiry_id: id.nullable(),
  deal_id: id.nullable(),
  vehicle_id: id.nullable().describe('A vehicle of the stock.'),
  customer_vehicle: z
    .strictObject({ registration: registration.nullable(), make: line(60), model: line(60), mileage: whole(0, 9_999_999).nullable() })
    .partial()
    .nullable()
    .describe('The customer’s own car.'),
  assigned_to_id: id.nullable().describe('A member of staff.'),
  location: z.enum(appointmentLocations, { error: `One of ${appointmentLocations.join(', ')}.` }),
  transport_option: openCodeOf('transport-options', transportOptions).nullable(),
  notes: line(10_000),
  metadata: metadataChanges,
};

/** The body of a change: any of the writable fields. */
export const appointmentChanges = z.strictObject(given).partial();
export type AppointmentChanges = z.output<typeof appointmentChanges>;

/** The body of a creation: what for, when, and who comes, by id or as given. */
export const newAppointment = z
  .strictObject(given)
  .partial()
  .required({ type: true, starts_at: true })
  .superRefine(({ customer_id: customerId, contact }, ctx) => {
    if (!customerId && !contact) ctx.addIssue({ code: 'custom', path: ['contact'], message: 'Required, unless a customer_id is given.' });
  });
export type NewAppointment = z.output<typeof newAppointment>;

/** The body of a cancellation, which may be left out. */
export const cancellation = z
  .strictObject({ reason: line(500) })
  .partial()
  .optional();
export type Cancellation = z.output<typeof cancellation>;

// ---- Responses ----

const uuid = z.string().meta({ format: 'uuid' });
const known = z.string().nullable();

const customerVehicle = z
  .object({ registration: known, make: known, model: known, mileage: z.int().nullable() })
  .meta({ id: 'AppointmentVehicle', description: 'The customer’s own car.' });
export type CustomerVehicle = z.output<typeof customerVehicle>;

export const appointment = z
  .object({
    id: uuid,
    external_id: known,
    branch_id: uuid,
    branch: shownBranch,
    type: shownOpenCode('appointment-types', appointmentTypes),
    status: z.enum(appointmentStatuses),
    starts_at: dateTime,
    ends_at: dateTime,
    customer_id: uuid.nullable(),
    customer: shownCustomer,
    contact: contact.nullable(),
    enquiry_id: uuid.nullable(),
    enquiry: shownEnquiry,
    deal_id: uuid.nullable(),
    deal: shownDeal,
    vehicle_id: uuid.nullable(),
    vehicle: shownVehicle,
    customer_vehicle: customerVehicle.nullable(),
    job_card_id: uuid.nullable().describe('The newest job card made of it.'),
    job_card: shownJobCard,
    assigned_to_id: uuid.nullable(),
    assigned_to: shownStaff,
    location: z.enum(appointmentLocations),
    transport_option: shownOpenCode('transport-options', transportOptions).nullable(),
    notes: known,
    source: shownOpenCode('enquiry-sources', enquirySources).describe('How it was booked: API through this interface.'),
    cancelled_at: dateTime.nullable(),
    cancellation_reason: known,
    metadata: z.record(z.string(), z.string()),
    created_at: dateTime,
    updated_at: dateTime,
  })
  .meta({ id: 'Appointment' });
export type Appointment = z.output<typeof appointment>;
