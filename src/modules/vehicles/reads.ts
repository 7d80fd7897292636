import { houseOf } from '#modules/house/index.ts';
import { getReferenceList } from '#modules/reference/index.ts';
import type { Context } from '#platform/context.ts';
import { readerOf } from '#platform/context.ts';
import type { Page, Tombstone } from '#platform/contract.ts';
import { invalid, Refusal } from '#platform/errors.ts';
import { reaches } from '#platform/reach.ts';
import type { PublicVehicle, StockSummary, Vehicle, VehicleListQuery } from './contract.ts';
import type { VehicleRow } from './queries.ts';
import { countByStatus, pageOfVehicles, visibleVehicle } from './queries.ts';
import { checkPublicFilters, matchFor } from './rules.ts';
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

/** The vehicle people mean by what stands on its plate, or on its key: a live one before one that is gone, then the newest. */
export async function findVehicle(ctx: Context, { registration, stock_number }: Sought): Promise<Vehicle> {
  const query = {
    limit: most,
    ...(registration && { registration: [registration] }),
    ...(stock_number && { stock_number: [stock_number] }),
  };
  const { data: known } = await pageOfVehicles(ctx, query, (row) => row);
  const row = registration === undefined ? known[0] : matchFor({ registration }, known)?.vehicle;
  if (!row) throw new Refusal('not_found');
  return vehicleView(readerOf(ctx))(row);
}

/** One of the two. */
export interface Sought {
  readonly registration?: string | undefined;
  readonly stock_number?: string | undefined;
}

/** No plate was on so many vehicles of one dealership. */
const most = 100;

/** How much stock there is of each status, in the dealer's words and order, and what is on sale. */
export async function stockSummary(ctx: Context, branchId?: string): Promise<StockSummary> {
  if (branchId !== undefined && !(await hasBranch(ctx, branchId)))
    throw invalid('branch_id', 'No such branch is visible to this connection. Leave it out for all that are.');
  const [names, counts] = await Promise.all([getReferenceList(ctx, 'vehicle-statuses'), countByStatus(ctx, branchId)]);
  const of = (status: string) => counts.find((one) => one.status === status);
  const offered = of('FOR_SALE');
  return {
    by_status: names.map(({ code, name }) => ({ status: code, name, count: of(code)?.count ?? 0 })),
    on_sale: {
      count: offered?.count ?? 0,
      asking_value: { amount: offered?.value ?? 0, currency: ctx.dealer.currency },
      price_on_application_count: offered?.on_application ?? 0,
    },
  };
}

const hasBranch = async (ctx: Context, branchId: string): Promise<boolean> =>
  reaches(ctx.caller.branches, branchId) && (await houseOf(ctx)).branches.some(({ id }) => id === branchId);
