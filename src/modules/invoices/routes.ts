import { answer } from '#platform/http/answer.ts';
import * as contract from './contract.ts';
import { getInvoice, listInvoices } from './reads.ts';

export const invoiceRoutes = [
  answer(contract.listInvoices, (ctx, { query }) => listInvoices(ctx, query)),
  answer(contract.getInvoice, (ctx, { params }) => getInvoice(ctx, params.id)),
];
