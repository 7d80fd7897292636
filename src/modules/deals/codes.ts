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
