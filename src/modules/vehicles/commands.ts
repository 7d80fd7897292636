import { checkDealerCodes } from '#modules/reference/index.ts';
import type { Context } from '#platform/context.ts';
import { readerOf } from '#platform/context.ts';
import type { Tombstone } from '#platform/contract.ts';
import { erase } from '#platform/db/records.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { invalidFields, Refusal } from '#platform/errors.ts';
import type { Lookup } from '#platform/lookup/lookup.ts';
import { settled } from './changes.ts';
import type { NewVehicle, Vehicle, VehicleChanges, VehicleStatus } from './contract.ts';
import { wrongByScheme } from './photo-gallery.ts';
import { forgetFiles } from './photo-queries.ts';
import type { Named, VehicleRow } from './queries.ts';
import { countStock, orderStatusOf, stampWebsite, vehiclesNamed, visibleVehicle } from './queries.ts';
import { checkCostsScope, checkDeletable, checkMayDelete, checkOrder, checkReturn, returns, statusBack, wrongByCalendar } from './rules.ts';
import { toTombstone, vehicleView } from './view.ts';
import type { Write } from './write.ts';
import { save, saveSettled, writeVehicles } from './write.ts';

/** Takes a vehicle into stock. What it does not say itself is taken from the look-up of its registration, if there was one. */
export const createVehicle = (ctx: Context, vehicle: NewVehicle, lookUp?: Lookup): Promise<Vehicle> =>
  writeOne(ctx, { create: vehicle, lookUp });

/** The one way a vehicle changes, from every door but the deal's. */
export const updateVehicle = (ctx: Context, id: string, changes: VehicleChanges): Promise<Vehicle> =>
  writeOne(ctx, { id, update: changes });

/** Takes a vehicle out of the records; what is left is a tombstone, and its external id is free again. */
export async function deleteVehicle(ctx: Context, id: string): Promise<Tombstone> {
  checkMayDelete(ctx.caller);
  return inTransaction(
    ctx,
    async (tx) => {
      const vehicle = await visibleVehicle(tx, id);
      if (!vehicle) throw new Refusal('not_found');
      checkDeletable(vehicle);
      checkOrder(await orderStatusOf(tx, vehicle));
      const deleted = settled(vehicle, { ...vehicle, deleted_at: tx.now }, undefined, tx.now);
      await save(tx, [deleted]);
      return toTombstone(deleted.after);
    },
    'stock_busy',
  );
}

/** Takes a car into stock that a customer gave in part exchange. What it cost follows from the deal, and so needs no scope. */
export const takeInExchange = (ctx: Context, vehicle: NewVehicle): Promise<Vehicle> => writeChecked(ctx, { create: vehicle });

/** What a deal makes of its car: the only way to SOLD and DELIVERED and back. `dealId` is the live deal from now on, null for none. */
export const moveForDeal = (ctx: Context, vehicleId: string, status: VehicleStatus, dealId: string | null): Promise<void> =>
  inTransaction(
    ctx,
    async (tx) => {
      const [vehicle] = await vehiclesNamed(tx, { ...nothing, ids: [vehicleId] });
      if (!vehicle) throw new Refusal('not_found');
      const after = { ...vehicle, status: statusBack(vehicle, status), deal_id: dealId };
      if (returns(vehicle, after)) checkReturn(after, await sameCars(tx, after));
      await saveSettled(tx, vehicle, after);
    },
    'stock_busy',
  );

/** What preparing a vehicle has cost so far, as the job cards say that were written for it; null for nothing. */
export const setPreparation = (ctx: Context, vehicleId: string, amount: number | null): Promise<void> =>
  inTransaction(
    ctx,
    async (tx) => {
      const [vehicle] = await vehiclesNamed(tx, { ...nothing, ids: [vehicleId] });
      if (vehicle) await saveSettled(tx, vehicle, { ...vehicle, cost_preparation: amount });
    },
    'stock_busy',
  );

/** The purchase order a vehicle is on from now on. */
export const putOnOrder = (ctx: Context, vehicleId: string, purchaseOrderId: string): Promise<void> =>
  inTransaction(
    ctx,
    async (tx) => {
      const [vehicle] = await vehiclesNamed(tx, { ...nothing, ids: [vehicleId] });
      if (!vehicle) throw new Refusal('not_found');
      await saveSettled(tx, vehicle, { ...vehicle, cost_purchase_order_id: purchaseOrderId });
    },
    'stock_busy',
  );

/** A branch is published or not from now on: its vehicles come to the website or leave it, without an event. */
export const stampBranch = (tx: Context, branchId: string, published: boolean): Promise<void> => stampWebsite(tx, branchId, published);

/** Empties the stock for the sandbox's reset. The files of its photos are swept later, as all that are not used any more. */
export const eraseStock = (ctx: Context): Promise<void> =>
  inTransaction(ctx, async (tx) => {
    await erase(tx, ['vehicle_batch_item', 'vehicle_batch', 'photo_import_item', 'photo_import', 'vehicle']);
    await forgetFiles(tx);
  });

/** How many vehicles count to the dealership's stock cap. */
export const stockUsed = (ctx: Context): Promise<number> => countStock(ctx);

const nothing: Named = { ids: [], externalIds: [], registrations: [], vins: [] };

/** The vehicles of the same registration or VIN, itself among them. */
const sameCars = (tx: Context, { registration, vin }: VehicleRow): Promise<VehicleRow[]> =>
  vehiclesNamed(tx, { ...nothing, registrations: registration === null ? [] : [registration], vins: vin === null ? [] : [vin] });

/** A write of one is a batch of one. */
async function writeOne(ctx: Context, write: Write): Promise<Vehicle> {
  const body = 'create' in write ? write.create : 'update' in write ? write.update : write.upsert;
  const errors = { ...wrongByCalendar(body, ctx.now), ...wrongByScheme(body.images, ctx.service.photosFrom.allow.length > 0) };
  if (Object.keys(errors).length > 0) throw invalidFields(errors);
  await checkDealerCodes(ctx, { 'costs.purchase_source': 'purchase-sources' }, { 'costs.purchase_source': body.costs?.purchase_source });
  if (body.costs !== undefined) checkCostsScope(ctx.caller);
  return writeChecked(ctx, write);
}

const writeChecked = (ctx: Context, write: Write): Promise<Vehicle> =>
  inTransaction(
    ctx,
    async (tx) => {
      const [outcome] = await writeVehicles(tx, [write]);
      if (!outcome || 'refusal' in outcome) throw outcome?.refusal ?? new Refusal('not_found');
      return vehicleView(readerOf(tx))(outcome.vehicle);
    },
    'stock_busy',
  );
