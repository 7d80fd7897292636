import type { Context } from '#platform/context.ts';
import { readerOf } from '#platform/context.ts';
import type { Page, Tombstone } from '#platform/contract.ts';
import { Refusal } from '#platform/errors.ts';
import type { PublicVehicle, Vehicle, VehicleListQuery } from './contract.ts';
import type { VehicleRow } from './queries.ts';
import { pageOfVehicles, visibleVehicle } from './queries.ts';
import { checkPublicFilters } from './rules.ts';
import { publicView, toTombstone, vehicleView } from './view.ts';

/** A page of the vehicles within the caller's reach; a publishable key's are the website's, in their public fields. */
export async function listVehicles(ctx: Context, query: VehicleListQuery): Promise<Page<Vehicle | PublicVehicle | Tombstone>> {
  const reader = readerOf(ctx);
  if (ctx.caller.kind === 'publishable') {
    checkPublicFilters(query);
    const show = publicView(reader);
    return pageOfVehicles(ctx, query, (row: VehicleRow) => (row.on_website ? show(row) : toTombstone(row)));
  }
  const show = vehicleView(reader);
  return pageOfVehicles(ctx, query, (row: VehicleRow) => (row.deleted_at === null ? show(row) : toTombstone(row)));
}

/** One vehicle, if it exists for this caller. */
export async function getVehicle(ctx: Context, id: string): Promise<Vehicle | PublicVehicle> {
  const row = await visibleVehicle(ctx, id);
  if (!row) throw new Refusal('not_found');
  return (ctx.caller.kind === 'publishable' ? publicView : vehicleView)(readerOf(ctx))(row);
}
