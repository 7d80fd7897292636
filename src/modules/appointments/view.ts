import type { Reader } from '#platform/context.ts';
import type { Scope } from '#platform/contract.ts';
import { toDateTime } from '#platform/dates.ts';
import type { Appointment } from './contract.ts';
import type { AppointmentRow } from './queries.ts';

/** The view of one reader, to be used for row after row. */
export function appointmentView({ scopes }: Reader): (row: AppointmentRow) => Appointment {
  const sees = (scope: Scope) => scopes.includes(scope);
  const [seesBranches, seesCustomers, seesEnquiries] = [sees('branches:read'), sees('customers:read'), sees('enquiries:read')];
  const [seesDeals, seesVehicles, seesJobCards] = [sees('sales:read'), sees('vehicles:read'), sees('workshop:read')];
  return (row) => ({
    id: row.id,
    external_id: row.external_id,
    branch_id: row.branch_id,
    branch: seesBranches && row.branch_name !== null ? { id: row.branch_id, name: row.branch_name } : null,
    type: row.type,
    status: row.status,
    starts_at: toDateTime(row.starts_at),
    ends_at: toDateTime(row.ends_at),
    customer_id: row.customer_id,
    customer: seesCustomers ? row.customer : null,
    contact: row.contact,
    enquiry_id: row.enquiry_id,
    enquiry: seesEnquiries ? row.enquiry : null,
    deal_id: row.deal_id,
    deal: seesDeals ? row.deal : null,
    vehicle_id: row.vehicle_id,
    vehicle: seesVehicles ? row.vehicle : null,
    customer_vehicle: row.customer_vehicle,
    job_card_id: row.job_card_id,
    job_card: seesJobCards ? row.job_card : null,
    assigned_to_id: row.assigned_to_id,
    assigned_to: row.assigned_to,
    location: row.location,
    transport_option: row.transport_option,
    notes: row.notes,
    source: row.source,
    cancelled_at: toDateTime(row.cancelled_at),
    cancellation_reason: row.cancellation_reason,
    metadata: row.metadata,
    created_at: toDateTime(row.created_at),
    updated_at: toDateTime(row.updated_at),
  });
}
