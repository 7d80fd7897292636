import type { Selectable } from 'kysely';
import { sql } from 'kysely';
import type { Context } from '#platform/context.ts';
import { keeperOf, rowsWithin } from '#platform/db/records.ts';
import type { DB } from '#platform/db/schema.ts';
import type { OrderStatus } from './contract.ts';

export type OrderRow = Omit<Selectable<DB['purchase_order']>, 'status'> & { status: OrderStatus; branch_name: string | null };

/** A purchase order that exists for this caller. */
export const visibleOrder = (ctx: Context, id: string): Promise<OrderRow | undefined> =>
  rowsWithin(ctx, 'purchase_order').where('purchase_order.id', '=', id).$castTo<OrderRow>().executeTakeFirst();

interface CarRow {
  readonly id: string;
  readonly branch_id: string;
  readonly order_status: OrderStatus | null;
}

/** These cars, with how the orders stand that they are on. */
export async function vehiclesToOrder(ctx: Context, ids: readonly string[]): Promise<CarRow[]> {
  const { rows } = await sql<CarRow>`
    select v.id, v.branch_id, o.status as order_status
    from vehicle v left join purchase_order o on o.dealer_id = v.dealer_id and o.id = v.cost_purchase_order_id
    where v.dealer_id = ${ctx.dealer.id}::uuid and v.id = any(${ids}::uuid[]) and v.deleted_at is null`.execute(ctx.db);
  return rows;
}

export const blankOrder: OrderRow = {
  dealer_id: '',
  id: '',
  reference: '',
  branch_id: '',
  status: 'OPEN',
  supplier_name: '',
  created_at: '',
  updated_at: '',
  branch_name: null,
};

/** Saves new and changed orders alike. */
export const saveOrders = keeperOf<OrderRow>({
  table: 'purchase_order',
  blank: blankOrder,
  elsewhere: ['branch_name'],
  fixed: ['dealer_id', 'id', 'reference', 'created_at'],
});
