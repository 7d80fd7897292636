import { z } from 'zod';
import { codeOf, id, listQuery, minorUnits, text } from '#platform/contract.ts';
import type { StockState } from './codes.ts';
import { tradeVatRates } from './codes.ts';

export * from './codes.ts';

// The parts department has no operation of its own in the API: these are the bodies of its commands for staff.

/** The number a part goes by; upper and lower case are equal. */
export const partNumber = text(60).transform((value) => value.toUpperCase().replaceAll(/\s+/g, ' '));

/** How many of something, to three decimals: oil is sold by the litre. */
export const quantity = z
  .number({ error: 'A number.' })
  .positive({ error: 'More than 0.' })
  .max(999_999, { error: 'At most 999999.' })
  .multipleOf(0.001, { error: 'At most three decimals.' });

export const newPart = z.strictObject({
  part_number: partNumber,
  description: text(200),
  unit_price: minorUnits.describe('Without VAT, for one.'),
  unit_cost: minorUnits.default(0),
  vat_code: codeOf('vat-rates', tradeVatRates).default('STANDARD'),
});
export type NewPart = z.input<typeof newPart>;

export const partChanges = z
  .strictObject({
    part_number: partNumber,
    description: text(200),
    unit_price: minorUnits,
    unit_cost: minorUnits,
    vat_code: codeOf('vat-rates', tradeVatRates),
  })
  .partial();
export type PartChanges = z.input<typeof partChanges>;

const note = text(200).nullable().default(null);

/** Parts that came in; the note says with which delivery. */
export const delivery = z.strictObject({
  branch_id: id.optional(),
  note,
  lines: z.array(z.strictObject({ part_id: id, quantity })).min(1, { error: 'At least one line.' }),
});
export type Delivery = z.input<typeof delivery>;

/** Parts as they were counted on the shelves of a branch. */
export const stocktake = z.strictObject({
  branch_id: id.optional(),
  note,
  lines: z.array(z.strictObject({ part_id: id, on_hand: z.union([z.literal(0), quantity]) })).min(1, { error: 'At least one line.' }),
});
export type Stocktake = z.input<typeof stocktake>;

export const partListQuery = listQuery({
  q: text(60).optional().describe('The beginning of a part number, or a word of the description.'),
});
export type PartListQuery = z.output<typeof partListQuery>;

// ---- The stock and how it moves ----

/** What lies on the shelves of a branch. */
export interface Balance {
  readonly branch_id: string;
  readonly part_id: string;
  readonly on_hand: number;
  /** Of these, put by for jobs. */
  readonly reserved: number;
}

/** What a job has of the stock, and from where; null for nothing. */
export type Hold = { readonly state: Exclude<StockState, 'NONE'>; readonly branchId: string; readonly quantity: number } | null;

/** What a line of a job has of a part, and what it is to have. */
export interface PartMove {
  readonly lineId: string;
  readonly partId: string;
  readonly from: Hold;
  readonly to: Hold;
}

/** By how much a balance moved, and why. */
export interface Movement {
  readonly branch_id: string;
  readonly part_id: string;
  readonly kind: 'RECEIVED' | 'COUNTED' | 'RESERVED' | 'RELEASED' | 'ISSUED' | 'RETURNED';
  readonly on_hand: number;
  readonly reserved: number;
  readonly cause_line_id: string | null;
}

/** What became of moves. */
export interface Moved {
  readonly movements: readonly Movement[];
  /** The balances that differ now. */
  readonly balances: readonly Balance[];
  /** What each line has now. */
  readonly holds: ReadonlyMap<string, Hold>;
  /** The parts of which there is not enough to issue. */
  readonly lacking: readonly string[];
}
