import { halfUp } from '#platform/money.ts';

// What is due under the VAT margin scheme. Pure.

/** What preparation and repairs cost does not count. */
export const marginOf = (sellingPrice: number, purchasePrice: number): number => sellingPrice - purchasePrice;

/** At the standard rate a sixth of the margin is VAT; a loss owes none and is set against nothing. */
export const vatDueOn = (margin: number): number => halfUp(BigInt(Math.max(0, margin)), 6n);
