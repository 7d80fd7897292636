import { z } from 'zod';
import { transportOptions } from '#modules/appointments/contract.ts';
import { shownBranch } from '#modules/house/contract.ts';
import { shownAppointment, shownCustomer, shownDeal, shownInvoice, shownStaff, shownVehicle } from '#modules/links/contract.ts';
import { registration, vin } from '#modules/vehicles/contract.ts';
import { dateTime, externalIdField, id, metadataChanges, moment, openCodeOf, shownOpenCode, text, whole } from '#platform/contract.ts';
import { firstStatuses, jobCardStatuses, jobCardTypes } from './codes.ts';
import { jobCardTotals, jobLine } from './line-shapes.ts';

const line = (max: number) => text(max).nullable();
const mileage = whole(0, 9_999_999).nullable();

export const jobCardType = openCodeOf('job-card-types', jobCardTypes);

// ---- Requests, each in the form of a merge patch: absent leaves it, null clears it, an object is merged, an array replaced ----

/** A status the API never sets is an error of shape, like a status that does not exist. */
const notAStatus = 'Not a code of the reference list "job-card-statuses".';
const ofTheInvoice = 'INVOICED is set when the invoice is raised in the DMS.';
const settable = z
  .enum(jobCardStatuses, { error: notAStatus })
  .exclude(['INVOICED'], { error: ({ input }) => (input === 'INVOICED' ? ofTheInvoice : notAStatus) });
const first = z.enum(firstStatuses, {
  error: ({ input }) => (input === 'INVOICED' ? ofTheInvoice : 'A new job card is an ESTIMATE or BOOKED.'),
});

const given = {
  external_id: externalIdField,
  branch_id: id,
  advisor_id: id.nullable().describe('A member of staff.'),
  technician_ids: z.array(id).max(20, { error: 'At most 20 technicians.' }).nullable().describe('Members of staff.'),
  mileage_in: mileage,
  mileage_out: mileage.describe('Not less than `mileage_in`.'),
  concern: line(5000).describe('What the customer complains of.'),
  diagnosis: line(5000),
  work_done: line(5000),
  booked_in_at: moment.nullable(),
  promised_at: moment.nullable(),
  key_tag: line(20),
  transport_option: openCodeOf('transport-options', transportOptions).nullable(),
  customer_order_number: line(60),
  internal_notes: line(10_000),
  metadata: metadataChanges,
};

/** The body of a change: any of the writable fields. */
export const jobCardChanges = z.strictObject({ ...given, status: settable }).partial();
export type JobCardChanges = z.output<typeof jobCardChanges>;

const customersCar = z
  .strictObject({
    id: id.nullable().describe('One of the customer’s `owned_vehicles`; it brings the other fields with it.'),
    registration: registration.nullable(),
    vin: vin.nullable(),
    make: line(60),
    model: line(60),
  })
  .partial()
  .nullable();

/** The body of a creation: which car is worked on, one of the stock or a customer's. */
export const newJobCard = z
  .strictObject({
    ...given,
    status: first.describe('ESTIMATE unless it is said.'),
    type: jobCardType.describe('RETAIL unless it is said; INTERNAL is the preparation of a vehicle of the stock.'),
    customer_id: id.nullable(),
    vehicle_id: id.nullable().describe('A vehicle of the stock.'),
    customer_vehicle: customersCar.describe('A car of the customer’s, as given.'),
    appointment_id: id.nullable(),
    deal_id: id.nullable(),
  })
  .partial()
  .superRefine(({ vehicle_id: vehicleId, customer_vehicle: car }, ctx) => {
    const named = Object.values(car ?? {}).some((value) => typeof value === 'string');
    if (Boolean(vehicleId) === named) {
      const message = named ? 'Either a vehicle_id or a customer_vehicle, not both.' : 'Required, unless a customer_vehicle is given.';
      ctx.addIssue({ code: 'custom', path: ['vehicle_id'], message });
    }
  });
export type NewJobCard = z.output<typeof newJobCard>;

// ---- Responses ----

const uuid = z.string().meta({ format: 'uuid' });
const known = z.string().nullable();
const miles = z.int().nullable();
const at = dateTime.nullable();

const customerVehicle = z
  .object({ id: uuid.nullable(), registration: known, vin: known, make: known, model: known })
  .meta({ id: 'WorkshopVehicle', description: 'A car of a customer’s, as given; changing the customer does not change it.' });
export type CustomerVehicle = z.output<typeof customerVehicle>;

export const jobCard = z
  .object({
    id: uuid,
    number: z.int().describe('Sequential per dealership, never used again.'),
    external_id: known,
    branch_id: uuid,
    branch: shownBranch,
    type: shownOpenCode('job-card-types', jobCardTypes),
    status: z.enum(jobCardStatuses),
    status_changed_at: dateTime,
    customer_id: uuid.nullable(),
    customer: shownCustomer,
    vehicle_id: uuid.nullable().describe('A vehicle of the stock; else it is a `customer_vehicle`.'),
    vehicle: shownVehicle,
    customer_vehicle: customerVehicle.nullable(),
    appointment_id: uuid.nullable(),
    appointment: shownAppointment,
    deal_id: uuid.nullable(),
    deal: shownDeal,
    advisor_id: uuid.nullable(),
    advisor: shownStaff,
    technician_ids: z.array(uuid),
    mileage_in: miles,
    mileage_out: miles,
    concern: known.describe('What the customer complains of.'),
    diagnosis: known,
    work_done: known,
    booked_in_at: at,
    promised_at: at,
    started_at: at.describe('When it was first IN_PROGRESS.'),
    completed_at: at.describe('When it was COMPLETED; null again while it is worked on again.'),
    collected_at: at.describe('When the customer fetched the car.'),
    key_tag: known,
    transport_option: shownOpenCode('transport-options', transportOptions).nullable(),
    customer_order_number: known,
    internal_notes: known,
    lines: z.array(jobLine).describe('Written in the DMS.'),
    totals: jobCardTotals,
    invoice_id: uuid.nullable().describe('The invoice that was raised last, void ones left out.'),
    invoice: shownInvoice,
    invoice_status: known.describe('A code of the reference list "invoice-statuses".'),
    is_paid: z.boolean(),
    metadata: z.record(z.string(), z.string()),
    created_at: dateTime,
    updated_at: dateTime,
  })
  .meta({ id: 'JobCard' });
export type JobCard = z.output<typeof jobCard>;
