// The code lists of an invoice, in the order in which the reference lists show them.

export const invoiceTypes = ['VEHICLE_SALE', 'WORKSHOP', 'PARTS', 'DEPOSIT', 'CREDIT_NOTE'] as const;
export type InvoiceType = (typeof invoiceTypes)[number];

export const invoiceStatuses = ['DRAFT', 'ISSUED', 'PART_PAID', 'PAID', 'CREDITED', 'VOID'] as const;
export type InvoiceStatus = (typeof invoiceStatuses)[number];

/** An invoice that counts: issued, and not credited. */
export const standingStatuses = ['ISSUED', 'PART_PAID', 'PAID'] as const satisfies readonly InvoiceStatus[];

/** Dealers may add codes of their own (`X_…`). */
export const paymentMethods = ['CARD', 'BANK_TRANSFER', 'CASH', 'CHEQUE', 'FINANCE', 'PART_EXCHANGE', 'DEPOSIT', 'OTHER'] as const;

/** What the numbers of each series begin with. */
export const series = { VEHICLE_SALE: 'SAL', WORKSHOP: 'WKS', PARTS: 'PRT', DEPOSIT: 'DEP', CREDIT_NOTE: 'CRN' } as const satisfies Record<
  InvoiceType,
  string
>;
