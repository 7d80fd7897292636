import { checkDealerCodes } from '#modules/reference/index.ts';
import type { Context } from '#platform/context.ts';
import { readerOf } from '#platform/context.ts';
import type { Page, Tombstone } from '#platform/contract.ts';
import { firstMoment, lastMoment } from '#platform/dates.ts';
import { Refusal } from '#platform/errors.ts';
import { toTombstone } from '#platform/records.ts';
import type { JobCard, JobCardListQuery } from './contract.ts';
import type { Spans } from './queries.ts';
import { pageOfJobCards, visibleJobCard } from './queries.ts';
import { jobCardView } from './view.ts';

/** A page of the job cards within the caller's reach. */
export async function listJobCards(ctx: Context, query: JobCardListQuery): Promise<Page<JobCard | Tombstone>> {
  const show = jobCardView(readerOf(ctx));
  await checkDealerCodes(ctx, { type: 'job-card-types' }, query);
  const filters = { ...query, ...spansOf(query, ctx.dealer.timeZone) };
  return pageOfJobCards(ctx, filters, (row) => (row.deleted_at === null ? show(row) : toTombstone(row)));
}

/** One job card, if it exists for this caller. */
export async function getJobCard(ctx: Context, id: string): Promise<JobCard> {
  const row = await visibleJobCard(ctx, id);
  if (!row) throw new Refusal('not_found');
  return jobCardView(readerOf(ctx))(row);
}

/** Days as the moments between which they lie. */
const spansOf = (query: JobCardListQuery, timeZone: string): Spans => ({
  booked_in_from: query.booked_in_from && firstMoment(timeZone, query.booked_in_from),
  booked_in_to: query.booked_in_to && lastMoment(timeZone, query.booked_in_to),
  promised_from: query.promised_from && firstMoment(timeZone, query.promised_from),
  promised_to: query.promised_to && lastMoment(timeZone, query.promised_to),
});
