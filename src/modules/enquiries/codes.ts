// The code lists of an enquiry, in the order in which the reference lists show them.

export const enquiryStatuses = ['NEW', 'CONTACTED', 'APPOINTMENT', 'NEGOTIATING', 'WON', 'LOST', 'DISQUALIFIED'] as const;
export type EnquiryStatus = (typeof enquiryStatuses)[number];

/** Dealers may add codes of their own (`X_…`). */
export const enquiryTypes = [
  'SALES',
  'PART_EXCHANGE',
  'VALUATION',
  'FINANCE',
  'TEST_DRIVE',
  'RESERVATION',
  'SERVICE',
  'PARTS',
  'GENERAL',
] as const;

/** Dealers may add codes of their own (`X_…`). */
export const enquirySources = [
  'WEBSITE',
  'AUTO_TRADER',
  'PHONE',
  'WALK_IN',
  'EMAIL',
  'SOCIAL',
  'MANUFACTURER',
  'REFERRAL',
  'REPEAT_CUSTOMER',
  'API',
  'AI_ASSISTANT',
  'OTHER',
] as const;

/** Why a customer does not buy: of a lost enquiry and of a cancelled deal. */
export const reasonsToLeave = [
  'DIFFERENT_VEHICLE',
  'UNAFFORDABLE',
  'NOT_INTERESTED',
  'WENT_ELSEWHERE',
  'NOT_AVAILABLE',
  'CONDITION',
  'POOR_CUSTOMER_SERVICE',
  'PART_EXCHANGE_VALUE',
  'FINANCE_DECLINED',
] as const;

/** Dealers may add codes of their own (`X_…`). */
export const enquiryLostReasons = [...reasonsToLeave, 'NO_RESPONSE', 'OTHER'] as const;

export const financeTypes = ['CASH', 'HP', 'PCP', 'LEASE_PURCHASE', 'PCH', 'BCH', 'FINANCE_LEASE', 'PERSONAL_LOAN', 'OTHER'] as const;

/** The state of a part exchange. */
export const conditionRatings = ['EXCELLENT', 'GREAT', 'GOOD', 'FAIR', 'POOR'] as const;
