import { checkDealerCodes } from '#modules/reference/index.ts';
import type { Context } from '#platform/context.ts';
import { readerOf } from '#platform/context.ts';
import type { Page, Tombstone } from '#platform/contract.ts';
import { spansIn } from '#platform/dates.ts';
import { Refusal } from '#platform/errors.ts';
import { toTombstone } from '#platform/records.ts';
import type { Deal, DealListQuery } from './contract.ts';
import { pageOfDeals, visibleDeal } from './queries.ts';
import { dealView } from './view.ts';

/** A page of the deals within the caller's reach. */
export async function listDeals(ctx: Context, query: DealListQuery): Promise<Page<Deal | Tombstone>> {
  const show = dealView(readerOf(ctx));
  await checkDealerCodes(ctx, { type: 'deal-types' }, query);
  return pageOfDeals(ctx, spansIn(ctx.dealer.timeZone, query, ['sold', 'handover']), (row) =>
    row.deleted_at === null ? show(row) : toTombstone(row),
  );
}

/** One deal, if it exists for this caller. */
export async function getDeal(ctx: Context, id: string): Promise<Deal> {
  const row = await visibleDeal(ctx, id);
  if (!row) throw new Refusal('not_found');
  return dealView(readerOf(ctx))(row);
}
