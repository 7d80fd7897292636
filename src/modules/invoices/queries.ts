import type { Selectable, SqlBool } from 'kysely';
import { sql } from 'kysely';
import type { CustomerSummary, DealSummary, InvoiceSummary, JobCardSummary, VehicleSummary } from '#modules/links/contract.ts';
import { summaryOf } from '#modules/links/index.ts';
import type { VatRate } from '#modules/parts/contract.ts';
import type { Context } from '#platform/context.ts';
import type { Page } from '#platform/contract.ts';
import { readPage } from '#platform/db/pages.ts';
import { keeperOf, rowsWithin } from '#platform/db/records.ts';
import type { DB } from '#platform/db/schema.ts';
import type { BillTo, InvoiceListQuery, InvoiceStatus, InvoiceType } from './contract.ts';

/** What the columns of text and JSON hold. */
interface Documents {
  type: InvoiceType;
  status: InvoiceStatus;
  bill_to: BillTo;
  vat_summary: { vat_code: VatRate; rate_bps: number | null; net: number; vat: number | null }[];
}

export type PaymentRow = Omit<Selectable<DB['payment']>, 'dealer_id' | 'created_at'>;

export type LineRow = Omit<Selectable<DB['invoice_line']>, 'dealer_id' | 'vat_code'> & { vat_code: VatRate };

/** What other tables tell of an invoice, as far as the caller may see it. */
interface Joined {
  branch_name: string | null;
  customer: CustomerSummary | null;
  deal: DealSummary | null;
  job_card: JobCardSummary | null;
  vehicle: VehicleSummary | null;
  credit_note_of: InvoiceSummary | null;
  payments: PaymentRow[];
}

/** An invoice as it is kept, with what it names and what was paid. */
export type InvoiceRow = Omit<Selectable<DB['invoice']>, keyof Documents> & Documents & Joined;

export type DetailedRow = InvoiceRow & { lines: LineRow[] };

const ofInvoice = (table: 'payment' | 'invoice_line', order: string) =>
  sql`(select coalesce(json_agg(to_jsonb(x) - 'dealer_id' - 'created_at' order by ${sql.raw(order)}), '[]')
  from ${sql.table(table)} x where x.dealer_id = invoice.dealer_id and x.invoice_id = invoice.id)`;

/** Those within the caller's reach. */
function reachable(ctx: Context) {
  const { branches } = ctx.caller;
  return rowsWithin(ctx, 'invoice').select([
    summaryOf('customer', 'invoice', 'customer_id', branches).as('customer'),
    summaryOf('deal', 'invoice', 'deal_id', branches).as('deal'),
    summaryOf('job_card', 'invoice', 'job_card_id', branches).as('job_card'),
    summaryOf('vehicle', 'invoice', 'vehicle_id', branches).as('vehicle'),
    summaryOf('invoice', 'invoice', 'credit_note_of_id', branches).as('credit_note_of'),
    ofInvoice('payment', 'x.created_at, x.id').as('payments'),
  ]);
}

/** An invoice that exists for this caller, with its lines. */
export const visibleInvoice = (ctx: Context, id: string): Promise<DetailedRow | undefined> =>
  reachable(ctx)
    .select(ofInvoice('invoice_line', 'x.position').as('lines'))
    .where('invoice.id', '=', id)
    .$castTo<DetailedRow>()
    .executeTakeFirst();

export const pageOfInvoices = <T>(ctx: Context, query: InvoiceListQuery, toWire: (row: InvoiceRow) => T): Promise<Page<T>> =>
  readPage(ctx, {
    list: 'invoices',
    table: 'invoice',
    query,
    from: reachable(ctx).$castTo<InvoiceRow>(),
    matching: [
      query.branch_id && sql<SqlBool>`invoice.branch_id = any(${query.branch_id}::uuid[])`,
      query.status && sql<SqlBool>`invoice.status = any(${query.status}::text[])`,
      query.type && sql<SqlBool>`invoice.type = any(${query.type}::text[])`,
      query.customer_id && sql<SqlBool>`invoice.customer_id = any(${query.customer_id}::uuid[])`,
      query.deal_id && sql<SqlBool>`invoice.deal_id = any(${query.deal_id}::uuid[])`,
      query.job_card_id && sql<SqlBool>`invoice.job_card_id = any(${query.job_card_id}::uuid[])`,
      query.vehicle_id && sql<SqlBool>`invoice.vehicle_id = any(${query.vehicle_id}::uuid[])`,
      query.number && sql<SqlBool>`invoice.number = any(${query.number}::text[])`,
      query.issued_from !== undefined && sql<SqlBool>`invoice.issued_on >= ${query.issued_from}::date`,
      query.issued_to !== undefined && sql<SqlBool>`invoice.issued_on <= ${query.issued_to}::date`,
      query.outstanding !== undefined && sql<SqlBool>`(invoice.status in ('ISSUED', 'PART_PAID')) = ${query.outstanding}::boolean`,
    ],
    toWire,
  });

/** The invoices of a deal, wherever they lie: what its deposits and its sale have to know of each other. */
export const invoicesOfDeal = (ctx: Context, dealId: string | null): Promise<OfDealRow[]> =>
  dealId === null ? Promise.resolve([]) : ofDeal(ctx, dealId);

type OfDealRow = Pick<InvoiceRow, 'id' | 'type' | 'status' | 'number' | 'customer_id' | 'gross' | 'paid'>;

const ofDeal = (ctx: Context, dealId: string) =>
  ctx.db
    .selectFrom('invoice')
    .select(['id', 'type', 'status', 'number', 'customer_id', 'gross', 'paid'])
    .where('dealer_id', '=', ctx.dealer.id)
    .where('deal_id', '=', dealId)
    .orderBy('created_at')
    .orderBy('id')
    .$castTo<OfDealRow>()
    .execute();

// ---- Writing ----

/** An invoice of which nothing is known yet; names every column. */
export const blankInvoice: DetailedRow = {
  dealer_id: '',
  id: '',
  series: null,
  number: null,
  type: 'PARTS',
  status: 'DRAFT',
  branch_id: '',
  customer_id: null,
  bill_to: { name: '', address: null, vat_number: null },
  deal_id: null,
  job_card_id: null,
  vehicle_id: null,
  credit_note_of_id: null,
  issued_on: null,
  tax_point_on: null,
  due_on: null,
  prices_include_vat: false,
  net: 0,
  vat: 0,
  gross: 0,
  paid: 0,
  vat_summary: [],
  margin_scheme: false,
  statements: [],
  created_at: '',
  updated_at: '',
  branch_name: null,
  customer: null,
  deal: null,
  job_card: null,
  vehicle: null,
  credit_note_of: null,
  payments: [],
  lines: [],
};

/** Saves new and changed invoices alike; their lines and payments have tables of their own. */
export const saveInvoices = keeperOf<DetailedRow>({
  table: 'invoice',
  blank: blankInvoice,
  elsewhere: ['branch_name', 'customer', 'deal', 'job_card', 'vehicle', 'credit_note_of', 'payments', 'lines'],
  fixed: ['dealer_id', 'id', 'type', 'created_at'],
});

export async function insertLines(tx: Context, lines: readonly LineRow[]): Promise<void> {
  if (lines.length === 0) return;
  await tx.db
    .insertInto('invoice_line')
    .values(lines.map((line) => ({ dealer_id: tx.dealer.id, ...line })))
    .execute();
}

export async function insertPayments(tx: Context, payments: readonly PaymentRow[]): Promise<void> {
  if (payments.length === 0) return;
  await tx.db
    .insertInto('payment')
    .values(payments.map((payment) => ({ dealer_id: tx.dealer.id, ...payment, created_at: tx.now })))
    .execute();
}
