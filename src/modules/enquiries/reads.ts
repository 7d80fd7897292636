import { checkDealerCodes } from '#modules/reference/index.ts';
import type { Context } from '#platform/context.ts';
import { readerOf } from '#platform/context.ts';
import type { Page, Tombstone } from '#platform/contract.ts';
import { Refusal } from '#platform/errors.ts';
import { phoneNumbers } from '#platform/phone.ts';
import { toTombstone } from '#platform/records.ts';
import type { Enquiry, EnquiryListQuery, EnquiryWithNotes } from './contract.ts';
import { pageOfEnquiries, visibleEnquiry } from './queries.ts';
import { detailsView, enquiryView } from './view.ts';

/** A page of the enquiries within the caller's reach. */
export async function listEnquiries(ctx: Context, query: EnquiryListQuery): Promise<Page<Enquiry | Tombstone>> {
  const show = enquiryView(readerOf(ctx));
  await checkDealerCodes(ctx, { type: 'enquiry-types', source: 'enquiry-sources' }, query);
  const filters = query.phone ? { ...query, phone: phoneNumbers(query.phone, ctx.dealer.country) } : query;
  return pageOfEnquiries(ctx, filters, (row) => (row.deleted_at === null ? show(row) : toTombstone(row)));
}

/** One enquiry with its notes, if it exists for this caller. */
export async function getEnquiry(ctx: Context, id: string): Promise<EnquiryWithNotes> {
  const row = await visibleEnquiry(ctx, id);
  if (!row) throw new Refusal('not_found');
  return detailsView(readerOf(ctx))(row);
}
