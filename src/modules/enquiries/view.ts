import { toConsent } from '#modules/customers/index.ts';
import type { Reader } from '#platform/context.ts';
import { toDateTime } from '#platform/dates.ts';
import { toMoney } from '#platform/money.ts';
import type { Enquiry, EnquiryWithNotes, Note } from './contract.ts';
import type { DetailedRow, EnquiryRow } from './queries.ts';

/** The view of one reader, to be used for row after row. */
export function enquiryView({ currency, scopes }: Reader): (row: EnquiryRow) => Enquiry {
  const seesBranches = scopes.includes('branches:read');
  const seesCustomers = scopes.includes('customers:read');
  const seesVehicles = scopes.includes('vehicles:read');
  return (row) => ({
    id: row.id,
    reference: row.reference,
    external_id: row.external_id,
    branch_id: row.branch_id,
    branch: seesBranches && row.branch_name !== null ? { id: row.branch_id, name: row.branch_name } : null,
    status: row.status,
    type: row.type,
    source: row.source,
    source_detail: row.source_detail,
    channel: row.channel,
    customer_id: row.customer_id,
    customer: seesCustomers ? row.customer : null,
    contact: row.contact,
    message: row.message,
    vehicle_id: row.vehicle_id,
    vehicle: seesVehicles ? row.vehicle : null,
    wanted: row.wanted && {
      ...row.wanted,
      min_price: toMoney(row.wanted.min_price, currency),
      max_price: toMoney(row.wanted.max_price, currency),
    },
    part_exchange: partExchangeOf(row, currency),
    finance: row.finance && {
      ...row.finance,
      deposit: toMoney(row.finance.deposit, currency),
      monthly_budget: toMoney(row.finance.monthly_budget, currency),
    },
    test_drive: row.test_drive && { ...row.test_drive, preferred_at: toDateTime(row.test_drive.preferred_at) },
    assigned_to_id: row.assigned_to_id,
    assigned_to: row.assigned_to,
    lost_reason: row.lost_reason,
    lost_note: row.lost_note,
    first_responded_at: toDateTime(row.first_responded_at),
    next_action_at: toDateTime(row.next_action_at),
    marketing_consent: toConsent(row.marketing_consent),
    attribution: row.attribution,
    deal_id: row.deal_id,
    appointment_ids: row.appointment_ids,
    metadata: row.metadata,
    created_at: toDateTime(row.created_at),
    updated_at: toDateTime(row.updated_at),
  });
}

/** The same with its deal and its notes. */
export function detailsView(reader: Reader): (row: DetailedRow) => EnquiryWithNotes {
  const show = enquiryView(reader);
  const seesDeals = reader.scopes.includes('sales:read');
  return (row) => ({ ...show(row), deal: seesDeals ? row.deal : null, notes: row.notes.map(toNote) });
}

export const toNote = (note: Note): Note => ({ ...note, created_at: toDateTime(note.created_at) });

function partExchangeOf({ part_exchange: offer }: EnquiryRow, currency: string): Enquiry['part_exchange'] {
  if (!offer) return null;
  const { status: _status, outstanding_finance, expected_value, valuation, valued_at, ...same } = offer;
  return {
    ...same,
    outstanding_finance: toMoney(outstanding_finance, currency),
    expected_value: toMoney(expected_value, currency),
    valuation: toMoney(valuation, currency),
    valued_at: toDateTime(valued_at),
  };
}
