import { recordActivity } from '#modules/activity/index.ts';
import { branchFor, houseOf } from '#modules/house/index.ts';
import { checkLinks, findLinks, linksIn } from '#modules/links/index.ts';
import type { PartOfLine } from '#modules/parts/index.ts';
import { moveParts, partsNumbered } from '#modules/parts/index.ts';
import type { Context } from '#platform/context.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { invalid } from '#platform/errors.ts';
import { checked } from '#platform/field-errors.ts';
import { said } from '#platform/merge-patch.ts';
import { change, standing } from './commands.ts';
import type { CounterLine, InvoiceDetails, NewPartsInvoice } from './contract.ts';
import { newPartsInvoice } from './contract.ts';
import type { NewLine } from './issue.ts';
import { drafted, issued, save, withLines } from './issue.ts';
import type { DetailedRow } from './queries.ts';
import { getInvoice } from './reads.ts';
import * as rules from './rules.ts';
import { billToCustomer } from './source-queries.ts';

// What is sold over the counter: at once, or from a draft. What is of the catalogue leaves the shelf when it is issued.

/** Invoices parts sold over the counter. */
export const raisePartsInvoice = (ctx: Context, parts: NewPartsInvoice): Promise<InvoiceDetails> =>
  inTransaction(
    ctx,
    async (tx) => {
      const draft = await draftOf(tx, parts);
      await takeParts(tx, draft);
      return keepNew(tx, await issued(tx, draft));
    },
    'stock_busy',
  );

/** The same as a draft: without a number, until it is issued or becomes void. */
export const draftInvoice = (ctx: Context, parts: NewPartsInvoice): Promise<InvoiceDetails> =>
  inTransaction(ctx, async (tx) => keepNew(tx, await draftOf(tx, parts)));

/** Gives a draft its number. */
export const issueDraft = (ctx: Context, id: string): Promise<InvoiceDetails> =>
  inTransaction(
    ctx,
    async (tx) => {
      const draft = await standing(tx, id);
      rules.checkDraft(draft);
      await takeParts(tx, draft);
      return change(tx, draft, await issued(tx, draft), ['number', 'status', 'issued_on', 'tax_point_on', 'due_on']);
    },
    'stock_busy',
  );

/** Throws a draft away; what was issued is corrected by a credit note. */
export const voidDraft = (ctx: Context, id: string): Promise<InvoiceDetails> =>
  inTransaction(ctx, async (tx) => {
    const draft = await standing(tx, id);
    rules.checkDraft(draft);
    return change(tx, draft, { ...draft, status: 'VOID' }, ['status']);
  });

/** Takes what an invoice sells off the shelves of its branch; of a credit note it comes back. */
export async function takeParts(tx: Context, invoice: DetailedRow): Promise<void> {
  const moves = rules.partMoves(invoice);
  if (moves.length > 0) await moveParts(tx, { kind: 'invoice', id: invoice.id }, moves);
}

async function draftOf(tx: Context, input: NewPartsInvoice): Promise<DetailedRow> {
  const { lines, ...about } = checked(newPartsInvoice, input);
  const links = linksIn(about, { customer_id: 'customer' });
  const numbers = lines.flatMap(({ part_number }) => part_number ?? []);
  const [house, found, parts] = await Promise.all([houseOf(tx), findLinks(tx, links), partsNumbered(tx, numbers)]);
  const branch = branchFor(about.branch_id, house, tx.caller.branches);
  checkLinks(links, found, branch.id, tx.caller.branches);
  const { customer_id, due_on } = about;
  const bill_to = about.bill_to ?? (await billToCustomer(tx, customer_id));
  const priced = lines.map((line, at) => toLine(line, parts, at));
  rules.checkLines(priced, false);
  const named = { type: 'PARTS', branch_id: branch.id, bill_to, prices_include_vat: false, customer_id, due_on } as const;
  return withLines(tx, drafted(tx, named), priced);
}

function toLine({ part_number, ...line }: CounterLine, parts: ReadonlyMap<string, PartOfLine>, at: number): NewLine {
  const part = part_number === undefined ? undefined : parts.get(part_number);
  if (part_number !== undefined && !part) throw invalid(`lines.${at}.part_number`, 'The dealership has no such part.');
  const { description, ...priced } = { ...ownOf(part), ...said(line) };
  return { ...priced, kind: 'PART', description: rules.partNamed(description, part_number ?? null), part_id: part?.id ?? null };
}

/** What a line is where it does not say so itself. */
const ownOf = (part: PartOfLine | undefined) => ({
  description: part?.description ?? '',
  unit_price: part?.unit_price ?? 0,
  vat_code: part?.vat_code ?? ('STANDARD' as const),
});

async function keepNew(tx: Context, invoice: DetailedRow): Promise<InvoiceDetails> {
  await save(tx, null, invoice);
  recordActivity(tx, 'created', 'invoice', invoice.id, []);
  return getInvoice(tx, invoice.id);
}
