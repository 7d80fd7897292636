import type { Reader } from '#platform/context.ts';
import { toDateTime } from '#platform/dates.ts';
import type { Consent, Customer, CustomerDetails } from './contract.ts';
import type { CustomerRow, DetailedRow } from './queries.ts';

/** The view of one reader, to be used for row after row. */
export function customerView({ scopes }: Reader): (row: CustomerRow) => Customer {
  const seesBranches = scopes.includes('branches:read');
  return (row) => ({
    id: row.id,
    reference: row.reference,
    external_id: row.external_id,
    branch_id: row.branch_id,
    branch: seesBranches && row.branch_name !== null ? { id: row.branch_id, name: row.branch_name } : null,
    type: row.type,
    title: row.title,
    first_name: row.first_name,
    last_name: row.last_name,
    company_name: row.company_name,
    display_name: row.display_name,
    email: row.email,
    mobile: row.mobile,
    phone: row.phone,
    address: row.address,
    preferred_contact_method: row.preferred_contact_method,
    marketing_consent: toConsent(row.marketing_consent),
    do_not_contact: row.do_not_contact,
    vat_number: row.vat_number,
    account_number: row.account_number,
    tags: row.tags,
    enquiry_count: row.dealings.enquiries,
    deal_count: row.dealings.deals,
    last_contacted_at: toDateTime(row.dealings.contacted),
    metadata: row.metadata,
    created_at: toDateTime(row.created_at),
    updated_at: toDateTime(row.updated_at),
  });
}

/** The same with the cars known to be theirs. */
export function detailsView(reader: Reader): (row: DetailedRow) => CustomerDetails {
  const show = customerView(reader);
  return (row) => ({ ...show(row), owned_vehicles: row.owned_vehicles });
}

/** A consent as it is shown. */
export const toConsent = (consent: Consent | null): Consent | null =>
  consent && { ...consent, recorded_at: toDateTime(consent.recorded_at) };
