import { moveForDeal } from '#modules/vehicles/index.ts';
import { openTransaction } from '#platform/db/transaction.ts';
import { uuidv7 } from '#platform/secrets.ts';
import type { Dealership } from './dealership.ts';

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the answer holds
type Json = any;

/** A dealership's deal as it is kept before it is invoiced. */
export interface Ordered {
  readonly id: string;
  readonly vehicle: Json;
  readonly customer: Json;
  readonly enquiry: Json;
}

const address = { line1: '1 Station Road', line2: null, city: 'Bristol', county: null, postcode: 'BS1 4DJ', country: 'GB' };
let made = 0;

/** An ordered deal on a car, as its row says; `terms` are columns of it. */
export async function orderedDeal(d: Dealership, terms: object = {}, car: object = {}): Promise<Ordered> {
  const branch_id = (car as { branch_id?: string }).branch_id ?? d.branch.id;
  const vehicle = await d.api
    .post('/v1/vehicles', {
      condition: 'USED',
      make: 'Ford',
      model: 'Focus',
      year_of_manufacture: 2020,
      registration: `TE${String(++made).padStart(2, '0')}STS`,
      status: 'FOR_SALE',
      asking_price: 1_099_500,
      vat_scheme: 'MARGIN',
      costs: { purchase_price: 850_000, purchased_on: '2026-01-05', supplier_name: 'A Supplier Ltd', purchase_invoice_number: 'P-7' },
      branch_id,
      ...car,
    })
    .succeeds(201);
  const contact = { first_name: 'Kim', last_name: 'Ash', email: `kim.${made}@customer.example`, address };
  const enquiry = await d.api.post('/v1/enquiries', { contact, vehicle_id: vehicle.id, branch_id }).succeeds(201);
  const customer = await d.api.get(`/v1/customers/${enquiry.customer_id}`).succeeds();
  const id = uuidv7(d.ctx.now);
  const row = {
    dealer_id: d.id,
    id,
    reference: `DEAL-${made}`,
    branch_id,
    status: 'ORDERED',
    status_changed_at: d.ctx.now,
    type: 'RETAIL',
    enquiry_id: enquiry.id,
    customer_id: customer.id,
    vehicle_id: vehicle.id,
    vehicle_price: 1_049_500,
    discount: 0,
    extras: [],
    part_exchanges: [],
    vat_scheme: vehicle.vat_scheme,
    vehicle_status_before: 'FOR_SALE',
    ordered_at: d.ctx.now,
    metadata: {},
    created_at: d.ctx.now,
    updated_at: d.ctx.now,
    ...terms,
  };
  await insert(d, 'deal', row);
  await moveForDeal(d.ctx, vehicle.id, 'RESERVED', id);
  return { id, vehicle, customer, enquiry };
}

/** Something that is sold with a car. */
export const extra = (kind: string, unit_price: number, vat_code = 'STANDARD', quantity = 1) => ({
  id: uuidv7('2026-01-01T00:00:00.000000Z'),
  kind,
  description: null,
  quantity,
  unit_price,
  vat_code,
});

/** A car that is given in part exchange. */
export const exchange = (allowance: number, settlement: number | null = null, status = 'AGREED') => ({
  id: uuidv7('2026-01-01T00:00:00.000000Z'),
  registration: 'PX01OLD',
  make: 'Vauxhall',
  model: 'Astra',
  mileage: 64_000,
  condition: 'GOOD',
  allowance,
  settlement,
  stand_in_value: null,
  stock_vehicle_id: null,
  status,
});

/** What a finance company lends for it. */
export const finance = (advance: number, status: string) => ({
  type: 'HP',
  provider: 'A Lender Ltd',
  reference: 'HP-1',
  advance,
  term_months: 36,
  monthly_payment: null,
  deposit: null,
  balloon: null,
  apr_bps: 990,
  annual_mileage: null,
  status,
});

/** A completed job card of a customer, as its row says, with these lines. */
export async function completedJobCard(
  d: Dealership,
  lines: readonly object[],
  columns: object = {},
): Promise<{ id: string; customer: Json }> {
  const branch_id = (columns as { branch_id?: string }).branch_id ?? d.branch.id;
  const contact = { last_name: 'Oak', email: `oak.${++made}@customer.example`, address, branch_id };
  const customer = await d.api.post('/v1/customers', contact).succeeds(201);
  const id = uuidv7(d.ctx.now);
  await insert(d, 'job_card', {
    dealer_id: d.id,
    id,
    number: made,
    branch_id,
    type: 'RETAIL',
    status: 'COMPLETED',
    status_changed_at: d.ctx.now,
    customer_id: customer.id,
    customer_vehicle: { id: null, registration: 'WK51SHP', vin: null, make: 'Ford', model: 'Fiesta' },
    technician_ids: [],
    completed_at: d.ctx.now,
    metadata: {},
    created_at: d.ctx.now,
    updated_at: d.ctx.now,
    ...columns,
  });
  for (const [at, line] of lines.entries()) {
    await insert(d, 'job_card_line', {
      dealer_id: d.id,
      id: uuidv7(d.ctx.now),
      job_card_id: id,
      position: at + 1,
      kind: 'LABOUR',
      job_number: 1,
      description: 'Service',
      quantity: 1,
      unit_price: 0,
      discount: 0,
      vat_code: 'STANDARD',
      pay_type: 'CUSTOMER',
      authorised: true,
      status: 'DONE',
      stock_state: 'NONE',
      ...line,
    });
  }
  return { id, customer };
}

/** What was told under a request's id, in the order of the events. */
export async function toldUnder(
  { service, id }: Dealership,
  request: string,
): Promise<{ type: string; object: Json; changed: string[] }[]> {
  const query = 'select type, data from event where dealer_id = $1 and request_id = $2 order by sequence';
  const { rows } = await service.pools.doors.query(query, [id, request]);
  return rows.map(({ type, data }) => ({ type, ...JSON.parse(data) }));
}

const insert = ({ ctx }: Dealership, table: string, row: object): Promise<unknown> => {
  const names = Object.keys(row).join(', ');
  return openTransaction(ctx, ({ tx }) =>
    tx.connection.query(`insert into ${table} (${names}) select ${names} from json_populate_record(null::${table}, $1::json)`, [
      JSON.stringify(row),
    ]),
  );
};
