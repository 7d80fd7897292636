import { sql } from 'kysely';
import type { VatRate } from '#modules/parts/contract.ts';
import type { Context } from '#platform/context.ts';
import { andWithin } from '#platform/db/records.ts';
import type { BillTo } from './contract.ts';
import { standingStatuses } from './contract.ts';

// What invoices are made of: read from the tables of others.

/** A deal as far as it is invoiced. */
export interface DealRow {
  readonly id: string;
  readonly branch_id: string;
  readonly customer_id: string | null;
  readonly vehicle_id: string | null;
  readonly status: string;
  readonly deposit_required: number | null;
}

/** A deal that exists for this caller. */
export const visibleDeal = (ctx: Context, id: string): Promise<DealRow | undefined> =>
  first<DealRow>(ctx, sql`select id, branch_id, customer_id, vehicle_id, status, deposit_required from deal where ${visible(ctx, id)}`);

/** A job card as far as it is invoiced. */
export interface JobCardRow {
  readonly id: string;
  readonly number: number;
  readonly type: string;
  readonly branch_id: string;
  readonly customer_id: string | null;
  readonly vehicle_id: string | null;
  readonly registration: string | null;
  /** The invoice it has already, unless that was credited. */
  readonly invoice_number: string | null;
}

/** A job card that exists for this caller. */
export const visibleJobCard = (ctx: Context, id: string): Promise<JobCardRow | undefined> =>
  first<JobCardRow>(
    ctx,
    sql`select id, number, type, branch_id, customer_id, vehicle_id,
      coalesce(customer_registration, (select v.registration from vehicle v where v.dealer_id = job_card.dealer_id and v.id = job_card.vehicle_id)) as registration,
      (select i.number from invoice i where i.dealer_id = job_card.dealer_id and i.job_card_id = job_card.id and i.type = 'WORKSHOP'
        and i.status = any(${standingStatuses}::text[])) as invoice_number
    from job_card where ${visible(ctx, id)}`,
  );

export interface JobLineRow {
  readonly id: string;
  readonly kind: string;
  readonly description: string;
  readonly part_number: string | null;
  readonly quantity: number;
  readonly unit_price: number;
  readonly discount: number;
  readonly vat_code: VatRate;
  readonly pay_type: string;
}

/** The lines of a job card that somebody pays: authorised, not declined. */
export const linesOfJobCard = (ctx: Context, jobCardId: string): Promise<JobLineRow[]> =>
  ctx.db
    .selectFrom('job_card_line')
    .select(['id', 'kind', 'description', 'part_number', 'quantity', 'unit_price', 'discount', 'vat_code', 'pay_type'])
    .where('dealer_id', '=', ctx.dealer.id)
    .where('job_card_id', '=', jobCardId)
    .where('authorised', '=', true)
    .where('status', '<>', 'DECLINED')
    .where('kind', '<>', 'NOTE')
    .orderBy('position')
    .$castTo<JobLineRow>()
    .execute();

/** A car as an invoice describes it. */
export const carOf = (ctx: Context, vehicleId: string) =>
  ctx.db
    .selectFrom('vehicle')
    .select(['year_of_manufacture', 'make', 'model', 'derivative', 'registration', 'vin', 'stock_number'])
    .where('dealer_id', '=', ctx.dealer.id)
    .where('id', '=', vehicleId)
    .executeTakeFirstOrThrow();

export type CarRow = Awaited<ReturnType<typeof carOf>>;

/** A customer as an invoice is made out to them. */
export const billToCustomer = (ctx: Context, customerId: string | null): Promise<BillTo> =>
  ctx.db
    .selectFrom('customer')
    .select(['display_name as name', 'address', 'vat_number'])
    .where('dealer_id', '=', ctx.dealer.id)
    .where('id', '=', customerId)
    .$castTo<BillTo>()
    .executeTakeFirstOrThrow();

/** Who invoices: the dealership, at a branch. */
export interface Issuer {
  readonly name: string;
  readonly vat_number: string | null;
  readonly locale: string;
  readonly branch: string | null;
  readonly address: BillTo['address'];
  readonly phone: string | null;
  readonly email: string | null;
}

export async function issuerOf(ctx: Context, branchId: string): Promise<Issuer> {
  const issuer = await first<Issuer>(
    ctx,
    sql`select coalesce(dealer.trading_name, dealer.name) as name, dealer.vat_number, dealer.locale, branch.name as branch, branch.address, branch.phone, branch.email
    from dealer left join branch on branch.dealer_id = dealer.id and branch.id = ${branchId}::uuid
    where dealer.id = ${ctx.dealer.id}::uuid`,
  );
  if (!issuer) throw new Error('The dealership is not there.');
  return issuer;
}

const visible = ({ dealer, caller }: Context, id: string) =>
  sql`dealer_id = ${dealer.id}::uuid and id = ${id}::uuid and deleted_at is null${andWithin(caller.branches, 'branch_id')}`;

async function first<R>(ctx: Context, query: ReturnType<typeof sql>): Promise<R | undefined> {
  const { rows } = await query.execute(ctx.db);
  return rows[0] as R | undefined;
}
