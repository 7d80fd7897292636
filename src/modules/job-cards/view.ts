import type { Reader } from '#platform/context.ts';
import { toDateTime } from '#platform/dates.ts';
import type { JobCard, JobCardTotals, JobLine } from './contract.ts';
import type { JobCardRow, LineRow } from './queries.ts';
import { amountsOf, isPaid, totalsOf } from './rules.ts';

/** The view of one reader, to be used for row after row. */
export function jobCardView({ currency, scopes }: Reader): (row: JobCardRow) => JobCard {
  const sees = (scope: Reader['scopes'][number]) => scopes.includes(scope);
  return (row) => ({
    id: row.id,
    number: row.number,
    external_id: row.external_id,
    branch_id: row.branch_id,
    branch: sees('branches:read') && row.branch_name !== null ? { id: row.branch_id, name: row.branch_name } : null,
    type: row.type,
    status: row.status,
    status_changed_at: toDateTime(row.status_changed_at),
    customer_id: row.customer_id,
    customer: sees('customers:read') ? row.customer : null,
    vehicle_id: row.vehicle_id,
    vehicle: sees('vehicles:read') ? row.vehicle : null,
    customer_vehicle: row.customer_vehicle,
    appointment_id: row.appointment_id,
    appointment: sees('appointments:read') ? row.appointment : null,
    deal_id: row.deal_id,
    deal: sees('sales:read') ? row.deal : null,
    advisor_id: row.advisor_id,
    advisor: row.advisor,
    technician_ids: row.technician_ids,
    mileage_in: row.mileage_in,
    mileage_out: row.mileage_out,
    concern: row.concern,
    diagnosis: row.diagnosis,
    work_done: row.work_done,
    booked_in_at: toDateTime(row.booked_in_at),
    promised_at: toDateTime(row.promised_at),
    started_at: toDateTime(row.started_at),
    completed_at: toDateTime(row.completed_at),
    collected_at: toDateTime(row.collected_at),
    key_tag: row.key_tag,
    transport_option: row.transport_option,
    customer_order_number: row.customer_order_number,
    internal_notes: row.internal_notes,
    lines: row.lines.map((line) => toLine(line, currency)),
    totals: toTotals(row.lines, currency),
    invoice_id: row.invoice?.id ?? null,
    invoice: sees('sales:read') ? row.bill : null,
    invoice_status: row.invoice?.status ?? null,
    is_paid: isPaid(row),
    metadata: row.metadata,
    created_at: toDateTime(row.created_at),
    updated_at: toDateTime(row.updated_at),
  });
}

function toLine(line: LineRow, currency: string): JobLine {
  const money = (amount: number) => ({ amount, currency });
  const { net, vat, gross } = amountsOf(line);
  return {
    id: line.id,
    kind: line.kind,
    job_number: line.job_number,
    description: line.description,
    part_number: line.part_number,
    quantity: line.quantity,
    hours: line.hours,
    unit_price: money(line.unit_price),
    discount: money(line.discount),
    vat_code: line.vat_code,
    net: money(net),
    vat: money(vat),
    gross: money(gross),
    pay_type: line.pay_type,
    authorised: line.authorised,
    authorised_at: toDateTime(line.authorised_at),
    status: line.status,
    technician_id: line.technician_id,
    stock_state: line.stock_state,
  };
}

function toTotals(lines: readonly LineRow[], currency: string): JobCardTotals {
  const money = (amount: number) => ({ amount, currency });
  const { labour, parts, sublet, other, discount, net, vat, gross, authorised } = totalsOf(lines);
  return {
    labour: money(labour),
    parts: money(parts),
    sublet: money(sublet),
    other: money(other),
    discount: money(discount),
    net: money(net),
    vat: money(vat),
    gross: money(gross),
    authorised: money(authorised),
  };
}
