/** Money as the wire shows it: minor units and their currency. */
export type Money = { amount: number; currency: string };

/** An amount of minor units as money, `null` when there is none. */
export const toMoney = (amount: number | null, currency: string): Money | null => (amount === null ? null : { amount, currency });

/** A document of the wire as it is kept: its amounts in minor units. */
export type Kept<T> = {
  [F in keyof T]: T[F] extends Money ? number : Extract<T[F], Money> extends never ? T[F] : number | null;
};

/** So many at a price: quantities have three decimals. */
export const priceOf = (quantity: number, unitPrice: number): number =>
  halfUp(BigInt(Math.round(quantity * 1000)) * BigInt(unitPrice), 1000n);

/** A fraction of amounts as whole minor units, halves away from zero. Exact: amounts times rates go beyond what a double holds. */
export function halfUp(numerator: bigint, denominator: bigint): number {
  const size = numerator < 0n ? -numerator : numerator;
  const rounded = (2n * size + denominator) / (2n * denominator);
  return Number(numerator < 0n ? -rounded : rounded);
}

/** The VAT on an amount that does not include it; the rate in basis points. */
export const vatOnNet = (net: number, rateBps: number): number => halfUp(BigInt(net) * BigInt(rateBps), 10_000n);

/** The VAT within an amount that includes it. */
export const vatInGross = (gross: number, rateBps: number): number => gross - halfUp(BigInt(gross) * 10_000n, BigInt(10_000 + rateBps));
