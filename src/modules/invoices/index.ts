export { eraseInvoices, recordPayment } from './commands.ts';
export type { NewCredit, NewDepositInvoice, NewPartsInvoice, NewPayment, NewSalesInvoice, NewWorkshopInvoice } from './contract.ts';
export { draftInvoice, issueDraft, raisePartsInvoice, voidDraft } from './counter.ts';
export { creditInvoice } from './credit.ts';
export { openPdf } from './pdf-link.ts';
export { getInvoice, listInvoices } from './reads.ts';
export { raiseDepositInvoice, raiseSalesInvoice } from './sale.ts';
export { raiseWorkshopInvoice } from './workshop.ts';
