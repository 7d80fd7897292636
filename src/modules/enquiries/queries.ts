import type { Selectable, SqlBool } from 'kysely';
import { sql } from 'kysely';
import type { CustomerSummary, DealSummary, StaffSummary, VehicleSummary } from '#modules/links/contract.ts';
import { summaryOf } from '#modules/links/index.ts';
import type { Context } from '#platform/context.ts';
import type { Page } from '#platform/contract.ts';
import type { Instant } from '#platform/dates.ts';
import { keeperOf, pageOfRecords, rowsWithin, stamperOf } from '#platform/db/records.ts';
import type { DB } from '#platform/db/schema.ts';
import type { Kept } from '#platform/money.ts';
import type { Attribution, Contact, EnquiryListQuery, EnquiryStatus, Finance, Note, PartExchange, TestDrive, Wanted } from './contract.ts';

export type KeptWanted = Kept<Wanted>;
export type KeptFinance = Kept<Finance>;
export type KeptTestDrive = TestDrive;
export type PartExchangeRow = Kept<PartExchange> & { status: Selectable<DB['part_exchange']>['status'] };

export interface ConsentRow {
  readonly email: boolean;
  readonly sms: boolean;
  readonly phone: boolean;
  readonly post: boolean;
  readonly wording: string | null;
  readonly recorded_at: Instant;
}

/** What the columns of text and JSON hold. */
interface Documents {
  status: EnquiryStatus;
  contact: Contact | null;
  wanted: KeptWanted | null;
  finance: KeptFinance | null;
  test_drive: KeptTestDrive | null;
  marketing_consent: ConsentRow | null;
  attribution: Attribution | null;
  metadata: Record<string, string>;
}

/** What other tables tell of an enquiry, as far as the caller may see it. */
interface Joined {
  branch_name: string | null;
  customer: CustomerSummary | null;
  vehicle: VehicleSummary | null;
  assigned_to: StaffSummary | null;
  part_exchange: PartExchangeRow | null;
  deal_id: string | null;
  appointment_ids: string[];
}

type Generated = 'contact_email' | 'contact_phone' | 'contact_mobile';

/** An enquiry as it is kept, with what it names. */
export type EnquiryRow = Omit<Selectable<DB['enquiry']>, keyof Documents | Generated> & Documents & Joined;

/** What has come of its deals. */
interface Dealt {
  readonly invoiced: boolean;
  readonly exchange: 'AGREED' | 'RECEIVED' | null;
}

export type DetailedRow = EnquiryRow & { deal: DealSummary | null; dealt: Dealt; notes: Note[] };

const partExchange = sql<Joined['part_exchange']>`(
  select to_jsonb(p) - 'dealer_id' - 'enquiry_id'
  from part_exchange p where p.dealer_id = enquiry.dealer_id and p.enquiry_id = enquiry.id)`.as('part_exchange');

/** The deal that holds a car, else the quote, else what was cancelled; of several the newest. */
const dealId = sql<string | null>`(
  select d.id from deal d where d.dealer_id = enquiry.dealer_id and d.enquiry_id = enquiry.id and d.deleted_at is null
  order by array_position(array['CANCELLED', 'QUOTE'], d.status) desc nulls first, d.created_at desc, d.id desc limit 1)`;

const appointments = sql<string[]>`array(
  select a.id from appointment a where a.dealer_id = enquiry.dealer_id and a.enquiry_id = enquiry.id and a.deleted_at is null
  order by a.starts_at, a.id)`.as('appointment_ids');

const notes = sql<Note[]>`(
  select coalesce(json_agg(json_build_object('id', n.id, 'body', n.body, 'created_at', n.created_at,
    'author', json_build_object('id', n.author_id, 'name', n.author_name, 'kind', n.author_kind)) order by n.created_at, n.id), '[]')
  from enquiry_note n where n.dealer_id = enquiry.dealer_id and n.enquiry_id = enquiry.id)`.as('notes');

/** A part exchange that was received stays so, whatever becomes of the deal. */
const dealt = sql<Dealt>`(
  select json_build_object('invoiced', coalesce(bool_or(d.status in ('SOLD', 'DELIVERED')), false), 'exchange', case
    when bool_or(d.part_exchanges @> '[{"status": "RECEIVED"}]') then 'RECEIVED'
    when bool_or(d.deleted_at is null and d.status <> 'CANCELLED' and d.part_exchanges @> '[{"status": "AGREED"}]') then 'AGREED' end)
  from deal d where d.dealer_id = enquiry.dealer_id and d.enquiry_id = enquiry.id)`.as('dealt');

/** Those within the caller's reach, tombstones among them. */
function reachable(ctx: Context) {
  const { branches } = ctx.caller;
  return rowsWithin(ctx, 'enquiry').select([
    summaryOf('customer', 'enquiry', 'customer_id', branches).as('customer'),
    summaryOf('vehicle', 'enquiry', 'vehicle_id', branches).as('vehicle'),
    summaryOf('staff', 'enquiry', 'assigned_to_id', branches).as('assigned_to'),
    partExchange,
    dealId.as('deal_id'),
    appointments,
  ]);
}

/** An enquiry that exists for this caller, with its notes. */
export const visibleEnquiry = (ctx: Context, id: string): Promise<DetailedRow | undefined> =>
  reachable(ctx)
    .select([summaryOf('deal', 'enquiry', dealId, ctx.caller.branches).as('deal'), dealt, notes])
    .where('enquiry.id', '=', id)
    .where('enquiry.deleted_at', 'is', null)
    .$castTo<DetailedRow>()
    .executeTakeFirst();

/** A page of them; the phone numbers of the filter are in E.164. */
export const pageOfEnquiries = <T>(ctx: Context, query: EnquiryListQuery, toWire: (row: EnquiryRow) => T): Promise<Page<T>> =>
  pageOfRecords(ctx, {
    list: 'enquiries',
    table: 'enquiry',
    query,
    from: reachable(ctx).$castTo<EnquiryRow>(),
    matching: [
      query.status && sql<SqlBool>`enquiry.status = any(${query.status}::text[])`,
      query.type && sql<SqlBool>`enquiry.type = any(${query.type}::text[])`,
      query.source && sql<SqlBool>`enquiry.source = any(${query.source}::text[])`,
      query.customer_id && sql<SqlBool>`enquiry.customer_id = any(${query.customer_id}::uuid[])`,
      query.vehicle_id && sql<SqlBool>`enquiry.vehicle_id = any(${query.vehicle_id}::uuid[])`,
      query.assigned_to_id && sql<SqlBool>`enquiry.assigned_to_id = any(${query.assigned_to_id}::uuid[])`,
      query.email && sql<SqlBool>`enquiry.contact_email = any(${query.email}::text[])`,
      query.phone &&
        sql<SqlBool>`(enquiry.contact_mobile = any(${query.phone}::text[]) or enquiry.contact_phone = any(${query.phone}::text[]))`,
      query.unanswered !== undefined && (query.unanswered ? unanswered : answered),
    ],
    toWire,
  });

const unanswered = sql<SqlBool>`(enquiry.first_responded_at is null and enquiry.status = 'NEW')`;
const answered = sql<SqlBool>`enquiry.first_responded_at is not null`;

// ---- Writing ----

/** An enquiry of which nothing is known yet; names every column. */
export const blankEnquiry: DetailedRow = {
  dealer_id: '',
  id: '',
  reference: '',
  external_id: null,
  branch_id: '',
  status: 'NEW',
  type: 'SALES',
  source: 'API',
  source_detail: null,
  channel: null,
  customer_id: '',
  contact: null,
  message: null,
  vehicle_id: null,
  wanted: null,
  finance: null,
  test_drive: null,
  assigned_to_id: null,
  lost_reason: null,
  lost_note: null,
  first_responded_at: null,
  contacted_at: null,
  next_action_at: null,
  marketing_consent: null,
  attribution: null,
  metadata: {},
  deleted_at: null,
  created_at: '',
  updated_at: '',
  branch_name: null,
  customer: null,
  vehicle: null,
  assigned_to: null,
  part_exchange: null,
  deal_id: null,
  appointment_ids: [],
  deal: null,
  dealt: { invoiced: false, exchange: null },
  notes: [],
};

/** Saves new and changed enquiries alike; their part exchanges and notes have tables of their own. */
export const saveEnquiries = keeperOf<DetailedRow>({
  table: 'enquiry',
  blank: blankEnquiry,
  elsewhere: ['branch_name', 'customer', 'vehicle', 'assigned_to', 'part_exchange', 'deal_id', 'appointment_ids', 'deal', 'dealt', 'notes'],
  fixed: ['dealer_id', 'id', 'reference', 'created_at'],
});

/** For those whose deals or appointments are others now. */
export const stampEnquiries = stamperOf('enquiry');

/** Saves the part exchange of an enquiry, or removes it. */
export async function savePartExchange(tx: Context, enquiryId: string, partExchange: PartExchangeRow | null): Promise<void> {
  if (partExchange === null) {
    await tx.db.deleteFrom('part_exchange').where('dealer_id', '=', tx.dealer.id).where('enquiry_id', '=', enquiryId).execute();
    return;
  }
  const row = { ...partExchange, dealer_id: tx.dealer.id, enquiry_id: enquiryId };
  await tx.db
    .insertInto('part_exchange')
    .values(row)
    .onConflict((conflict) => conflict.columns(['dealer_id', 'id']).doUpdateSet(row))
    .execute();
}

export async function insertNote(tx: Context, enquiryId: string, { id, body, author, created_at }: Note): Promise<void> {
  const { id: author_id, name: author_name, kind: author_kind } = author;
  await tx.db
    .insertInto('enquiry_note')
    .values({ dealer_id: tx.dealer.id, enquiry_id: enquiryId, id, body, author_id, author_name, author_kind, created_at })
    .execute();
}
