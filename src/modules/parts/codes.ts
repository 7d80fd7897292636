// The code lists of the parts department, in the order in which the reference lists show them.

export const vatRates = ['STANDARD', 'REDUCED', 'ZERO', 'EXEMPT', 'OUTSIDE_SCOPE', 'MARGIN'] as const;
export type VatRate = (typeof vatRates)[number];

/** In basis points. Of the margin scheme the VAT is on the margin, never on the line. */
export const vatRateBps: { readonly [rate in VatRate]: number } = {
  STANDARD: 2000,
  REDUCED: 500,
  ZERO: 0,
  EXEMPT: 0,
  OUTSIDE_SCOPE: 0,
  MARGIN: 0,
};

/** The rates of parts, of work and of what is sold with a car. */
export const tradeVatRates = ['STANDARD', 'REDUCED', 'ZERO', 'EXEMPT', 'OUTSIDE_SCOPE'] as const satisfies readonly VatRate[];
export type TradeVatRate = (typeof tradeVatRates)[number];

/** What a job has of the stock: nothing, parts put by for it, parts fitted. */
export const stockStates = ['NONE', 'RESERVED', 'ISSUED'] as const;
export type StockState = (typeof stockStates)[number];
