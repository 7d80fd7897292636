import { z } from 'zod';
import { address } from '#modules/dealers/contract.ts';
import { reasonsToLeave } from '#modules/enquiries/contract.ts';
import { shownBranch } from '#modules/house/contract.ts';
import { shownCustomer, shownDeal, shownInvoice, shownJobCard, shownVehicle } from '#modules/links/contract.ts';
import { partNumber, quantity, tradeVatRates, vatRates } from '#modules/parts/contract.ts';
import { codeOf, date, dateTime, id, minorUnits, money, openCodeOf, shownOpenCode, text } from '#platform/contract.ts';
import { invoiceStatuses, invoiceTypes, paymentMethods } from './codes.ts';

const line = (max: number) => text(max).nullable().default(null);

// ---- Bodies of the commands for staff ----

const billed = z.strictObject({
  name: text(160),
  address: z
    .strictObject({ line1: line(120), line2: line(120), city: line(120), county: line(120), postcode: line(20), country: line(60) })
    .nullable()
    .default(null),
  vat_number: line(30),
});

/** When it is to be paid: at once, unless said. */
const due = { due_on: date.nullable().default(null) };

const counterLine = z
  .strictObject({
    part_number: partNumber.optional().describe('Of a part, which leaves the shelf; what the line does not say is the part’s own.'),
    description: text(500).optional(),
    quantity: quantity.default(1),
    unit_price: minorUnits.optional(),
    discount: minorUnits.default(0),
    vat_code: codeOf('vat-rates', tradeVatRates).optional().describe('STANDARD, unless it is given or the part’s own.'),
  })
  .superRefine((line, ctx) => {
    if (line.part_number !== undefined) return;
    for (const field of ['description', 'unit_price'] as const)
      if (line[field] === undefined) ctx.addIssue({ code: 'custom', path: [field], message: 'Required, unless a part_number is given.' });
  });

export type CounterLine = z.output<typeof counterLine>;

/** What is sold over the counter, to a customer or to whoever is named. Prices are without VAT. */
export const newPartsInvoice = z
  .strictObject({
    branch_id: id.optional(),
    customer_id: id.nullable().default(null),
    bill_to: billed.nullable().default(null),
    ...due,
    lines: z.array(counterLine).min(1, { error: 'At least one line.' }).max(500, { error: 'At most 500 lines.' }),
  })
  .refine(({ customer_id, bill_to }) => customer_id !== null || bill_to !== null, {
    path: ['customer_id'],
    error: 'Required, unless bill_to is given.',
  });
export type NewPartsInvoice = z.input<typeof newPartsInvoice>;

/** The invoice of a job card; it is made out to the customer, or to the warrantor or insurer who is named. */
export const newWorkshopInvoice = z.strictObject({ bill_to: billed.nullable().default(null), ...due });
export type NewWorkshopInvoice = z.input<typeof newWorkshopInvoice>;

export const newSalesInvoice = z.strictObject(due);
export type NewSalesInvoice = z.input<typeof newSalesInvoice>;

/** What the deal asks for, unless an amount is given. */
export const newDepositInvoice = z.strictObject({ amount: minorUnits.min(1, { error: 'At least 1.' }).optional(), ...due });
export type NewDepositInvoice = z.input<typeof newDepositInvoice>;

/** Money that came in; of a credit note, money that was given back. */
export const newPayment = z.strictObject({
  method: openCodeOf('payment-methods', paymentMethods),
  amount: minorUnits.min(1, { error: 'At least 1.' }),
  paid_on: date.optional().describe('Today, unless given.'),
  reference: line(120),
});
export type NewPayment = z.input<typeof newPayment>;

/** Why a sale is taken back; its deal is cancelled with it. */
export const newCredit = z.strictObject({
  reason: openCodeOf('deal-cancellation-reasons', reasonsToLeave).nullable().default(null),
});
export type NewCredit = z.input<typeof newCredit>;

// ---- Responses ----

const uuid = z.string().meta({ format: 'uuid' });
const known = z.string().nullable();
const day = date.nullable();
const rate = z.int().nullable().describe('In basis points. Null where no VAT is shown, and where none is charged at any rate.');

export const billTo = z
  .object({ name: z.string(), address: address.nullable(), vat_number: known })
  .meta({ id: 'BillTo', description: 'Whom an invoice is made out to, as they were then.' });
export type BillTo = z.output<typeof billTo>;

const invoiceLine = z
  .object({
    id: uuid,
    position: z.int().describe('From 0.'),
    kind: z.string().describe('VEHICLE, DEPOSIT, PART, or the kind of an extra or of a job line.'),
    description: z.string(),
    quantity: z.number().describe('To three decimals; less than nothing on a credit note.'),
    unit_price: money.describe('With VAT where the invoice says `prices_include_vat`, else without. So is the discount.'),
    discount: money.describe('Off the line.'),
    vat_code: z.enum(vatRates),
    vat_rate_bps: rate,
    net: money.describe('Without VAT; of a margin line the same as `gross`.'),
    vat: money.nullable().describe('Rounded half up. Null on a margin line: its VAT is not shown to the customer.'),
    gross: money,
    vehicle_id: uuid.nullable(),
    job_line_id: uuid.nullable(),
  })
  .meta({ id: 'InvoiceLine' });

const payment = z
  .object({
    id: uuid,
    method: shownOpenCode('payment-methods', paymentMethods),
    amount: money.describe('Less than nothing when money was given back.'),
    paid_on: date,
    reference: known,
  })
  .meta({ id: 'Payment' });

const totals = z
  .object({
    net: money,
    vat: money.describe('What is shown: without the VAT on a margin.'),
    gross: money,
    paid: money.describe(
      'The sum of the payments; of a credit note also what was never paid of what it credits, and so needs not be given back.',
    ),
    outstanding: money.describe('What is still to be paid, of a credit note to be given back. Nothing of a draft, void or credited one.'),
  })
  .meta({ id: 'InvoiceTotals' });

const vatOfRate = z
  .object({ vat_code: z.enum(vatRates), rate_bps: rate, net: money, vat: money.nullable().describe('Null of the margin scheme.') })
  .meta({ id: 'VatOfRate' });

/** An invoice as lists show it. */
export const invoice = z
  .object({
    id: uuid,
    number: known.describe(
      'Without gaps in its series, one per type: SAL, WKS, PRT, DEP, CRN. Null of a draft, and of one that became void.',
    ),
    type: z.enum(invoiceTypes),
    status: z.enum(invoiceStatuses),
    branch_id: uuid,
    branch: shownBranch,
    customer_id: uuid.nullable(),
    customer: shownCustomer,
    bill_to: billTo,
    deal_id: uuid.nullable(),
    deal: shownDeal,
    job_card_id: uuid.nullable(),
    job_card: shownJobCard,
    vehicle_id: uuid.nullable(),
    vehicle: shownVehicle,
    credit_note_of_id: uuid.nullable().describe('The invoice a credit note credits.'),
    credit_note_of: shownInvoice,
    issued_on: day,
    tax_point_on: day,
    due_on: day,
    prices_include_vat: z.boolean().describe('Whether `unit_price` and `discount` of the lines include VAT, as a car’s price does.'),
    totals,
    vat_summary: z.array(vatOfRate),
    margin_scheme: z.boolean().describe('Whether a line is sold under the VAT margin scheme.'),
    statements: z.array(z.string()).describe('Sentences that must stand on the invoice.'),
    payments: z.array(payment),
    created_at: dateTime,
    updated_at: dateTime,
  })
  .meta({ id: 'Invoice' });
export type Invoice = z.output<typeof invoice>;

/** An invoice as a single read shows it. */
export const invoiceDetails = invoice
  .extend({
    lines: z.array(invoiceLine),
    pdf_url: z
      .string()
      .nullable()
      .describe(
        'Opens the invoice as a PDF for 30 minutes, without a key; read the invoice again for a fresh link. Null without a number.',
      ),
  })
  .meta({ id: 'InvoiceDetails', description: 'An invoice with its lines.' });
export type InvoiceDetails = z.output<typeof invoiceDetails>;
