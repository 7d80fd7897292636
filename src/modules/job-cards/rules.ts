import { isDeepStrictEqual } from 'node:util';
import { standingStatuses } from '#modules/invoices/contract.ts';
import type { Hold, PartMove, StockState } from '#modules/parts/contract.ts';
import { vatRateBps } from '#modules/parts/contract.ts';
import { mostAmount } from '#platform/contract.ts';
import type { FieldErrors } from '#platform/errors.ts';
import { invalid, invalidFields, Refusal } from '#platform/errors.ts';
import { priceOf, vatOnNet } from '#platform/money.ts';
import { wrongMetadata } from '#platform/records.ts';
import type { JobCardChanges, JobCardStatus, JobLineKind, JobLineStatus } from './contract.ts';

// What the workshop does not allow, and what it decides. Pure: the same card and the same change always give the same answer.

/** The invoice that was raised last, void ones left out. */
export interface Billing {
  readonly status: string;
}

/** A line as far as the rules look at it. */
export interface Line {
  readonly id: string;
  readonly kind: JobLineKind;
  readonly part_id: string | null;
  readonly quantity: number;
  readonly unit_price: number;
  readonly discount: number;
  readonly vat_code: keyof typeof vatRateBps;
  readonly authorised: boolean;
  readonly status: JobLineStatus;
  readonly stock_state: StockState;
  readonly stock_branch_id: string | null;
}

/** A job card as far as the rules look at it. */
export interface Standing {
  readonly status: JobCardStatus;
  readonly branch_id: string;
  readonly mileage_in: number | null;
  readonly mileage_out: number | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly lines: readonly Line[];
  readonly invoice: Billing | null;
}

// ---- The record's state ----

/** A draft and a credited invoice count as none. */
export const isInvoiced = ({ invoice }: Pick<Standing, 'invoice'>): boolean =>
  standingStatuses.some((status) => status === invoice?.status);

export const isPaid = ({ invoice }: Pick<Standing, 'invoice'>): boolean => invoice?.status === 'PAID';

/** An invoiced card keeps its status and its branch; a paid one says so first. */
export function checkInvoice(before: Standing, after: Standing): void {
  if (!isInvoiced(before)) return;
  if (after.status !== before.status) {
    throw isPaid(before) ? new Refusal('job_card_paid') : new Refusal('request_refused', 'Credit the invoice first.');
  }
  if (after.branch_id !== before.branch_id) throw invalid('branch_id', 'An invoiced card stays at its branch.');
}

/** What the customer was billed for stays as it was billed. */
export function checkLinesOpen(card: Standing): void {
  if (isInvoiced(card)) throw new Refusal('request_refused', 'Credit the invoice first.');
}

/** Work that was called off is not billed. */
export function checkInvoiceable(card: Standing): void {
  if (card.status === 'CANCELLED') throw new Refusal('request_refused', 'The job card is cancelled.');
}

export function checkCollectable({ status }: Standing): void {
  if (status !== 'COMPLETED' && status !== 'INVOICED') throw new Refusal('request_refused', 'The work is not completed.');
}

/** What was billed, even if it was credited since, and parts that were fitted stay on record. */
export function checkDeletable({ invoice, lines }: Standing): void {
  if (invoice) throw new Refusal('request_refused', 'The job card has an invoice.');
  if (lines.some(({ stock_state }) => stock_state === 'ISSUED')) throw new Refusal('request_refused', 'The job card has issued parts.');
}

// ---- The card itself ----

/** What is wrong with the card as it would be. `written` says which of it is being written. */
export function checkCard(after: Standing, written: Pick<JobCardChanges, 'mileage_in' | 'mileage_out'>): void {
  const errors: FieldErrors = wrongMetadata(after);
  const { mileage_in: driven, mileage_out: then } = after;
  const writes = written.mileage_in !== undefined || written.mileage_out !== undefined;
  if (writes && driven !== null && then !== null && then < driven) errors.mileage_out = ['Must not be less than mileage_in.'];
  if (Object.keys(errors).length > 0) throw invalidFields(errors);
}

// ---- Parts ----

/** What the parts of a card are to be while it has a status. */
const partsIn: { readonly [status in JobCardStatus]: StockState } = {
  ESTIMATE: 'NONE',
  BOOKED: 'RESERVED',
  CHECKED_IN: 'RESERVED',
  IN_PROGRESS: 'RESERVED',
  AWAITING_PARTS: 'RESERVED',
  AWAITING_AUTHORISATION: 'RESERVED',
  COMPLETED: 'ISSUED',
  INVOICED: 'ISSUED',
  CANCELLED: 'NONE',
};

/** What the lines have of the stock, and what a change wants them to have: nothing else than before, unless it is of status, branch or lines. */
export function partMoves(before: Standing, after: Standing): PartMove[] {
  const stays = after.status === before.status && after.branch_id === before.branch_id;
  if (stays && isDeepStrictEqual(after.lines, before.lines)) return [];
  const known = new Map(before.lines.map((line) => [line.id, line]));
  const gone = before.lines.filter(({ id }) => !after.lines.some((line) => line.id === id));
  return [
    ...gone.map((line) => moveOf(line, holdOf(line), null)),
    ...after.lines.map((line) => {
      const from = known.has(line.id) ? holdOf(known.get(line.id)!) : null;
      return moveOf(line, from, wantedFor(line, after, from));
    }),
  ].flatMap((move) => (move && (move.from || move.to) ? [move] : []));
}

const moveOf = ({ id, part_id }: Line, from: Hold, to: Hold): PartMove | null =>
  part_id === null ? null : { lineId: id, partId: part_id, from, to };

const holdOf = ({ stock_state: state, stock_branch_id: branchId, quantity }: Line): Hold =>
  state === 'NONE' || branchId === null ? null : { state, branchId, quantity };

/** Parts that are fitted were taken from where they lay, wherever the card is now. */
function wantedFor(line: Line, { status, branch_id }: Standing, from: Hold): Hold {
  const state = line.authorised && line.status !== 'DECLINED' ? partsIn[status] : 'NONE';
  if (state === 'NONE') return null;
  const stays = state === 'ISSUED' && from?.state === 'ISSUED' && from.quantity === line.quantity;
  return { state, branchId: stays ? from.branchId : branch_id, quantity: line.quantity };
}

// ---- Amounts ----

/** What a line comes to. */
export interface Amounts {
  readonly net: number;
  readonly vat: number;
  readonly gross: number;
}

/** Quantity times price less the discount; each line is rounded by itself, so that sums of lines are sums of what is seen. */
export function amountsOf(line: Line): Amounts {
  const net = priceOf(line.quantity, line.unit_price) - line.discount;
  const vat = vatOnNet(net, vatRateBps[line.vat_code]);
  return { net, vat, gross: net + vat };
}

export interface Totals extends Amounts {
  readonly labour: number;
  readonly parts: number;
  readonly sublet: number;
  readonly other: number;
  readonly discount: number;
  readonly authorised: number;
}

/** The sums of all lines but the declined ones. */
export function totalsOf(lines: readonly Line[]): Totals {
  const counting = lines.filter(({ status }) => status !== 'DECLINED');
  const sum = (some: readonly Line[], amount: (line: Line) => number) => some.reduce((total, line) => total + amount(line), 0);
  const of = (...kinds: JobLineKind[]) =>
    sum(
      counting.filter(({ kind }) => kinds.includes(kind)),
      ({ quantity, unit_price }) => priceOf(quantity, unit_price),
    );
  return {
    labour: of('LABOUR'),
    parts: of('PART'),
    sublet: of('SUBLET'),
    other: of('MOT', 'FEE', 'MENU', 'NOTE'),
    discount: sum(counting, ({ discount }) => discount),
    net: sum(counting, (line) => amountsOf(line).net),
    vat: sum(counting, (line) => amountsOf(line).vat),
    gross: sum(counting, (line) => amountsOf(line).gross),
    authorised: sum(
      counting.filter(({ authorised }) => authorised),
      (line) => amountsOf(line).gross,
    ),
  };
}

/** What work of these lines has cost the dealership: authorised, without VAT. */
export const costOf = (lines: readonly Line[]): number =>
  lines.reduce((total, line) => total + (line.authorised && line.status !== 'DECLINED' ? amountsOf(line).net : 0), 0);

/** What is wrong with a line as it would be, by field. */
export function wrongWithLine(line: Line): FieldErrors {
  const errors: FieldErrors = {};
  const price = priceOf(line.quantity, line.unit_price);
  if (price > mostAmount) errors.quantity = [`The line comes to more than ${mostAmount}.`];
  if (line.discount > price) errors.discount = ['Not more than the line comes to.'];
  if (line.kind === 'MOT' && line.vat_code !== 'OUTSIDE_SCOPE') errors.vat_code = ['MOT fees are outside the scope of VAT.'];
  if (line.kind === 'NOTE' && line.unit_price > 0) errors.unit_price = ['A note costs nothing.'];
  return errors;
}
