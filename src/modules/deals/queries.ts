import type { Selectable, SqlBool } from 'kysely';
import { sql } from 'kysely';
import type { CustomerSummary, EnquirySummary, StaffSummary, VehicleSummary } from '#modules/links/contract.ts';
import { summaryOf } from '#modules/links/index.ts';
import type { VehicleStatus } from '#modules/vehicles/contract.ts';
import type { Context } from '#platform/context.ts';
import type { Page } from '#platform/contract.ts';
import type { Instant } from '#platform/dates.ts';
import { keeperOf, pageOfRecords, rowsWithin, stamperOf } from '#platform/db/records.ts';
import type { DB } from '#platform/db/schema.ts';
import type { Kept } from '#platform/money.ts';
import type { Deal, DealListQuery, DealStatus, Extra, Finance, PartExchange } from './contract.ts';

export type KeptExtra = Kept<Omit<Extra, 'total'>>;
export type KeptExchange = Kept<Omit<PartExchange, 'net'>>;
export type KeptFinance = Kept<Finance>;

/** What the columns of text and JSON hold. */
interface Documents {
  status: DealStatus;
  extras: KeptExtra[];
  part_exchanges: KeptExchange[];
  finance: KeptFinance | null;
  vat_scheme: Deal['vat_scheme'];
  vehicle_status_before: VehicleStatus | null;
  handover_method: Deal['handover']['method'];
  handover_address: Deal['handover']['address'];
  metadata: Record<string, string>;
}

/** What came of its invoices. */
interface Invoiced {
  readonly ids: string[];
  readonly paid: number;
  /** By finance companies. */
  readonly financed: number;
  readonly deposit: number;
  readonly deposit_at: Instant | null;
}

/** What other tables tell of a deal, as far as the caller may see it. */
interface Joined {
  branch_name: string | null;
  enquiry: EnquirySummary | null;
  customer: CustomerSummary | null;
  vehicle: VehicleSummary | null;
  salesperson: StaffSummary | null;
  /** The scheme of the car as it is now: what a quote is computed with. */
  car_vat_scheme: string | null;
  invoiced: Invoiced;
}

/** A deal as it is kept, with what it names. */
export type DealRow = Omit<Selectable<DB['deal']>, keyof Documents> & Documents & Joined;

const carVatScheme = sql<string | null>`(
  select v.vat_scheme from vehicle v where v.dealer_id = deal.dealer_id and v.id = deal.vehicle_id)`.as('car_vat_scheme');

/**
 * What a customer gave and got back: finance and part exchange count as they were agreed, a deposit where it was paid.
 * What was given back is less than nothing.
 */
const invoiced = sql<Invoiced>`(
  select json_build_object(
    'ids', coalesce(json_agg(i.id order by i.created_at, i.id), '[]'),
    'paid', coalesce(sum(p.amount), 0), 'financed', coalesce(sum(p.financed), 0),
    'deposit', coalesce(sum(p.amount) filter (where coalesce(o.type, i.type) = 'DEPOSIT'), 0),
    'deposit_at', max(p.last_at) filter (where i.type = 'DEPOSIT'))
  from invoice i
    left join invoice o on o.dealer_id = i.dealer_id and o.id = i.credit_note_of_id
    left join lateral (
      select sum(m.amount) filter (where m.method not in ('FINANCE', 'PART_EXCHANGE', 'DEPOSIT')) as amount,
        sum(m.amount) filter (where m.method = 'FINANCE') as financed,
        max(m.created_at) filter (where m.method not in ('FINANCE', 'PART_EXCHANGE', 'DEPOSIT')) as last_at
      from payment m where m.dealer_id = i.dealer_id and m.invoice_id = i.id) p on true
  where i.dealer_id = deal.dealer_id and i.deal_id = deal.id)`.as('invoiced');

/** Those within the caller's reach, tombstones among them. */
function reachable(ctx: Context) {
  const { branches } = ctx.caller;
  return rowsWithin(ctx, 'deal')
    .select([
      summaryOf('enquiry', 'deal', 'enquiry_id', branches).as('enquiry'),
      summaryOf('customer', 'deal', 'customer_id', branches).as('customer'),
      summaryOf('vehicle', 'deal', 'vehicle_id', branches).as('vehicle'),
      summaryOf('staff', 'deal', 'salesperson_id', branches).as('salesperson'),
      carVatScheme,
      invoiced,
    ])
    .$castTo<DealRow>();
}

/** A deal that exists for this caller. */
export const visibleDeal = (ctx: Context, id: string): Promise<DealRow | undefined> =>
  reachable(ctx).where('deal.id', '=', id).where('deal.deleted_at', 'is', null).executeTakeFirst();

/** A page of them; the moments of the filter are those of the time zone. */
export const pageOfDeals = <T>(ctx: Context, query: DealListQuery, toWire: (row: DealRow) => T): Promise<Page<T>> =>
  pageOfRecords(ctx, {
    list: 'deals',
    table: 'deal',
    query,
    from: reachable(ctx),
    matching: [
      query.status && sql<SqlBool>`deal.status = any(${query.status}::text[])`,
      query.type && sql<SqlBool>`deal.type = any(${query.type}::text[])`,
      query.customer_id && sql<SqlBool>`deal.customer_id = any(${query.customer_id}::uuid[])`,
      query.vehicle_id && sql<SqlBool>`deal.vehicle_id = any(${query.vehicle_id}::uuid[])`,
      query.enquiry_id && sql<SqlBool>`deal.enquiry_id = any(${query.enquiry_id}::uuid[])`,
      query.salesperson_id && sql<SqlBool>`deal.salesperson_id = any(${query.salesperson_id}::uuid[])`,
      query.sold_from !== undefined && sql<SqlBool>`deal.sold_at >= ${query.sold_from}::timestamptz`,
      query.sold_to !== undefined && sql<SqlBool>`deal.sold_at <= ${query.sold_to}::timestamptz`,
      query.handover_from !== undefined && sql<SqlBool>`deal.handover_scheduled_at >= ${query.handover_from}::timestamptz`,
      query.handover_to !== undefined && sql<SqlBool>`deal.handover_scheduled_at <= ${query.handover_to}::timestamptz`,
    ],
    toWire,
  });

// ---- What a write needs to know ----

/** The car a deal names, wherever in the dealership it stands. */
export interface CarRow {
  readonly id: string;
  readonly status: VehicleStatus;
  readonly branch_id: string;
  readonly deal_id: string | null;
  readonly vat_scheme: Deal['vat_scheme'];
}

export async function carNamed(ctx: Context, id: string | null): Promise<CarRow | null> {
  if (id === null) return null;
  const { rows } = await sql<CarRow>`
    select id, status, branch_id, deal_id, vat_scheme from vehicle
    where dealer_id = ${ctx.dealer.id}::uuid and id = ${id}::uuid and deleted_at is null`.execute(ctx.db);
  return rows[0] ?? null;
}

/** The enquiry a deal came of, and whether another deal of it is live or quoted. */
export interface LeadRow {
  readonly id: string;
  readonly status: string;
  readonly customer_id: string;
  readonly has_other_deal: boolean;
  readonly has_other_sale: boolean;
}

export async function leadNamed(ctx: Context, id: string | null, dealId: string): Promise<LeadRow | null> {
  if (id === null) return null;
  const { rows } = await sql<LeadRow>`
    select id, status, customer_id, o.deals > 0 as has_other_deal, o.sales > 0 as has_other_sale
    from enquiry, lateral (
      select count(*) as deals, count(*) filter (where d.status in ('SOLD', 'DELIVERED')) as sales
      from deal d where d.dealer_id = enquiry.dealer_id and d.enquiry_id = enquiry.id and d.id <> ${dealId}::uuid
        and d.deleted_at is null and d.status <> 'CANCELLED') o
    where dealer_id = ${ctx.dealer.id}::uuid and id = ${id}::uuid and deleted_at is null`.execute(ctx.db);
  return rows[0] ?? null;
}

// ---- Writing ----

/** A deal of which nothing is known yet; names every column. */
export const blankDeal: DealRow = {
  dealer_id: '',
  id: '',
  reference: '',
  external_id: null,
  branch_id: '',
  status: 'QUOTE',
  status_changed_at: '',
  type: 'RETAIL',
  enquiry_id: null,
  customer_id: null,
  vehicle_id: null,
  salesperson_id: null,
  vehicle_price: null,
  discount: null,
  extras: [],
  part_exchanges: [],
  deposit_required: null,
  finance: null,
  vat_scheme: null,
  vehicle_status_before: null,
  handover_method: null,
  handover_scheduled_at: null,
  handover_completed_at: null,
  handover_address: null,
  ordered_at: null,
  sold_at: null,
  delivered_at: null,
  cancelled_at: null,
  cancellation_reason: null,
  cancellation_note: null,
  metadata: {},
  deleted_at: null,
  created_at: '',
  updated_at: '',
  branch_name: null,
  enquiry: null,
  customer: null,
  vehicle: null,
  salesperson: null,
  car_vat_scheme: null,
  invoiced: { ids: [], paid: 0, financed: 0, deposit: 0, deposit_at: null },
};

/** Saves new and changed deals alike. */
export const saveDeals = keeperOf<DealRow>({
  table: 'deal',
  blank: blankDeal,
  elsewhere: ['branch_name', 'enquiry', 'customer', 'vehicle', 'salesperson', 'car_vat_scheme', 'invoiced'],
  fixed: ['dealer_id', 'id', 'reference', 'created_at'],
});

/** For those of which something was invoiced or paid. */
export const stampDeals = stamperOf('deal');
