import { recordActivity } from '#modules/activity/index.ts';
import { checkDealerCodes } from '#modules/reference/index.ts';
import type { Context } from '#platform/context.ts';
import { erase } from '#platform/db/records.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { Refusal } from '#platform/errors.ts';
import { checked } from '#platform/field-errors.ts';
import type { InvoiceDetails, NewPayment } from './contract.ts';
import { newPayment } from './contract.ts';
import { save, withPayments } from './issue.ts';
import type { DetailedRow } from './queries.ts';
import { invoicesOfDeal, visibleInvoice } from './queries.ts';
import { getInvoice } from './reads.ts';
import * as rules from './rules.ts';
import { tellJobCard } from './workshop.ts';

/** Notes a payment, in part or in full. */
export async function recordPayment(ctx: Context, id: string, input: NewPayment): Promise<InvoiceDetails> {
  const payment = checked(newPayment, input);
  await checkDealerCodes(ctx, { method: 'payment-methods' }, payment);
  return inTransaction(ctx, async (tx) => {
    const invoice = await standing(tx, id);
    const amount = rules.checkPayment(invoice, await invoicesOfDeal(tx, invoice.deal_id), payment);
    const paid = withPayments(tx, invoice, [{ ...payment, amount }]);
    const told = await change(tx, invoice, paid, ['payments', 'totals', ...(paid.status === invoice.status ? [] : ['status'])]);
    if (paid.status !== invoice.status) await tellJobCard(tx, paid);
    return told;
  });
}

/** Empties the records for the sandbox's reset. */
export const eraseInvoices = (ctx: Context): Promise<void> => erase(ctx, ['payment', 'invoice_line', 'invoice']);

/** An invoice that exists for this caller, to be changed. */
export async function standing(tx: Context, id: string): Promise<DetailedRow> {
  const invoice = await visibleInvoice(tx, id);
  if (!invoice) throw new Refusal('not_found');
  return invoice;
}

/** Saves a change and notes it. */
export async function change(tx: Context, before: DetailedRow, after: DetailedRow, fields: readonly string[]): Promise<InvoiceDetails> {
  await save(tx, before, after);
  recordActivity(tx, 'updated', 'invoice', after.id, fields);
  return getInvoice(tx, after.id);
}
