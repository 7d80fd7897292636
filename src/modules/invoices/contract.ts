import type { z } from 'zod';
import { anyOf, branchListQuery, byId, codeOf, date, flag, id, operation, privateKeys, text } from '#platform/contract.ts';
import { invoiceStatuses, invoiceTypes } from './codes.ts';
import { invoice, invoiceDetails } from './shapes.ts';

export * from './codes.ts';
export * from './shapes.ts';

const tag = 'Invoices';
const readers = { scopes: ['sales:read'], kinds: privateKeys } as const;

export const invoiceListQuery = branchListQuery({
  status: anyOf(codeOf('invoice-statuses', invoiceStatuses)).optional(),
  type: anyOf(codeOf('invoice-types', invoiceTypes)).optional(),
  customer_id: anyOf(id).optional(),
  deal_id: anyOf(id).optional(),
  job_card_id: anyOf(id).optional(),
  vehicle_id: anyOf(id).optional(),
  number: anyOf(text(40)).optional(),
  issued_from: date.optional(),
  issued_to: date.optional(),
  outstanding: flag.optional().describe('`true`: those of which something is still to be paid; `false`: the others.'),
});
export type InvoiceListQuery = z.output<typeof invoiceListQuery>;

export const listInvoices = operation({
  id: 'invoices.list',
  method: 'GET',
  path: '/v1/invoices',
  tag,
  summary: 'List invoices',
  description: 'In the order of `updated_at`; without their lines. Invoices are raised in the DMS, and never deleted.',
  access: readers,
  query: invoiceListQuery,
  success: { status: 200, data: invoice, shape: 'page' },
  refusals: ['validation_failed'],
});

export const getInvoice = operation({
  id: 'invoices.get',
  method: 'GET',
  path: '/v1/invoices/{id}',
  tag,
  summary: 'Read an invoice with its lines',
  access: readers,
  params: byId,
  success: { status: 200, data: invoiceDetails },
  refusals: ['not_found'],
});

export const invoiceOperations = [listInvoices, getInvoice];
