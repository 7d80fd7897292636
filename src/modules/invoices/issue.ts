import { stampDeals } from '#modules/deals/index.ts';
import type { Context } from '#platform/context.ts';
import { dateIn } from '#platform/dates.ts';
import { takeNumbers } from '#platform/db/transaction.ts';
import { uuidv7 } from '#platform/secrets.ts';
import { series } from './contract.ts';
import type { DetailedRow, LineRow, PaymentRow } from './queries.ts';
import { blankInvoice, insertLines, insertPayments, saveInvoices } from './queries.ts';
import { amountsOf, marginStatement, statusOf, sumsOf } from './rules.ts';

// How an invoice comes to be: a draft, its lines, its number, its payments.

type Named = 'customer_id' | 'deal_id' | 'job_card_id' | 'vehicle_id' | 'credit_note_of_id' | 'due_on' | 'statements';

/** What an invoice is about, beside its lines. */
export type About = Pick<DetailedRow, 'type' | 'branch_id' | 'bill_to' | 'prices_include_vat'> & Partial<Pick<DetailedRow, Named>>;

/** A line before it is reckoned. */
export type NewLine = Pick<LineRow, 'kind' | 'description' | 'quantity' | 'unit_price' | 'discount' | 'vat_code'> &
  Partial<Pick<LineRow, 'vehicle_id' | 'job_line_id' | 'part_id'>>;

export type NewPayment = Pick<PaymentRow, 'method' | 'amount'> & Partial<Pick<PaymentRow, 'paid_on' | 'reference'>>;

/** A draft without lines. */
export const drafted = (tx: Context, about: About): DetailedRow => ({
  ...blankInvoice,
  dealer_id: tx.dealer.id,
  id: uuidv7(tx.now),
  ...about,
  created_at: tx.now,
});

/** The invoice with its lines, and what they come to. */
export const withLines = (tx: Context, invoice: DetailedRow, news: readonly NewLine[]): DetailedRow =>
  withReckoned(
    tx,
    invoice,
    news.map((line) => ({ vehicle_id: null, job_line_id: null, part_id: null, ...line, ...amountsOf(line, invoice.prices_include_vat) })),
  );

/** The same with lines that were reckoned before. */
export function withReckoned(
  tx: Context,
  invoice: DetailedRow,
  reckoned: readonly Omit<LineRow, 'id' | 'invoice_id' | 'position'>[],
): DetailedRow {
  const lines = reckoned.map((line, position): LineRow => ({ ...line, id: uuidv7(tx.now), invoice_id: invoice.id, position }));
  const sums = sumsOf(lines);
  const statements = sums.margin_scheme ? [marginStatement, ...invoice.statements] : invoice.statements;
  return { ...invoice, lines, ...sums, statements };
}

/** The invoice with its number and its dates. The turn keeps everyone else from the series until the commit, so numbers have no gap. */
export async function issued(tx: Context, draft: DetailedRow): Promise<DetailedRow> {
  const today = dateIn(tx.dealer.timeZone, tx.now);
  const name = series[draft.type];
  const number = `${name}-${String(await takeNumbers(tx, `invoice ${name}`, 1)).padStart(6, '0')}`;
  const invoice = { ...draft, series: name, number, issued_on: today, tax_point_on: today, due_on: draft.due_on ?? today };
  return { ...invoice, status: statusOf(invoice) };
}

/** A credit note with what nobody had paid of what it credits: that needs not be given back, and is no payment. */
export const withSetOff = (note: DetailedRow, unpaid: number): DetailedRow => ({
  ...note,
  paid: 0 - unpaid,
  status: statusOf({ gross: note.gross + unpaid, paid: 0 }),
});

/** The invoice with payments, and what they make of it. */
export function withPayments(tx: Context, invoice: DetailedRow, news: readonly NewPayment[]): DetailedRow {
  const made = news.map(
    ({ method, amount, paid_on = dateIn(tx.dealer.timeZone, tx.now), reference = null }): PaymentRow => ({
      id: uuidv7(tx.now),
      invoice_id: invoice.id,
      method,
      amount,
      paid_on,
      reference,
    }),
  );
  const paid = made.reduce((sum, { amount }) => sum + amount, invoice.paid);
  return { ...invoice, payments: [...invoice.payments, ...made], paid, status: statusOf({ gross: invoice.gross, paid }) };
}

/** Saves an invoice, with the lines and payments it did not have before. */
export async function save(tx: Context, before: DetailedRow | null, after: DetailedRow): Promise<void> {
  const isNew = (known: readonly { id: string }[] | undefined) => {
    const ids = new Set(known?.map(({ id }) => id));
    return ({ id }: { id: string }) => !ids.has(id);
  };
  stampDeals(tx, [after.deal_id]);
  // Sent together, in this order, so that they cost one wait.
  await Promise.all([
    saveInvoices(tx, [{ ...after, updated_at: tx.now }]),
    insertLines(tx, after.lines.filter(isNew(before?.lines))),
    insertPayments(tx, after.payments.filter(isNew(before?.payments))),
  ]);
}
