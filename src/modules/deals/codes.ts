// The code lists of a deal, in the order in which the reference lists show them.

export const dealStatuses = ['QUOTE', 'RESERVED', 'ORDERED', 'SOLD', 'DELIVERED', 'CANCELLED'] as const;
export type DealStatus = (typeof dealStatuses)[number];

/** From these the API moves a deal no further. */
export const finalDealStatuses = ['SOLD', 'DELIVERED', 'CANCELLED'] as const satisfies readonly DealStatus[];

/** Dealers may add codes of their own (`X_…`). */
export const dealTypes = ['RETAIL', 'TRADE', 'FLEET', 'MOTABILITY', 'EXPORT'] as const;

/** Dealers may add codes of their own (`X_…`). */
export const dealExtraKinds = [
  'WARRANTY',
  'PAINT_PROTECTION',
  'GAP_INSURANCE',
  'ACCESSORY',
  'SERVICE_PLAN',
  'DELIVERY',
  'ADMIN_FEE',
  'ROAD_TAX',
  'FUEL',
  'OTHER',
] as const;

export const financeStatuses = ['QUOTED', 'APPLIED', 'REFERRED', 'ACCEPTED', 'DECLINED', 'PAID_OUT', 'EXPIRED'] as const;
export type FinanceStatus = (typeof financeStatuses)[number];

/** How far a deal is with a car that is given in part exchange. */
export const exchangeStatuses = ['OFFERED', 'AGREED', 'RECEIVED', 'WITHDRAWN'] as const;
export type ExchangeStatus = (typeof exchangeStatuses)[number];

export const handoverMethods = ['COLLECTION', 'DELIVERY'] as const;

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

/** The rates of what is sold with a car. */
export const tradeVatRates = ['STANDARD', 'REDUCED', 'ZERO', 'EXEMPT', 'OUTSIDE_SCOPE'] as const satisfies readonly VatRate[];
export type TradeVatRate = (typeof tradeVatRates)[number];
