import type { Selectable, SqlBool } from 'kysely';
import { sql } from 'kysely';
import type { Contact } from '#modules/enquiries/contract.ts';
import type { Summaries } from '#modules/links/contract.ts';
import { summaryOf } from '#modules/links/index.ts';
import type { Context } from '#platform/context.ts';
import type { Page } from '#platform/contract.ts';
import { keeperOf, pageOfRecords, rowsWithin } from '#platform/db/records.ts';
import type { DB } from '#platform/db/schema.ts';
import type { AppointmentListQuery, AppointmentLocation, AppointmentStatus, CustomerVehicle } from './contract.ts';

/** What the columns of text and JSON hold. */
interface Documents {
  status: AppointmentStatus;
  location: AppointmentLocation;
  contact: Contact | null;
  customer_vehicle: CustomerVehicle | null;
  metadata: Record<string, string>;
}

/** What other tables tell of an appointment, as far as the caller may see it. */
interface Joined {
  branch_name: string | null;
  customer: Summaries['customer'] | null;
  enquiry: Summaries['enquiry'] | null;
  deal: Summaries['deal'] | null;
  vehicle: Summaries['vehicle'] | null;
  assigned_to: Summaries['staff'] | null;
  job_card_id: string | null;
  job_card: Summaries['job_card'] | null;
}

/** An appointment as it is kept, with what it names. */
export type AppointmentRow = Omit<Selectable<DB['appointment']>, keyof Documents> & Documents & Joined;

const jobCardId = sql<string | null>`(
  select j.id from job_card j where j.dealer_id = appointment.dealer_id and j.appointment_id = appointment.id and j.deleted_at is null
  order by j.created_at desc, j.id desc limit 1)`;

/** Those within the caller's reach, tombstones among them. */
function reachable(ctx: Context) {
  const { branches } = ctx.caller;
  return rowsWithin(ctx, 'appointment')
    .select([
      summaryOf('customer', 'appointment', 'customer_id', branches).as('customer'),
      summaryOf('enquiry', 'appointment', 'enquiry_id', branches).as('enquiry'),
      summaryOf('deal', 'appointment', 'deal_id', branches).as('deal'),
      summaryOf('vehicle', 'appointment', 'vehicle_id', branches).as('vehicle'),
      summaryOf('staff', 'appointment', 'assigned_to_id', branches).as('assigned_to'),
      jobCardId.as('job_card_id'),
      summaryOf('job_card', 'appointment', jobCardId, branches).as('job_card'),
    ])
    .$castTo<AppointmentRow>();
}

/** An appointment that exists for this caller. */
export const visibleAppointment = (ctx: Context, id: string): Promise<AppointmentRow | undefined> =>
  reachable(ctx).where('appointment.id', '=', id).where('appointment.deleted_at', 'is', null).executeTakeFirst();

/** A page of them; the time span of the filter is in moments. */
export const pageOfAppointments = <T>(ctx: Context, query: AppointmentListQuery, toWire: (row: AppointmentRow) => T): Promise<Page<T>> =>
  pageOfRecords(ctx, {
    list: 'appointments',
    table: 'appointment',
    query,
    from: reachable(ctx),
    matching: [
      query.starts_from !== undefined && sql<SqlBool>`appointment.starts_at >= ${query.starts_from}::timestamptz`,
      query.starts_to !== undefined && sql<SqlBool>`appointment.starts_at <= ${query.starts_to}::timestamptz`,
      query.status && sql<SqlBool>`appointment.status = any(${query.status}::text[])`,
      query.type && sql<SqlBool>`appointment.type = any(${query.type}::text[])`,
      query.customer_id && sql<SqlBool>`appointment.customer_id = any(${query.customer_id}::uuid[])`,
      query.vehicle_id && sql<SqlBool>`appointment.vehicle_id = any(${query.vehicle_id}::uuid[])`,
      query.assigned_to_id && sql<SqlBool>`appointment.assigned_to_id = any(${query.assigned_to_id}::uuid[])`,
    ],
    toWire,
  });

// ---- Writing ----

/** An appointment of which nothing is known yet; names every column. It lasts as long as one of which nothing is said. */
export const blankAppointment: AppointmentRow = {
  dealer_id: '',
  id: '',
  external_id: null,
  branch_id: '',
  type: '',
  status: 'BOOKED',
  starts_at: '1970-01-01T00:00:00.000000Z',
  ends_at: '1970-01-01T00:30:00.000000Z',
  customer_id: null,
  contact: null,
  enquiry_id: null,
  deal_id: null,
  vehicle_id: null,
  customer_vehicle: null,
  assigned_to_id: null,
  location: 'BRANCH',
  transport_option: null,
  notes: null,
  source: 'API',
  cancelled_at: null,
  cancellation_reason: null,
  metadata: {},
  deleted_at: null,
  created_at: '',
  updated_at: '',
  branch_name: null,
  customer: null,
  enquiry: null,
  deal: null,
  vehicle: null,
  assigned_to: null,
  job_card_id: null,
  job_card: null,
};

/** Saves new and changed appointments alike. */
export const saveAppointments = keeperOf<AppointmentRow>({
  table: 'appointment',
  blank: blankAppointment,
  elsewhere: ['branch_name', 'customer', 'enquiry', 'deal', 'vehicle', 'assigned_to', 'job_card_id', 'job_card'],
  fixed: ['dealer_id', 'id', 'source', 'created_at'],
});
