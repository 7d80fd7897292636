import { checkDealerCodes } from '#modules/reference/index.ts';
import type { Context } from '#platform/context.ts';
import { readerOf } from '#platform/context.ts';
import type { Page, Tombstone } from '#platform/contract.ts';
import { spansIn } from '#platform/dates.ts';
import { Refusal } from '#platform/errors.ts';
import { toTombstone } from '#platform/records.ts';
import type { JobCard, JobCardListQuery } from './contract.ts';
import { pageOfJobCards, visibleJobCard } from './queries.ts';
import { jobCardView } from './view.ts';

/** A page of the job cards within the caller's reach. */
export async function listJobCards(ctx: Context, query: JobCardListQuery): Promise<Page<JobCard | Tombstone>> {
  const show = jobCardView(readerOf(ctx));
  await checkDealerCodes(ctx, { type: 'job-card-types' }, query);
  const filters = spansIn(ctx.dealer.timeZone, query, ['booked_in', 'promised']);
  return pageOfJobCards(ctx, filters, (row) => (row.deleted_at === null ? show(row) : toTombstone(row)));
}

/** One job card, if it exists for this caller. */
export async function getJobCard(ctx: Context, id: string): Promise<JobCard> {
  const row = await visibleJobCard(ctx, id);
  if (!row) throw new Refusal('not_found');
  return jobCardView(readerOf(ctx))(row);
}
