// The code lists of a job card, in the order in which the reference lists show them.

export const jobCardStatuses = [
  'ESTIMATE',
  'BOOKED',
  'CHECKED_IN',
  'IN_PROGRESS',
  'AWAITING_PARTS',
  'AWAITING_AUTHORISATION',
  'COMPLETED',
  'INVOICED',
  'CANCELLED',
] as const;
export type JobCardStatus = (typeof jobCardStatuses)[number];

/** As what a job card may begin. */
export const firstStatuses = ['ESTIMATE', 'BOOKED'] as const satisfies readonly JobCardStatus[];

/** Dealers may add codes of their own (`X_…`). */
export const jobCardTypes = ['RETAIL', 'INTERNAL', 'WARRANTY', 'INSURANCE', 'FLEET', 'GOODWILL'] as const;

export const jobLineKinds = ['LABOUR', 'PART', 'SUBLET', 'MOT', 'FEE', 'MENU', 'NOTE'] as const;
export type JobLineKind = (typeof jobLineKinds)[number];

/** Who pays for a line. */
export const payTypes = ['CUSTOMER', 'WARRANTY', 'INTERNAL', 'INSURANCE', 'GOODWILL'] as const;
export type PayType = (typeof payTypes)[number];

export const jobLineStatuses = ['OPEN', 'DONE', 'DECLINED'] as const;
export type JobLineStatus = (typeof jobLineStatuses)[number];
