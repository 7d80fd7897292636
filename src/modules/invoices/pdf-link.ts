import { operatorContext } from '#modules/dealers/index.ts';
import type { Context } from '#platform/context.ts';
import type { Service } from '#platform/service.ts';
import { openLink, sealLink } from '#platform/signed-link.ts';
import { printed } from './document.ts';
import { visibleInvoice } from './queries.ts';
import { issuerOf } from './source-queries.ts';

const purpose = 'invoice pdf';

/** Where an invoice is read as a PDF for the next half hour; null of one without a number. */
export const pdfUrl = ({ service, dealer, now }: Context, { id, number }: { id: string; number: string | null }): string | null =>
  number === null ? null : `${service.baseUrl}/invoices/${number}.pdf?link=${sealLink(service.keyring, purpose, [dealer.id, id], now)}`;

/** The PDF a link opens, whoever holds it: who was given it may read the invoice. Null when it opens nothing, or no longer. */
export async function openPdf(service: Service, link: string): Promise<{ name: string; bytes: Buffer } | null> {
  const sealed = openLink(service.keyring, purpose, link);
  const [dealerId, invoiceId] = sealed?.names ?? [];
  if (!sealed || !dealerId || !invoiceId) return null;
  const ctx = await operatorContext(service, dealerId);
  if (ctx.now >= sealed.until) return null;
  const invoice = await visibleInvoice(ctx, invoiceId);
  if (!invoice) return null;
  return { name: `${invoice.number}.pdf`, bytes: await printed(invoice, await issuerOf(ctx, invoice.branch_id), ctx.dealer.currency) };
}
