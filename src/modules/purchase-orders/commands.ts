import { recordActivity } from '#modules/activity/index.ts';
import { branchFor, houseOf } from '#modules/house/index.ts';
import { putOnOrder } from '#modules/vehicles/index.ts';
import type { Context } from '#platform/context.ts';
import { erase } from '#platform/db/records.ts';
import { inTransaction, takeNumbers } from '#platform/db/transaction.ts';
import { Refusal } from '#platform/errors.ts';
import { checked } from '#platform/field-errors.ts';
import { uuidv7 } from '#platform/secrets.ts';
import type { NewPurchaseOrder, OrderStatus } from './contract.ts';
import { newPurchaseOrder } from './contract.ts';
import { blankOrder, saveOrders, vehiclesToOrder, visibleOrder } from './queries.ts';
import * as rules from './rules.ts';

/** A purchase order as the DMS shows it. */
export interface PurchaseOrder {
  readonly id: string;
  readonly reference: string;
  readonly branch_id: string;
  readonly status: OrderStatus;
  readonly supplier_name: string;
}

/** Orders cars of a supplier. While the order stands they are not deleted. */
export async function createPurchaseOrder(ctx: Context, input: NewPurchaseOrder): Promise<PurchaseOrder> {
  const { branch_id, supplier_name, vehicle_ids } = checked(newPurchaseOrder, input);
  return inTransaction(
    ctx,
    async (tx) => {
      const [house, vehicles] = await Promise.all([houseOf(tx), vehiclesToOrder(tx, vehicle_ids)]);
      const branch = branchFor(branch_id, house, tx.caller.branches);
      rules.checkOrdered(vehicle_ids, vehicles, tx.caller.branches);
      const reference = `PO-${String(await takeNumbers(tx, 'purchase_order', 1)).padStart(6, '0')}`;
      const about = { dealer_id: tx.dealer.id, id: uuidv7(tx.now), reference, branch_id: branch.id, supplier_name };
      const order = { ...blankOrder, ...about, created_at: tx.now, updated_at: tx.now };
      await saveOrders(tx, [order]);
      recordActivity(tx, 'created', 'purchase_order', order.id, []);
      for (const vehicle of vehicles) await putOnOrder(tx, vehicle.id, order.id);
      return shown(order);
    },
    'stock_busy',
  );
}

/** The cars have come. */
export const receivePurchaseOrder = (ctx: Context, id: string): Promise<PurchaseOrder> => move(ctx, id, 'RECEIVED');

/** The cars will not come; they may be deleted, or ordered anew. */
export const cancelPurchaseOrder = (ctx: Context, id: string): Promise<PurchaseOrder> => move(ctx, id, 'CANCELLED');

/** Empties the records for the sandbox's reset. */
export const erasePurchaseOrders = (ctx: Context): Promise<void> => erase(ctx, ['purchase_order']);

const move = (ctx: Context, id: string, status: OrderStatus): Promise<PurchaseOrder> =>
  inTransaction(ctx, async (tx) => {
    const order = await visibleOrder(tx, id);
    if (!order) throw new Refusal('not_found');
    rules.checkMove(order.status, status);
    if (order.status === status) return shown(order);
    await saveOrders(tx, [{ ...order, status, updated_at: tx.now }]);
    recordActivity(tx, 'updated', 'purchase_order', id, ['status']);
    return shown({ ...order, status });
  });

const shown = ({ id, reference, branch_id, status, supplier_name }: PurchaseOrder): PurchaseOrder => ({
  id,
  reference,
  branch_id,
  status,
  supplier_name,
});
