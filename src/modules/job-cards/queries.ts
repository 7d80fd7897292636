import type { Expression, Selectable, SqlBool } from 'kysely';
import { sql } from 'kysely';
import { standingStatuses } from '#modules/invoices/contract.ts';
import type { Summaries } from '#modules/links/contract.ts';
import { summaryOf } from '#modules/links/index.ts';
import type { StockState, VatRate } from '#modules/parts/contract.ts';
import type { Context } from '#platform/context.ts';
import type { Page } from '#platform/contract.ts';
import { keeperOf, pageOfRecords, rowsWithin } from '#platform/db/records.ts';
import type { DB } from '#platform/db/schema.ts';
import type { CustomerVehicle, JobCardListQuery, JobCardStatus, JobLineKind, JobLineStatus, PayType } from './contract.ts';

/** What the columns of text hold. */
interface LineCodes {
  kind: JobLineKind;
  vat_code: VatRate;
  pay_type: PayType;
  status: JobLineStatus;
  stock_state: StockState;
}

/** A line as it is kept; amounts in minor units. */
export type LineRow = Omit<Selectable<DB['job_card_line']>, keyof LineCodes> & LineCodes;

/** The invoice that was raised last, void ones left out: one that still stands, if there is one. */
export interface BillingRow {
  readonly id: string;
  readonly status: string;
  /** Whether all of it was paid, though it may have been credited since. */
  readonly settled: boolean;
}

/** What the columns of text and JSON hold. */
interface Documents {
  status: JobCardStatus;
  technician_ids: string[];
  customer_vehicle: CustomerVehicle | null;
  metadata: Record<string, string>;
}

/** What other tables tell of a job card, as far as the caller may see it. */
interface Joined {
  branch_name: string | null;
  customer: Summaries['customer'] | null;
  vehicle: Summaries['vehicle'] | null;
  appointment: Summaries['appointment'] | null;
  deal: Summaries['deal'] | null;
  advisor: Summaries['staff'] | null;
  lines: LineRow[];
  invoice: BillingRow | null;
  /** The same as it is shown. */
  bill: Summaries['invoice'] | null;
}

type Generated = 'customer_registration';

/** A job card as it is kept, with its lines and what it names. */
export type JobCardRow = Omit<Selectable<DB['job_card']>, keyof Documents | Generated> & Documents & Joined;

const lines = sql<LineRow[]>`(
  select coalesce(json_agg(to_jsonb(l) order by l.position), '[]')
  from job_card_line l where l.dealer_id = job_card.dealer_id and l.job_card_id = job_card.id)`.as('lines');

const standing = sql<SqlBool>`i.status = any(${standingStatuses}::text[])`;

const latestInvoice = sql`
  from invoice i where i.dealer_id = job_card.dealer_id and i.job_card_id = job_card.id and i.type = 'WORKSHOP' and i.status <> 'VOID'
  order by ${standing} desc, i.created_at desc, i.id desc limit 1`;

const invoice = sql<BillingRow | null>`(
  select json_build_object('id', i.id, 'status', i.status, 'settled', i.paid >= i.gross)${latestInvoice})`.as('invoice');

const invoiceId = sql<string | null>`(select i.id${latestInvoice})`;

/** Those within the caller's reach, tombstones among them. */
function reachable(ctx: Context) {
  const { branches } = ctx.caller;
  return rowsWithin(ctx, 'job_card')
    .select([
      summaryOf('customer', 'job_card', 'customer_id', branches).as('customer'),
      summaryOf('vehicle', 'job_card', 'vehicle_id', branches).as('vehicle'),
      summaryOf('appointment', 'job_card', 'appointment_id', branches).as('appointment'),
      summaryOf('deal', 'job_card', 'deal_id', branches).as('deal'),
      summaryOf('staff', 'job_card', 'advisor_id', branches).as('advisor'),
      lines,
      invoice,
      summaryOf('invoice', 'job_card', invoiceId, branches).as('bill'),
    ])
    .$castTo<JobCardRow>();
}

/** A job card that exists for this caller. */
export const visibleJobCard = (ctx: Context, id: string): Promise<JobCardRow | undefined> =>
  reachable(ctx).where('job_card.id', '=', id).where('job_card.deleted_at', 'is', null).executeTakeFirst();

/** A page of them; the spans of the filter are in moments. */
export const pageOfJobCards = <T>(ctx: Context, query: JobCardListQuery, toWire: (row: JobCardRow) => T): Promise<Page<T>> =>
  pageOfRecords(ctx, {
    list: 'job_cards',
    table: 'job_card',
    query,
    from: reachable(ctx),
    matching: [
      query.status && sql<SqlBool>`job_card.status = any(${query.status}::text[])`,
      query.type && sql<SqlBool>`job_card.type = any(${query.type}::text[])`,
      query.customer_id && sql<SqlBool>`job_card.customer_id = any(${query.customer_id}::uuid[])`,
      query.vehicle_id && sql<SqlBool>`job_card.vehicle_id = any(${query.vehicle_id}::uuid[])`,
      query.registration && isOfCar(ctx, query.registration),
      query.advisor_id && sql<SqlBool>`job_card.advisor_id = any(${query.advisor_id}::uuid[])`,
      query.technician_id && sql<SqlBool>`job_card.technician_ids && ${query.technician_id}::uuid[]`,
      query.number && sql<SqlBool>`job_card.number = any(${query.number}::integer[])`,
      query.invoiced !== undefined &&
        sql<SqlBool>`exists(
        select from invoice i where i.dealer_id = job_card.dealer_id and i.job_card_id = job_card.id and i.type = 'WORKSHOP'
          and ${standing}) = ${query.invoiced}::boolean`,
      query.booked_in_from !== undefined && sql<SqlBool>`job_card.booked_in_at >= ${query.booked_in_from}::timestamptz`,
      query.booked_in_to !== undefined && sql<SqlBool>`job_card.booked_in_at <= ${query.booked_in_to}::timestamptz`,
      query.promised_from !== undefined && sql<SqlBool>`job_card.promised_at >= ${query.promised_from}::timestamptz`,
      query.promised_to !== undefined && sql<SqlBool>`job_card.promised_at <= ${query.promised_to}::timestamptz`,
    ],
    toWire,
  });

/** A vehicle of the stock has its registration now, a customer's car the one that was given. */
const isOfCar = ({ dealer }: Context, registrations: readonly string[]): Expression<SqlBool> =>
  sql<SqlBool>`(job_card.customer_registration = any(${registrations}::text[]) or job_card.vehicle_id in (
    select v.id from vehicle v where v.dealer_id = ${dealer.id}::uuid and v.deleted_at is null and v.registration = any(${registrations}::text[])))`;

// ---- What a write needs to know ----

/** A car that is known to be a customer's. */
export async function ownedCar(ctx: Context, customerId: string, id: string): Promise<CustomerVehicle | undefined> {
  const { rows } = await sql<CustomerVehicle>`
    select id, registration, vin, make, model from customer_vehicle
    where dealer_id = ${ctx.dealer.id}::uuid and customer_id = ${customerId}::uuid and id = ${id}::uuid`.execute(ctx.db);
  return rows[0];
}

/** The lines of the finished internal cards of a vehicle of the stock; null when it has none. */
export async function preparationOf(ctx: Context, vehicleId: string): Promise<LineRow[] | null> {
  const { rows } = await sql<{ lines: LineRow[] }>`
    select ${lines} from job_card
    where job_card.dealer_id = ${ctx.dealer.id}::uuid and job_card.vehicle_id = ${vehicleId}::uuid and job_card.deleted_at is null
      and job_card.type = 'INTERNAL' and job_card.status in ('COMPLETED', 'INVOICED')`.execute(ctx.db);
  return rows.length === 0 ? null : rows.flatMap(({ lines }) => lines);
}

// ---- Writing ----

/** A job card of which nothing is known yet; names every column. */
export const blankJobCard: JobCardRow = {
  dealer_id: '',
  id: '',
  number: 0,
  external_id: null,
  branch_id: '',
  type: 'RETAIL',
  status: 'ESTIMATE',
  status_changed_at: '',
  customer_id: null,
  vehicle_id: null,
  customer_vehicle: null,
  appointment_id: null,
  deal_id: null,
  advisor_id: null,
  technician_ids: [],
  mileage_in: null,
  mileage_out: null,
  concern: null,
  diagnosis: null,
  work_done: null,
  booked_in_at: null,
  promised_at: null,
  started_at: null,
  completed_at: null,
  collected_at: null,
  key_tag: null,
  transport_option: null,
  customer_order_number: null,
  internal_notes: null,
  metadata: {},
  deleted_at: null,
  created_at: '',
  updated_at: '',
  branch_name: null,
  customer: null,
  vehicle: null,
  appointment: null,
  deal: null,
  advisor: null,
  lines: [],
  invoice: null,
  bill: null,
};

/** Saves new and changed cards alike; their lines have a table of their own. */
export const saveJobCards = keeperOf<JobCardRow>({
  table: 'job_card',
  blank: blankJobCard,
  elsewhere: ['branch_name', 'customer', 'vehicle', 'appointment', 'deal', 'advisor', 'lines', 'invoice', 'bill'],
  fixed: ['dealer_id', 'id', 'number', 'created_at'],
});

/** A line of which nothing is known yet; names every column. */
export const blankLine: LineRow = {
  dealer_id: '',
  id: '',
  job_card_id: '',
  position: 0,
  kind: 'LABOUR',
  job_number: 1,
  description: '',
  part_id: null,
  part_number: null,
  quantity: 1,
  hours: null,
  unit_price: 0,
  discount: 0,
  vat_code: 'STANDARD',
  pay_type: 'CUSTOMER',
  authorised: false,
  authorised_at: null,
  status: 'OPEN',
  technician_id: null,
  stock_state: 'NONE',
  stock_branch_id: null,
};

export const saveLines = keeperOf<LineRow>({
  table: 'job_card_line',
  blank: blankLine,
  fixed: ['dealer_id', 'id', 'job_card_id', 'kind', 'part_id', 'part_number'],
});

export async function removeLines(tx: Context, ids: readonly string[]): Promise<void> {
  await tx.db.deleteFrom('job_card_line').where('dealer_id', '=', tx.dealer.id).where('id', 'in', ids).execute();
}
