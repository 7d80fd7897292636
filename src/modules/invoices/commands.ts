import { recordActivity } from '#modules/activity/index.ts';
import { branchFor, houseOf } from '#modules/house/index.ts';
import { checkLinks, findLinks, linksIn } from '#modules/links/index.ts';
import { checkDealerCodes } from '#modules/reference/index.ts';
import type { Context } from '#platform/context.ts';
import { erase } from '#platform/db/records.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { Refusal } from '#platform/errors.ts';
import { checked } from '#platform/field-errors.ts';
import type { InvoiceDetails, NewPartsInvoice, NewPayment } from './contract.ts';
import { newPartsInvoice, newPayment } from './contract.ts';
import type { NewLine } from './issue.ts';
import { drafted, issued, save, withLines, withPayments } from './issue.ts';
import type { DetailedRow } from './queries.ts';
import { invoicesOfDeal, visibleInvoice } from './queries.ts';
import { getInvoice } from './reads.ts';
import * as rules from './rules.ts';
import { billToCustomer } from './source-queries.ts';
import { tellJobCard } from './workshop.ts';

/** Invoices parts sold over the counter. */
export const raisePartsInvoice = (ctx: Context, parts: NewPartsInvoice): Promise<InvoiceDetails> =>
  inTransaction(ctx, async (tx) => keepNew(tx, await issued(tx, await draftOf(tx, parts))));

/** The same as a draft: without a number, until it is issued or becomes void. */
export const draftInvoice = (ctx: Context, parts: NewPartsInvoice): Promise<InvoiceDetails> =>
  inTransaction(ctx, async (tx) => keepNew(tx, await draftOf(tx, parts)));

/** Gives a draft its number. */
export const issueDraft = (ctx: Context, id: string): Promise<InvoiceDetails> =>
  inTransaction(ctx, async (tx) => {
    const draft = await standing(tx, id);
    rules.checkDraft(draft);
    return change(tx, draft, await issued(tx, draft), ['number', 'status', 'issued_on', 'tax_point_on', 'due_on']);
  });

/** Throws a draft away; what was issued is corrected by a credit note. */
export const voidDraft = (ctx: Context, id: string): Promise<InvoiceDetails> =>
  inTransaction(ctx, async (tx) => {
    const draft = await standing(tx, id);
    rules.checkDraft(draft);
    return change(tx, draft, { ...draft, status: 'VOID' }, ['status']);
  });

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

async function draftOf(tx: Context, input: NewPartsInvoice): Promise<DetailedRow> {
  const { lines, ...parts } = checked(newPartsInvoice, input);
  const links = linksIn(parts, { customer_id: 'customer' });
  const [house, found] = await Promise.all([houseOf(tx), findLinks(tx, links)]);
  const branch = branchFor(parts.branch_id, house, tx.caller.branches);
  checkLinks(links, found, branch.id, tx.caller.branches);
  const { customer_id, due_on } = parts;
  const bill_to = parts.bill_to ?? (await billToCustomer(tx, customer_id));
  const priced = lines.map((line): NewLine => ({ kind: 'PART', ...line }));
  rules.checkLines(priced, false);
  const about = { type: 'PARTS', branch_id: branch.id, bill_to, prices_include_vat: false, customer_id, due_on } as const;
  return withLines(tx, drafted(tx, about), priced);
}

async function keepNew(tx: Context, invoice: DetailedRow): Promise<InvoiceDetails> {
  await save(tx, null, invoice);
  recordActivity(tx, 'created', 'invoice', invoice.id, []);
  return getInvoice(tx, invoice.id);
}

async function change(tx: Context, before: DetailedRow, after: DetailedRow, fields: readonly string[]): Promise<InvoiceDetails> {
  await save(tx, before, after);
  recordActivity(tx, 'updated', 'invoice', after.id, fields);
  return getInvoice(tx, after.id);
}
