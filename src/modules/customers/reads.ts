import type { Context } from '#platform/context.ts';
import { readerOf } from '#platform/context.ts';
import type { Page, Tombstone } from '#platform/contract.ts';
import { invalid, Refusal } from '#platform/errors.ts';
import { phoneNumbers } from '#platform/phone.ts';
import { toTombstone } from '#platform/records.ts';
import type { Customer, CustomerDetails, CustomerListQuery } from './contract.ts';
import { pageOfCustomers, visibleCustomer } from './queries.ts';
import { nameKey } from './rules.ts';
import { customerView, detailsView } from './view.ts';

/** A page of the customers within the caller's reach. */
export async function listCustomers(ctx: Context, query: CustomerListQuery): Promise<Page<Customer | Tombstone>> {
  const show = customerView(readerOf(ctx));
  if (query.q !== undefined && nameKey(query.q) === '') throw invalid('q', 'Nothing a name could begin with.');
  const filters = {
    ...query,
    ...(query.phone && { phone: phoneNumbers(query.phone, ctx.dealer.country) }),
    ...(query.q !== undefined && { q: nameKey(query.q) }),
  };
  return pageOfCustomers(ctx, filters, (row) => (row.deleted_at === null ? show(row) : toTombstone(row)));
}

/** One customer, if it exists for this caller. */
export async function getCustomer(ctx: Context, id: string): Promise<CustomerDetails> {
  const row = await visibleCustomer(ctx, id);
  if (!row) throw new Refusal('not_found');
  return detailsView(readerOf(ctx))(row);
}
