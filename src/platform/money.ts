/** Money as the wire shows it: minor units and their currency. */
export type Money = { amount: number; currency: string };

/** An amount of minor units as money, `null` when there is none. */
export const toMoney = (amount: number | null, currency: string): Money | null => (amount === null ? null : { amount, currency });
