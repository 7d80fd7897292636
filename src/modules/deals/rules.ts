import { isDeepStrictEqual } from 'node:util';
import type { TradeVatRate } from '#modules/parts/contract.ts';
import { vatRateBps } from '#modules/parts/contract.ts';
import type { VehicleStatus } from '#modules/vehicles/contract.ts';
import type { FieldErrors } from '#platform/errors.ts';
import { invalid, invalidFields, Refusal } from '#platform/errors.ts';
import { vatInGross } from '#platform/money.ts';
import type { Branches } from '#platform/reach.ts';
import { reaches } from '#platform/reach.ts';
import { wrongMetadata } from '#platform/records.ts';
import type { DealChanges, DealStatus, ExchangeStatus, FinanceStatus } from './contract.ts';

// What the dealership does not allow, what it decides, and what a deal comes to. Pure: the same deal always gives the same answer.

/** A deal as far as the rules look at it; amounts with VAT. */
export interface Standing extends Terms {
  readonly id: string;
  readonly status: DealStatus;
  readonly vehicle_id: string | null;
  readonly enquiry_id: string | null;
  readonly customer_id: string | null;
  readonly vehicle_status_before: VehicleStatus | null;
  readonly cancellation_reason: string | null;
  readonly metadata: Readonly<Record<string, string>>;
}

/** What was agreed on. */
export interface Terms {
  readonly vehicle_price: number | null;
  readonly discount: number | null;
  readonly extras: readonly {
    readonly id: string;
    readonly quantity: number;
    readonly unit_price: number;
    readonly vat_code: TradeVatRate;
  }[];
  readonly part_exchanges: readonly Exchange[];
  readonly finance: { readonly advance: number | null; readonly status: FinanceStatus | null } | null;
}

interface Exchange {
  readonly id: string;
  readonly allowance: number | null;
  readonly settlement: number | null;
  readonly status: ExchangeStatus;
}

/** The car a deal names. */
export interface Car {
  readonly id: string;
  readonly status: string;
  readonly branch_id: string;
  /** The live deal that holds it. */
  readonly deal_id: string | null;
  readonly vat_scheme: string | null;
}

/** The enquiry a deal came of. */
export interface Lead {
  readonly id: string;
  readonly status: string;
  readonly customer_id: string;
  /** Whether another deal of it is live or quoted … */
  readonly has_other_deal: boolean;
  /** … and one sold. */
  readonly has_other_sale: boolean;
}

// ---- What it comes to ----

export const totalOf = ({ quantity, unit_price }: { readonly quantity: number; readonly unit_price: number }): number =>
  quantity * unit_price;

/** What a car in part exchange takes off the bill; nothing is known of it until one of the two is. */
export const netOf = ({ allowance, settlement }: Pick<Exchange, 'allowance' | 'settlement'>): number | null =>
  allowance === null && settlement === null ? null : (allowance ?? 0) - (settlement ?? 0);

/** Money that came in: from the customer, and from a finance company. */
export interface Received {
  readonly paid: number;
  readonly financed: number;
}

/**
 * What is kept of what came in. Who takes a sale back may give back more money than was paid, in place of the car that was given in part
 * exchange: of a cancelled deal that is no payment below nothing, nor is a deposit that went with the rest still kept.
 */
export function kept<R extends Pick<Received, 'paid'> & { readonly deposit: number }>(
  { status }: Pick<Standing, 'status'>,
  received: R,
): R {
  if (status !== 'CANCELLED') return received;
  const paid = Math.max(0, received.paid);
  return { ...received, paid, deposit: Math.min(received.deposit, paid) };
}

/** The VAT is of each line by itself; whoever sells under the margin scheme shows none. */
export function totalsOf(
  { vehicle_price, discount, extras, part_exchanges, finance }: Terms,
  vatScheme: string | null,
  { paid, financed }: Received,
) {
  const vehicle = vehicle_price ?? 0;
  const off = discount ?? 0;
  const total = vehicle + sum(extras.map(totalOf)) - off;
  const part_exchange_net = sum(part_exchanges.filter(({ status }) => status !== 'WITHDRAWN').map((exchange) => netOf(exchange) ?? 0));
  const agreed = finance?.status === 'DECLINED' || finance?.status === 'EXPIRED' ? 0 : (finance?.advance ?? 0);
  // Paid by a finance company without or beyond what was agreed, it counts all the same.
  const finance_advance = Math.max(agreed, financed);
  const lines = extras.map((extra) => vatInGross(totalOf(extra), vatRateBps[extra.vat_code]));
  if (vatScheme === 'VAT_QUALIFYING') lines.push(vatInGross(vehicle - off, vatRateBps.STANDARD));
  return {
    vehicle,
    extras: sum(extras.map(totalOf)),
    discount: off,
    part_exchange_net,
    vat: sum(lines),
    total,
    paid,
    finance_advance,
    balance_due: total - part_exchange_net - finance_advance - paid,
  };
}

const sum = (amounts: readonly number[]): number => amounts.reduce((all, amount) => all + amount, 0);

// ---- Statuses, and what follows from them ----

const live: readonly DealStatus[] = ['RESERVED', 'ORDERED', 'SOLD', 'DELIVERED'];

/** Such a deal holds its car. */
export const isLive = ({ status }: Pick<Standing, 'status'>): boolean => live.includes(status);

export const isSold = ({ status }: Pick<Standing, 'status'>): boolean => status === 'SOLD' || status === 'DELIVERED';

/** The car that is held, if any. */
export const carHeld = (deal: Pick<Standing, 'status' | 'vehicle_id'> | null): string | null =>
  deal && isLive(deal) ? deal.vehicle_id : null;

/** The status of a car while a deal holds it. */
export const statusOfHeld = ({ status }: Pick<Standing, 'status'>): VehicleStatus =>
  status === 'SOLD' || status === 'DELIVERED' ? status : 'RESERVED';

/** The status of a car that is let go: the one before, but of a car that comes back it has to be looked at. */
export const statusLetGo = (before: Pick<Standing, 'status' | 'vehicle_status_before'>): VehicleStatus =>
  isSold(before) || before.vehicle_status_before === null ? 'IN_PREPARATION' : before.vehicle_status_before;

/** What becomes of the enquiry; null when it stays as it is. One that has another deal is not lost, but it is not won any more either. */
export function outcomeFor({ status, cancellation_reason: reason }: Pick<Standing, 'status' | 'cancellation_reason'>, lead: Lead | null) {
  if (!lead) return null;
  if (status === 'SOLD' && lead.status !== 'WON') return { status: 'WON', reason: null } as const;
  if (status === 'CANCELLED' && lead.status === 'WON' && lead.has_other_deal) {
    return lead.has_other_sale ? null : ({ status: 'NEGOTIATING', reason: null } as const);
  }
  if (status !== 'CANCELLED' || lead.has_other_deal || lead.status === 'LOST' || lead.status === 'DISQUALIFIED') return null;
  return { status: 'LOST', reason: reason === null || reason.startsWith('X_') ? 'OTHER' : reason } as const;
}

// ---- The record's state ----

/** The enquiry with them: its outcome hangs on the sale. */
const keptOnceSold: readonly string[] = [
  ...['status', 'enquiry_id', 'customer_id', 'vehicle_id'],
  ...['vehicle_price', 'discount', 'extras', 'part_exchanges', 'finance'],
];

/** Of a cancelled deal nothing changes but how its owner files it; a sold one keeps what was invoiced. */
export function checkOpen(before: Standing, changed: readonly string[]): void {
  if (before.status === 'CANCELLED' && changed.some((field) => field !== 'metadata' && field !== 'external_id'))
    throw new Refusal('deal_closed');
  if (isSold(before) && changed.some((field) => keptOnceSold.includes(field))) throw new Refusal('deal_sold');
  if (isSold(before) && changed.includes('branch_id')) throw invalid('branch_id', 'A sold deal stays at the branch of its invoice.');
}

/** To hold a car a deal needs it, and an enquiry; and no other deal may hold it. */
export function checkHold(before: Standing | null, after: Standing, car: Car | null, lead: Lead | null, reach: Branches): void {
  const moves = after.status !== before?.status;
  const names = (field: 'vehicle_id' | 'enquiry_id') => after[field] !== (before?.[field] ?? null);
  if (isLive(after)) {
    if ((moves || names('vehicle_id')) && !car) throw new Refusal('deal_has_no_vehicle');
    if ((moves || names('enquiry_id')) && !lead) throw new Refusal('deal_has_no_enquiry');
  }
  if (!car) return;
  const takes = isLive(after) && carHeld(before) !== car.id;
  if (takes && !reaches(reach, car.branch_id)) throw invalid('vehicle_id', 'No vehicle with this id is visible to the key.');
  if (takes && (car.deal_id !== null || car.status === 'SOLD' || car.status === 'DELIVERED')) throw new Refusal('vehicle_in_deal');
  if ((takes || names('vehicle_id')) && car.status === 'DISPOSED') throw new Refusal('request_refused', 'The vehicle is disposed of.');
}

// ---- In the DMS ----

const refused = (sentence: string) => new Refusal('request_refused', sentence);

/** What an ordered deal is invoiced with. */
export function sellable({ status, vehicle_price, customer_id, vehicle_id }: Standing) {
  if (status === 'CANCELLED') throw new Refusal('deal_closed');
  if (isSold({ status })) throw new Refusal('deal_sold');
  if (status !== 'ORDERED') throw refused('Only an ordered deal is invoiced.');
  if (vehicle_price === null) throw refused('The deal has no price of the vehicle.');
  if (customer_id === null) throw refused('The deal has no customer.');
  if (vehicle_id === null) throw new Refusal('deal_has_no_vehicle');
  return { vehicle_price, customer_id, vehicle_id };
}

export function checkDeliverable({ status }: Standing): void {
  if (status === 'CANCELLED') throw new Refusal('deal_closed');
  if (!isSold({ status })) throw refused('Only a sold deal is delivered.');
}

export function checkCreditable({ status }: Standing): void {
  if (status === 'CANCELLED') throw new Refusal('deal_closed');
  if (!isSold({ status })) throw refused('Only a sold deal is cancelled by credit.');
}

/** A car comes in part exchange once, while the deal stands. */
export function checkReceivable({ status }: Standing, exchange: Pick<Exchange, 'status'>): void {
  if (status === 'CANCELLED') throw new Refusal('deal_closed');
  if (exchange.status === 'RECEIVED' || exchange.status === 'WITHDRAWN')
    throw refused(`The part exchange is ${exchange.status.toLowerCase()}.`);
}

export function checkDeletable(deal: Standing): void {
  if (isSold(deal)) throw new Refusal('deal_sold');
  if (isLive(deal)) throw refused('The deal holds a vehicle. Cancel it first.');
}

// ---- The deal itself ----

/** What is wrong with the deal as it would be. `written` says which of it is being written. */
export function checkDeal(before: Standing | null, after: Standing, written: DealChanges): void {
  const errors: FieldErrors = {
    ...wrongMetadata(after),
    ...wrongItems('extras', before, written),
    ...wrongItems('part_exchanges', before, written),
  };
  if ((written.discount !== undefined || written.vehicle_price !== undefined) && (after.discount ?? 0) > (after.vehicle_price ?? 0)) {
    errors.discount = ['Must not be more than vehicle_price.'];
  }
  if (written.part_exchanges !== undefined && before && !keepsReceived(before, after)) {
    errors.part_exchanges = ['A part exchange that was received stays as it is.'];
  }
  if (after.status === 'CANCELLED' && before?.status !== 'CANCELLED' && after.cancellation_reason === null)
    errors.cancellation_reason = ['Required with CANCELLED.'];
  if (after.status !== 'CANCELLED') {
    for (const field of ['cancellation_reason', 'cancellation_note'] as const)
      if (written[field]) errors[field] = ['Only of a cancelled deal.'];
  }
  if (Object.keys(errors).length > 0) throw invalidFields(errors);
}

/** An item is named by an id the deal knows, once. */
function wrongItems(field: 'extras' | 'part_exchanges', before: Standing | null, written: DealChanges): FieldErrors {
  const errors: FieldErrors = {};
  const named = (written[field] ?? []).map(({ id }) => id);
  for (const [index, id] of named.entries()) {
    if (id === undefined) continue;
    if (!before?.[field].some((item) => item.id === id)) errors[`${field}.${index}.id`] = ['The deal has none with this id.'];
    else if (named.indexOf(id) < index) errors[`${field}.${index}.id`] = ['Named twice.'];
  }
  return errors;
}

const keepsReceived = (before: Standing, after: Standing): boolean =>
  before.part_exchanges
    .filter(({ status }) => status === 'RECEIVED')
    .every((received) =>
      isDeepStrictEqual(
        after.part_exchanges.find(({ id }) => id === received.id),
        received,
      ),
    );
