import type { PartMove, VatRate } from '#modules/parts/contract.ts';
import { vatRateBps, vatRates } from '#modules/parts/contract.ts';
import { mostAmount } from '#platform/contract.ts';
import type { FieldErrors } from '#platform/errors.ts';
import { invalid, invalidFields, Refusal } from '#platform/errors.ts';
import { priceOf, vatInGross, vatOnNet } from '#platform/money.ts';
import type { InvoiceStatus, InvoiceType } from './contract.ts';
import { standingStatuses } from './contract.ts';

// What an invoice comes to, and what may be done with it. Pure: the same invoice always gives the same answer.

// ---- Amounts ----

/** A line as far as its amounts go. */
export interface Priced {
  readonly quantity: number;
  readonly unit_price: number;
  readonly discount: number;
  readonly vat_code: VatRate;
}

/** What a line comes to. */
export interface Amounts {
  readonly vat_rate_bps: number | null;
  readonly net: number;
  /** Null of a margin line: it is not shown. */
  readonly vat: number | null;
  readonly gross: number;
}

/** Each line is rounded by itself, halves up, so that sums of lines are sums of what is seen. */
export function amountsOf(line: Priced, pricesIncludeVat: boolean): Amounts {
  const amount = priceOf(line.quantity, line.unit_price) - line.discount;
  const vat_rate_bps = rateOf(line.vat_code);
  if (line.vat_code === 'MARGIN') return { vat_rate_bps, net: amount, vat: null, gross: amount };
  const vat = (pricesIncludeVat ? vatInGross : vatOnNet)(amount, vatRateBps[line.vat_code]);
  return pricesIncludeVat
    ? { vat_rate_bps, net: amount - vat, vat, gross: amount }
    : { vat_rate_bps, net: amount, vat, gross: amount + vat };
}

/** A supply that is exempt or outside the scope has no rate, and of a margin none is shown. */
const rateOf = (code: VatRate): number | null => (['STANDARD', 'REDUCED', 'ZERO'].includes(code) ? vatRateBps[code] : null);

/** What an invoice comes to. */
export interface Sums {
  readonly net: number;
  readonly vat: number;
  readonly gross: number;
  readonly vat_summary: { vat_code: VatRate; rate_bps: number | null; net: number; vat: number | null }[];
  readonly margin_scheme: boolean;
}

export function sumsOf(lines: readonly (Amounts & { readonly vat_code: VatRate })[]): Sums {
  const rates = vatRates.filter((code) => lines.some(({ vat_code }) => vat_code === code));
  return {
    ...added(lines),
    vat_summary: rates.map((vat_code) => {
      const those = lines.filter((line) => line.vat_code === vat_code);
      const { net, vat } = added(those);
      return { vat_code, rate_bps: those[0]?.vat_rate_bps ?? null, net, vat: vat_code === 'MARGIN' ? null : vat };
    }),
    margin_scheme: rates.includes('MARGIN'),
  };
}

const added = (lines: readonly Amounts[]) =>
  lines.reduce((sum, { net, vat, gross }) => ({ net: sum.net + net, vat: sum.vat + (vat ?? 0), gross: sum.gross + gross }), {
    net: 0,
    vat: 0,
    gross: 0,
  });

/** What a credit note takes back of a line, at the rate of then. */
export const reversed = <L extends Amounts & Priced>(line: L): L => ({
  ...line,
  quantity: 0 - line.quantity,
  discount: 0 - line.discount,
  net: 0 - line.net,
  vat: line.vat === null ? null : 0 - line.vat,
  gross: 0 - line.gross,
});

/** No line is given away below nothing, or comes to more than an amount may be. */
export function checkLines(lines: readonly Priced[], pricesIncludeVat: boolean): void {
  if (lines.length === 0) throw new Refusal('request_refused', 'There is nothing to invoice.');
  const errors: FieldErrors = {};
  for (const [at, line] of lines.entries()) {
    const { net, gross } = amountsOf(line, pricesIncludeVat);
    if (net < 0) errors[`lines.${at}.discount`] = ['Not more than the line comes to.'];
    if (gross > mostAmount) errors[`lines.${at}.quantity`] = [`The line comes to more than ${mostAmount}.`];
  }
  if (Object.keys(errors).length > 0) throw invalidFields(errors);
}

// ---- Parts ----

/** As a line names a part. */
export const partNamed = (description: string, partNumber: string | null): string =>
  partNumber === null ? description : `${description} (${partNumber})`;

/** What an invoice takes off the shelves of its branch; a credit note puts it back. */
export const partMoves = ({ branch_id: branchId, lines }: Sold): PartMove[] =>
  lines.flatMap(({ id: lineId, part_id: partId, quantity }) => {
    const hold = { state: 'ISSUED', branchId, quantity: Math.abs(quantity) } as const;
    return partId === null ? [] : [quantity < 0 ? { lineId, partId, from: hold, to: null } : { lineId, partId, from: null, to: hold }];
  });

interface Sold {
  readonly branch_id: string;
  readonly lines: readonly { readonly id: string; readonly part_id: string | null; readonly quantity: number }[];
}

// ---- Which VAT ----

/** The scheme a car was ordered or sold under says which; nobody guesses it. */
export function vatOfCar(scheme: string | null): VatRate {
  const code = scheme === null ? undefined : vatOfScheme[scheme];
  if (code) return code;
  throw new Refusal('request_refused', 'The deal has no VAT scheme: it is taken from the vehicle, which has none.');
}

const vatOfScheme: { readonly [scheme: string]: VatRate } = { MARGIN: 'MARGIN', VAT_QUALIFYING: 'STANDARD', NO_VAT: 'EXEMPT' };

/** The sentence the margin scheme asks for. */
export const marginStatement = 'VAT: margin scheme – second-hand goods.';
export const depositStatement = 'A payment on account: VAT, where it is due, stands on the invoice of the sale.';

/** `BANK_TRANSFER` as "Bank transfer"; a code of the dealer's own without its `X_`. */
export function spelled(code: string): string {
  const words = code.replace(/^X_/, '').replaceAll('_', ' ').toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Who pays for a job card; its lines that somebody else pays for are not theirs. An internal card is nobody's to pay. */
export function payerOf(type: string): string {
  if (type === 'INTERNAL') throw new Refusal('request_refused', 'An internal job card is not invoiced.');
  return type === 'WARRANTY' || type === 'INSURANCE' || type === 'GOODWILL' ? type : 'CUSTOMER';
}

/** The lines of a card that are billed. What the house bears is nobody's to pay; what a third party pays would be lost on this invoice. */
export function billed<L extends { readonly pay_type: string }>(type: string, lines: readonly L[]): L[] {
  const payer = payerOf(type);
  const third = lines.find(({ pay_type: by }) => by !== payer && by !== 'INTERNAL' && by !== 'GOODWILL');
  if (third)
    throw new Refusal('request_refused', `The job card has lines that ${third.pay_type} pays for: they belong on a card of their own.`);
  return lines.filter(({ pay_type: by }) => by === payer);
}

// ---- The state of an invoice ----

/** An invoice as far as the rules look at it. */
export interface Standing {
  readonly type: InvoiceType;
  readonly status: InvoiceStatus;
  readonly number: string | null;
  readonly gross: number;
  readonly paid: number;
}

/** Paid when nothing is left of it; something is left too of what was paid too much. */
export const statusOf = ({ gross, paid }: Pick<Standing, 'gross' | 'paid'>): InvoiceStatus =>
  gross === paid ? 'PAID' : paid === 0 ? 'ISSUED' : 'PART_PAID';

const stands = ({ status }: Pick<Standing, 'status'>): boolean => standingStatuses.some((standing) => standing === status);

const isOpen = ({ status }: Pick<Standing, 'status'>): boolean => status === 'ISSUED' || status === 'PART_PAID';

/** What is still to be paid; less than nothing is to be given back. */
export const outstandingOf = (invoice: Pick<Standing, 'status' | 'gross' | 'paid'>): number =>
  isOpen(invoice) ? invoice.gross - invoice.paid : 0;

/** What a credit note takes off before anything is given back: what was never paid of what it credits. */
export const setOffOf = ({ paid }: Pick<Standing, 'paid'>, payments: readonly { readonly amount: number }[]): number =>
  payments.reduce((left, { amount }) => left - amount, paid);

/** Only a draft is issued, or becomes void. */
export function checkDraft({ status, number }: Standing): void {
  if (status === 'DRAFT') return;
  throw new Refusal('request_refused', number ? `${number} is issued; a credit note corrects it.` : 'The invoice is void.');
}

/** A deposit is spent once its deal is invoiced: it counts as a payment there. */
export interface OfDeal {
  readonly type: InvoiceType;
  readonly status: InvoiceStatus;
}

const isSpent = ({ type }: Standing, ofDeal: readonly OfDeal[]): boolean =>
  type === 'DEPOSIT' && ofDeal.some((other) => other.type === 'VEHICLE_SALE' && other.status !== 'DRAFT' && other.status !== 'VOID');

/** A payment brings what is outstanding nearer to nothing: of a credit note it is money given back. Returns it with its sign. */
export function checkPayment(
  invoice: Standing,
  ofDeal: readonly OfDeal[],
  { amount, method }: { readonly amount: number; readonly method: string },
): number {
  if (!isOpen(invoice)) throw new Refusal('request_refused', `Nothing is to be paid: the invoice is ${invoice.status}.`);
  if (isSpent(invoice, ofDeal))
    throw new Refusal('request_refused', 'The deal is invoiced: the payment belongs to the invoice of the sale.');
  if (method === 'DEPOSIT' || method === 'PART_EXCHANGE') throw invalid('method', `${method} is counted when the sale is invoiced.`);
  const left = outstandingOf(invoice);
  if (amount > Math.abs(left)) throw invalid('amount', `At most ${Math.abs(left)} is outstanding.`);
  return left < 0 ? 0 - amount : amount;
}

/** A credit note credits the whole of an issued invoice, once. */
export function checkCreditable(invoice: Standing, ofDeal: readonly OfDeal[]): void {
  const { type, status } = invoice;
  if (type === 'CREDIT_NOTE') throw new Refusal('request_refused', 'A credit note is not credited.');
  if (!stands(invoice)) throw new Refusal('request_refused', `The invoice is ${status}.`);
  if (isSpent(invoice, ofDeal)) throw new Refusal('request_refused', 'The deposit was counted by the invoice of the sale; credit that.');
}

/** A deal is invoiced once, unless that was credited. */
export function checkUnsold(ofDeal: readonly OfDeal[]): void {
  if (ofDeal.some(({ type, status }) => type === 'VEHICLE_SALE' && stands({ status }))) throw new Refusal('deal_sold');
}

/** A deposit that was asked for and not paid would be asked for twice. */
export function checkDeposits(ofDeal: readonly (Standing & { readonly customer_id: string | null })[], customerId: string | null): void {
  const owed = ofDeal.find((invoice) => invoice.type === 'DEPOSIT' && isOpen(invoice));
  if (owed) throw new Refusal('request_refused', `The deposit invoice ${owed.number} is not paid: record its payment, or credit it.`);
  const others = ofDeal.find(({ type, status, customer_id }) => type === 'DEPOSIT' && status === 'PAID' && customer_id !== customerId);
  if (others) throw new Refusal('request_refused', `The deposit invoice ${others.number} was paid by another customer: credit it first.`);
}

/** A deposit is taken for a deal that is still to be invoiced. */
export function checkDepositOf({ status }: { readonly status: string }): void {
  if (!['QUOTE', 'RESERVED', 'ORDERED'].includes(status)) throw new Refusal('request_refused', `The deal is ${status}.`);
}
