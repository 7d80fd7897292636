import { z } from 'zod';

// What records show of the records they name.

const uuid = z.string().meta({ format: 'uuid' });

export const customerSummary = z.object({ id: uuid, reference: z.string(), display_name: z.string() }).meta({ id: 'CustomerSummary' });
export type CustomerSummary = z.output<typeof customerSummary>;

export const vehicleSummary = z
  .object({ id: uuid, stock_number: z.string(), registration: z.string().nullable(), make: z.string(), model: z.string() })
  .meta({ id: 'VehicleSummary' });
export type VehicleSummary = z.output<typeof vehicleSummary>;

export const staffSummary = z.object({ id: uuid, name: z.string() }).meta({ id: 'StaffSummary' });
export type StaffSummary = z.output<typeof staffSummary>;

const beyond = 'of a branch beyond the key, and once deleted.';

export const shownCustomer = customerSummary.nullable().describe(`Null without the scope \`customers:read\`, ${beyond}`);
export const shownVehicle = vehicleSummary.nullable().describe(`Null without the scope \`vehicles:read\`, ${beyond}`);
export const shownStaff = staffSummary.nullable();

/** What each kind of record is shown as. */
export interface Summaries {
  customer: CustomerSummary;
  vehicle: VehicleSummary;
  staff: StaffSummary;
}
export type Kind = keyof Summaries;

/** A field of a body that names another record. */
export interface Link {
  readonly field: string;
  readonly kind: Kind;
  readonly id: string;
}
