import type { Context } from '#platform/context.ts';
import { readerOf } from '#platform/context.ts';
import type { Page } from '#platform/contract.ts';
import type { StockBookEntry, StockBookQuery } from './contract.ts';
import { pageOfEntries } from './queries.ts';
import { entryView } from './view.ts';

/** A page of the stock book, as far as the caller reaches. */
export const listStockBook = (ctx: Context, query: StockBookQuery): Promise<Page<StockBookEntry>> =>
  pageOfEntries(ctx, query, entryView(readerOf(ctx)));
