import { z } from 'zod';
import { dateTime } from '#platform/contract.ts';

// What records show of the records they name.

const uuid = z.string().meta({ format: 'uuid' });

export const customerSummary = z.object({ id: uuid, reference: z.string(), display_name: z.string() }).meta({ id: 'CustomerSummary' });
export type CustomerSummary = z.output<typeof customerSummary>;

export const vehicleSummary = z
  .object({ id: uuid, stock_number: z.string(), registration: z.string().nullable(), make: z.string(), model: z.string() })
  .meta({ id: 'VehicleSummary' });
export type VehicleSummary = z.output<typeof vehicleSummary>;

const known = (name: string) => z.object({ id: uuid, reference: z.string(), status: z.string() }).meta({ id: name });

export const enquirySummary = known('EnquirySummary');
export type EnquirySummary = z.output<typeof enquirySummary>;

export const dealSummary = known('DealSummary');
export type DealSummary = z.output<typeof dealSummary>;

export const appointmentSummary = z
  .object({ id: uuid, type: z.string(), status: z.string(), starts_at: dateTime })
  .meta({ id: 'AppointmentSummary' });
export type AppointmentSummary = z.output<typeof appointmentSummary>;

export const jobCardSummary = z.object({ id: uuid, number: z.int(), status: z.string() }).meta({ id: 'JobCardSummary' });
export type JobCardSummary = z.output<typeof jobCardSummary>;

export const invoiceSummary = z.object({ id: uuid, number: z.string().nullable(), status: z.string() }).meta({ id: 'InvoiceSummary' });
export type InvoiceSummary = z.output<typeof invoiceSummary>;

export const staffSummary = z.object({ id: uuid, name: z.string() }).meta({ id: 'StaffSummary' });
export type StaffSummary = z.output<typeof staffSummary>;

const nullWithout = (scope: string) => `Null without the scope \`${scope}\`, of a branch beyond the key, and once deleted.`;

export const shownCustomer = customerSummary.nullable().describe(nullWithout('customers:read'));
export const shownVehicle = vehicleSummary.nullable().describe(nullWithout('vehicles:read'));
export const shownEnquiry = enquirySummary.nullable().describe(nullWithout('enquiries:read'));
export const shownDeal = dealSummary.nullable().describe(nullWithout('sales:read'));
export const shownAppointment = appointmentSummary.nullable().describe(nullWithout('appointments:read'));
export const shownJobCard = jobCardSummary.nullable().describe(nullWithout('workshop:read'));
export const shownInvoice = invoiceSummary.nullable().describe('Null without the scope `sales:read`, and of a branch beyond the key.');
export const shownStaff = staffSummary.nullable();

/** What each kind of record is shown as. */
export interface Summaries {
  customer: CustomerSummary;
  vehicle: VehicleSummary;
  enquiry: EnquirySummary;
  deal: DealSummary;
  appointment: AppointmentSummary;
  job_card: JobCardSummary;
  invoice: InvoiceSummary;
  staff: StaffSummary;
}
export type Kind = keyof Summaries;

/** A field of a body that names another record. */
export interface Link {
  readonly field: string;
  readonly kind: Kind;
  readonly id: string;
}
