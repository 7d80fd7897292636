import type { Reader } from '#platform/context.ts';
import { toDateTime } from '#platform/dates.ts';
import type { Invoice, InvoiceDetails } from './contract.ts';
import type { DetailedRow, InvoiceRow } from './queries.ts';
import { outstandingOf } from './rules.ts';

/** The view of one reader, to be used for row after row. */
export function invoiceView({ currency, scopes }: Reader): (row: InvoiceRow) => Invoice {
  const seesBranches = scopes.includes('branches:read');
  const seesCustomers = scopes.includes('customers:read');
  const seesVehicles = scopes.includes('vehicles:read');
  const seesJobCards = scopes.includes('workshop:read');
  const seesDeals = scopes.includes('sales:read');
  const money = (amount: number) => ({ amount, currency });
  return (row) => ({
    id: row.id,
    number: row.number,
    type: row.type,
    status: row.status,
    branch_id: row.branch_id,
    branch: seesBranches && row.branch_name !== null ? { id: row.branch_id, name: row.branch_name } : null,
    customer_id: row.customer_id,
    customer: seesCustomers ? row.customer : null,
    bill_to: row.bill_to,
    deal_id: row.deal_id,
    deal: seesDeals ? row.deal : null,
    job_card_id: row.job_card_id,
    job_card: seesJobCards ? row.job_card : null,
    vehicle_id: row.vehicle_id,
    vehicle: seesVehicles ? row.vehicle : null,
    credit_note_of_id: row.credit_note_of_id,
    credit_note_of: row.credit_note_of,
    issued_on: row.issued_on,
    tax_point_on: row.tax_point_on,
    due_on: row.due_on,
    prices_include_vat: row.prices_include_vat,
    totals: {
      net: money(row.net),
      vat: money(row.vat),
      gross: money(row.gross),
      paid: money(row.paid),
      outstanding: money(outstandingOf(row)),
    },
    vat_summary: row.vat_summary.map(({ net, vat, ...rate }) => ({ ...rate, net: money(net), vat: vat === null ? null : money(vat) })),
    margin_scheme: row.margin_scheme,
    statements: row.statements,
    payments: row.payments.map(({ id, method, amount, paid_on, reference }) => ({ id, method, amount: money(amount), paid_on, reference })),
    created_at: toDateTime(row.created_at),
    updated_at: toDateTime(row.updated_at),
  });
}

/** The same with its lines, and where it is read as a PDF. */
export function detailsView(reader: Reader): (row: DetailedRow, pdfUrl: string | null) => InvoiceDetails {
  const show = invoiceView(reader);
  const money = (amount: number) => ({ amount, currency: reader.currency });
  return (row, pdf_url) => ({
    ...show(row),
    lines: row.lines.map(({ invoice_id: _invoice, part_id: _part, unit_price, discount, net, vat, gross, ...line }) => ({
      ...line,
      unit_price: money(unit_price),
      discount: money(discount),
      net: money(net),
      vat: vat === null ? null : money(vat),
      gross: money(gross),
    })),
    pdf_url,
  });
}
