import type { Context } from '#platform/context.ts';
import type { Page } from '#platform/contract.ts';
import { Refusal } from '#platform/errors.ts';
import type { PartListQuery } from './contract.ts';
import type { BranchStock, PartWithStock } from './queries.ts';
import { pageOfParts, partById } from './queries.ts';

/** A page of the catalogue, with the stock of the branches within the caller's reach. */
export const listParts = (ctx: Context, query: PartListQuery): Promise<Page<PartWithStock>> => pageOfParts(ctx, query);

/** What the branches within the caller's reach have of a part. */
export async function partStock(ctx: Context, partId: string): Promise<BranchStock[]> {
  const part = await partById(ctx, partId);
  if (!part) throw new Refusal('not_found');
  return part.stock;
}
