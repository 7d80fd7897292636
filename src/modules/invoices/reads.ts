import type { Context } from '#platform/context.ts';
import { readerOf } from '#platform/context.ts';
import type { Page } from '#platform/contract.ts';
import { Refusal } from '#platform/errors.ts';
import type { Invoice, InvoiceDetails, InvoiceListQuery } from './contract.ts';
import { pdfUrl } from './pdf-link.ts';
import { pageOfInvoices, visibleInvoice } from './queries.ts';
import { detailsView, invoiceView } from './view.ts';

/** A page of the invoices within the caller's reach. */
export const listInvoices = (ctx: Context, query: InvoiceListQuery): Promise<Page<Invoice>> =>
  pageOfInvoices(ctx, query, invoiceView(readerOf(ctx)));

/** One invoice with its lines, if it exists for this caller. */
export async function getInvoice(ctx: Context, id: string): Promise<InvoiceDetails> {
  const row = await visibleInvoice(ctx, id);
  if (!row) throw new Refusal('not_found');
  return detailsView(readerOf(ctx))(row, pdfUrl(ctx, row));
}
