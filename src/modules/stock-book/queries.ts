import type { Selectable, SqlBool } from 'kysely';
import { sql } from 'kysely';
import { standingStatuses } from '#modules/invoices/contract.ts';
import type { Context } from '#platform/context.ts';
import type { Page } from '#platform/contract.ts';
import { readPage } from '#platform/db/pages.ts';
import { rowsWithin } from '#platform/db/records.ts';
import type { DB } from '#platform/db/schema.ts';
import type { StockBookQuery } from './contract.ts';

/** How a car was sold, as the invoice says that was not credited. */
interface Sale {
  readonly number: string;
  readonly buyer_name: string;
  readonly selling_price: number;
  readonly vat_code: string;
  readonly deal_type: string | null;
}

export type EntryRow = Selectable<DB['vehicle']> & { sold_on: string | null; sale: Sale | null };

const invoice = sql`invoice i join invoice_line l on l.dealer_id = i.dealer_id and l.invoice_id = i.id and l.vehicle_id = i.vehicle_id and l.kind = 'VEHICLE'
  where i.dealer_id = vehicle.dealer_id and i.vehicle_id = vehicle.id and i.type = 'VEHICLE_SALE' and i.status = any(${standingStatuses}::text[])`;

const sale = sql<Sale | null>`(
  select json_build_object('number', i.number, 'buyer_name', i.bill_to ->> 'name', 'selling_price', l.gross, 'vat_code', l.vat_code,
    'deal_type', (select d.type from deal d where d.dealer_id = i.dealer_id and d.id = i.deal_id))
  from ${invoice})`;

/** A car that was disposed of, or whose record was deleted, left on the day it was said, in the dealership's time zone. */
const soldOn = ({ dealer }: Context) => sql<string | null>`coalesce(
  (select i.issued_on from ${invoice}),
  (case when vehicle.status = 'DISPOSED' then vehicle.status_changed_at else vehicle.deleted_at end at time zone ${dealer.timeZone})::date)`;

/** A page of them; numbers have no gap, so that deleted vehicles stay in the book. */
export const pageOfEntries = <T>(ctx: Context, query: StockBookQuery, toWire: (row: EntryRow) => T): Promise<Page<T>> =>
  readPage(ctx, {
    list: 'stock_book',
    table: 'vehicle',
    query,
    from: rowsWithin(ctx, 'vehicle')
      .select([soldOn(ctx).as('sold_on'), sale.as('sale')])
      .$castTo<EntryRow>(),
    matching: [
      query.branch_id && sql<SqlBool>`vehicle.branch_id = any(${query.branch_id}::uuid[])`,
      query.purchased_from !== undefined && sql<SqlBool>`vehicle.cost_purchased_on >= ${query.purchased_from}::date`,
      query.purchased_to !== undefined && sql<SqlBool>`vehicle.cost_purchased_on <= ${query.purchased_to}::date`,
      query.sold_from !== undefined && sql<SqlBool>`${soldOn(ctx)} >= ${query.sold_from}::date`,
      query.sold_to !== undefined && sql<SqlBool>`${soldOn(ctx)} <= ${query.sold_to}::date`,
      query.open !== undefined && sql<SqlBool>`(${soldOn(ctx)} is null) = ${query.open}::boolean`,
    ],
    toWire,
  });
