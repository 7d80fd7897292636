import { isDeepStrictEqual } from 'node:util';
import { patchedAddress } from '#modules/customers/index.ts';
import type { Instant } from '#platform/dates.ts';
import { momentOf } from '#platform/dates.ts';
import { patched, patchedMap, said } from '#platform/merge-patch.ts';
import type { Change } from '#platform/records.ts';
import { uuidv7 } from '#platform/secrets.ts';
import type { DealChanges, ExchangeChanges, ExtraChanges } from './contract.ts';
import type { CarRow, DealRow, KeptExchange, KeptExtra, KeptFinance, LeadRow } from './queries.ts';
import { blankDeal } from './queries.ts';
import { carHeld } from './rules.ts';

// What a write makes of a deal.

/** The fields that are kept as they are written, under the same name. */
const plain = [
  ...(['external_id', 'branch_id', 'status', 'type', 'enquiry_id', 'customer_id', 'vehicle_id', 'salesperson_id'] as const),
  ...(['vehicle_price', 'discount', 'cancellation_reason', 'cancellation_note'] as const),
] as const satisfies readonly (keyof DealRow & keyof DealChanges)[];

const others = [
  ...(['extras', 'part_exchanges', 'finance', 'metadata', 'vat_scheme'] as const),
  ...(['ordered_at', 'sold_at', 'delivered_at', 'cancelled_at'] as const),
] as const satisfies readonly (keyof DealRow)[];

/** Objects of the API that are kept in columns. */
const columnsOf = {
  deposit: ['deposit_required'],
  handover: ['handover_method', 'handover_scheduled_at', 'handover_completed_at', 'handover_address'],
} as const satisfies Record<string, readonly (keyof DealRow)[]>;

/** The deal with the changes written over it, as a merge patch. */
export function written(before: DealRow, changes: DealChanges, now: Instant): DealRow {
  const after = { ...before };
  for (const field of plain) if (changes[field] !== undefined) Object.assign(after, { [field]: changes[field] });
  if (changes.extras !== undefined) after.extras = (changes.extras ?? []).map((extra) => extraOf(before, extra, now));
  if (changes.part_exchanges !== undefined)
    after.part_exchanges = (changes.part_exchanges ?? []).map((exchange) => exchangeOf(before, exchange, now));
  if (changes.deposit === null || changes.deposit?.required !== undefined) after.deposit_required = changes.deposit?.required ?? null;
  if (changes.finance !== undefined) after.finance = patched(noFinance, before.finance, changes.finance);
  if (changes.handover !== undefined) Object.assign(after, handoverOf(before, changes.handover));
  if (changes.metadata !== undefined) after.metadata = patchedMap(before.metadata, changes.metadata);
  return after;
}

const newExtra: Omit<KeptExtra, 'id'> = { kind: 'OTHER', description: null, quantity: 1, unit_price: 0, vat_code: 'STANDARD' };

/** One of the list as it was, with what is said of it laid over, or a new one. */
const extraOf = ({ extras }: DealRow, { id, ...extra }: ExtraChanges, now: Instant): KeptExtra => ({
  ...(extras.find((known) => known.id === id) ?? { id: uuidv7(now), ...newExtra }),
  ...said(extra),
});

const newExchange: Omit<KeptExchange, 'id'> = {
  registration: null,
  make: null,
  model: null,
  mileage: null,
  condition: null,
  allowance: null,
  settlement: null,
  stand_in_value: null,
  stock_vehicle_id: null,
  status: 'OFFERED',
};

const exchangeOf = ({ part_exchanges }: DealRow, { id, ...exchange }: ExchangeChanges, now: Instant): KeptExchange => ({
  ...(part_exchanges.find((known) => known.id === id) ?? { id: uuidv7(now), ...newExchange }),
  ...said(exchange),
});

const noFinance: KeptFinance = {
  type: null,
  provider: null,
  reference: null,
  advance: null,
  term_months: null,
  monthly_payment: null,
  deposit: null,
  balloon: null,
  apr_bps: null,
  annual_mileage: null,
  status: null,
};

function handoverOf(before: DealRow, changes: NonNullable<DealChanges['handover']> | null): Partial<DealRow> {
  if (changes === null) return { handover_method: null, handover_scheduled_at: null, handover_completed_at: null, handover_address: null };
  const { method, scheduled_at: scheduledAt, completed_at: completedAt, address } = changes;
  return said({
    handover_method: method,
    handover_scheduled_at: scheduledAt && momentOf(scheduledAt),
    handover_completed_at: completedAt && momentOf(completedAt),
    handover_address: address && patchedAddress(before.handover_address, address),
  }) as Partial<DealRow>;
}

/** What a deal names, as it stands. */
export interface Named {
  readonly car: CarRow | null;
  readonly lead: LeadRow | null;
}

/** Draws the consequences of a change: the times, whose deal it is, and what is remembered of the car. */
export function settled(before: DealRow | null, after: DealRow, { car, lead }: Named, now: Instant): Change<DealRow> {
  const next = { ...after, car_vat_scheme: car?.vat_scheme ?? null };
  next.customer_id ??= lead?.customer_id ?? null;
  const holds = carHeld(next);
  if (holds !== carHeld(before)) next.vehicle_status_before = holds === null ? null : (car?.status ?? null);
  if (next.status !== before?.status) stamp(next, now);
  if (next.status === 'ORDERED' && (before?.status !== 'ORDERED' || next.vehicle_id !== before.vehicle_id))
    next.vat_scheme = car?.vat_scheme ?? null;
  // A car that had none when it was ordered.
  if (next.status === 'SOLD') next.vat_scheme ??= car?.vat_scheme ?? null;
  const changed = fieldsThatDiffer(before ?? blankDeal, next);
  if (!before || changed.length > 0 || next.deleted_at !== before.deleted_at) next.updated_at = now;
  return { before, after: next, changed };
}

/** What is undone was never ordered; what is cancelled was. */
function stamp(deal: DealRow, now: Instant): void {
  deal.status_changed_at = now;
  if (deal.status === 'QUOTE' || deal.status === 'RESERVED') Object.assign(deal, { ordered_at: null, vat_scheme: null });
  if (deal.status === 'ORDERED') deal.ordered_at = now;
  if (deal.status === 'SOLD') deal.sold_at = now;
  if (deal.status === 'DELIVERED') Object.assign(deal, { delivered_at: now, handover_completed_at: deal.handover_completed_at ?? now });
  if (deal.status === 'CANCELLED') deal.cancelled_at = now;
}

function fieldsThatDiffer(before: DealRow, after: DealRow): string[] {
  const differs = (field: keyof DealRow) => !isDeepStrictEqual(before[field], after[field]);
  const kept = Object.entries(columnsOf).filter(([, columns]) => columns.some(differs));
  return [...[...plain, ...others].filter(differs), ...kept.map(([field]) => field)];
}
