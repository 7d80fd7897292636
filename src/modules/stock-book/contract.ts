import { z } from 'zod';
import { branchListQuery, date, dateTime, flag, money, operation, secretKeys } from '#platform/contract.ts';

const known = z.string().nullable();
const day = date.nullable();

/** A car of the stock book, from its purchase to its sale. */
export const stockBookEntry = z
  .object({
    id: z.string().meta({ format: 'uuid' }).describe('The vehicle’s.'),
    stock_number: z.string(),
    registration: known,
    vin: known,
    description: z.string(),
    first_registered_on: day,
    purchased_on: day,
    purchase_invoice_number: known,
    supplier_name: known,
    purchase_price: money.nullable(),
    sold_on: day.describe('The date of the sales invoice, of the disposal, or of the deletion of the record. Null while it is in stock.'),
    sales_invoice_number: known,
    buyer_name: known,
    selling_price: money.nullable().describe('Of the car alone, after discount.'),
    disposal_method: known.describe('The type of the deal it was sold by, DISPOSED, or WITHDRAWN of a vehicle whose record was deleted.'),
    margin: money
      .nullable()
      .describe('Under the VAT margin scheme: selling price less purchase price, and nothing else. May be less than nothing.'),
    vat_due: money.nullable().describe('A sixth of the margin, rounded half up; nothing where there is none.'),
    updated_at: dateTime,
  })
  .meta({ id: 'StockBookEntry' });
export type StockBookEntry = z.output<typeof stockBookEntry>;

export const stockBookQuery = branchListQuery({
  purchased_from: date.optional(),
  purchased_to: date.optional(),
  sold_from: date.optional(),
  sold_to: date.optional(),
  open: flag.optional().describe('`true`: what is in stock; `false`: what was sold or disposed of.'),
});
export type StockBookQuery = z.output<typeof stockBookQuery>;

export const listStockBook = operation({
  id: 'stock_book.list',
  method: 'GET',
  path: '/v1/stock-book',
  tag: 'Stock book',
  summary: 'Read the stock book',
  description:
    'The record the VAT margin scheme asks for, one entry per vehicle, in the order of `updated_at`. Stock numbers have no gap: vehicles that were deleted stay in it.',
  access: { scopes: ['vehicles:costs'], kinds: secretKeys, liveOnly: true },
  query: stockBookQuery,
  success: { status: 200, data: stockBookEntry, shape: 'page' },
  refusals: ['validation_failed'],
});

export const stockBookOperations = [listStockBook];
