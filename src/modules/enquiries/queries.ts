import type { Expression, Selectable, SqlBool } from 'kysely';
import { sql } from 'kysely';
import type { Branches, Context } from '#platform/context.ts';
import type { Page } from '#platform/contract.ts';
import type { Instant } from '#platform/dates.ts';
import { readPage } from '#platform/db/pages.ts';
import type { DB } from '#platform/db/schema.ts';
import type {
  Attribution,
  Contact,
  EnquiryListQuery,
  EnquiryStatus,
  Finance,
  Note,
  PartExchange,
  StaffSummary,
  TestDrive,
  VehicleSummary,
  Wanted,
} from './contract.ts';

/** As the wire has it, but for amounts: these are kept in minor units. */
type Kept<T> = { [F in keyof T]: Extract<T[F], { amount: number }> extends never ? T[F] : number | null };

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

export interface CustomerNamed {
  readonly id: string;
  readonly reference: string;
  readonly display_name: string;
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
  customer: CustomerNamed | null;
  vehicle: VehicleSummary | null;
  assigned_to: StaffSummary | null;
  part_exchange: PartExchangeRow | null;
}

type Generated = 'contact_email' | 'contact_phone' | 'contact_mobile';

/** An enquiry as it is kept, with what it names. */
export type EnquiryRow = Omit<Selectable<DB['enquiry']>, keyof Documents | Generated> & Documents & Joined;

export type DetailedRow = EnquiryRow & { notes: Note[] };

const within = (branches: Branches, column: string) =>
  branches === 'all' ? sql`` : sql`and ${sql.ref(column)} = any(${branches}::uuid[])`;

const customerShown = sql`json_build_object('id', c.id, 'reference', c.reference, 'display_name', c.display_name)`;
const vehicleShown = sql`json_build_object(
  'id', v.id, 'stock_number', v.stock_number, 'registration', v.registration, 'make', v.make, 'model', v.model)`;
const memberShown = sql`json_build_object('id', s.id, 'name', s.name)`;

const customerOf = (branches: Branches) => sql<Joined['customer']>`(
  select ${customerShown} from customer c where c.dealer_id = enquiry.dealer_id and c.id = enquiry.customer_id and c.deleted_at is null ${within(branches, 'c.branch_id')})`;

const vehicleOf = (branches: Branches) => sql<Joined['vehicle']>`(
  select ${vehicleShown} from vehicle v where v.dealer_id = enquiry.dealer_id and v.id = enquiry.vehicle_id and v.deleted_at is null ${within(branches, 'v.branch_id')})`;

const assignedTo = sql<Joined['assigned_to']>`(
  select ${memberShown} from staff s where s.dealer_id = enquiry.dealer_id and s.id = enquiry.assigned_to_id)`.as('assigned_to');

const partExchange = sql<Joined['part_exchange']>`(
  select to_jsonb(p) - 'dealer_id' - 'enquiry_id'
  from part_exchange p where p.dealer_id = enquiry.dealer_id and p.enquiry_id = enquiry.id)`.as('part_exchange');

const notes = sql<Note[]>`(
  select coalesce(json_agg(json_build_object('id', n.id, 'body', n.body, 'created_at', n.created_at,
    'author', json_build_object('id', n.author_id, 'name', n.author_name, 'kind', n.author_kind)) order by n.created_at, n.id), '[]')
  from enquiry_note n where n.dealer_id = enquiry.dealer_id and n.enquiry_id = enquiry.id)`.as('notes');

/** Those within the caller's reach, tombstones among them. */
function reachable(ctx: Context) {
  const { branches } = ctx.caller;
  const rows = ctx.db
    .selectFrom('enquiry')
    .leftJoin('branch', (join) => join.onRef('branch.dealer_id', '=', 'enquiry.dealer_id').onRef('branch.id', '=', 'enquiry.branch_id'))
    .where('enquiry.dealer_id', '=', ctx.dealer.id)
    .selectAll('enquiry')
    .select([
      'branch.name as branch_name',
      customerOf(branches).as('customer'),
      vehicleOf(branches).as('vehicle'),
      assignedTo,
      partExchange,
    ]);
  return branches === 'all' ? rows : rows.where(sql<boolean>`enquiry.branch_id = any(${branches}::uuid[])`);
}

/** An enquiry that exists for this caller, with its notes. */
export const visibleEnquiry = (ctx: Context, id: string): Promise<DetailedRow | undefined> =>
  reachable(ctx)
    .select(notes)
    .where('enquiry.id', '=', id)
    .where('enquiry.deleted_at', 'is', null)
    .$castTo<DetailedRow>()
    .executeTakeFirst();

/** A page of them; the phone numbers of the filter are in E.164. */
export function pageOfEnquiries<T>(ctx: Context, query: EnquiryListQuery, toWire: (row: EnquiryRow) => T): Promise<Page<T>> {
  let from = reachable(ctx).$castTo<EnquiryRow>();
  // These two hold for tombstones as well.
  if (query.branch_id) from = from.where(sql<boolean>`enquiry.branch_id = any(${query.branch_id}::uuid[])`);
  if (query.external_id) from = from.where(sql<boolean>`enquiry.external_id = any(${query.external_id}::text[])`);
  const gone = sql<SqlBool>`enquiry.deleted_at is not null`;
  return readPage(ctx, { list: 'enquiries', table: 'enquiry', query, from, gone, matching: filters(query), toWire });
}

const unanswered = sql<SqlBool>`(enquiry.first_responded_at is null and enquiry.status = 'NEW')`;
const answered = sql<SqlBool>`enquiry.first_responded_at is not null`;

function filters(query: EnquiryListQuery): Expression<SqlBool>[] {
  const conditions: (Expression<SqlBool> | undefined | false)[] = [
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
  ];
  return conditions.filter((condition) => condition !== undefined && condition !== false);
}

// ---- What a write needs to know ----

/** What a write names. */
export interface Naming {
  readonly customerId: string | undefined;
  readonly vehicleId: string | null | undefined;
  readonly assignedToId: string | null | undefined;
  readonly externalId: string | null | undefined;
}

/** What is found of it in the dealership, wherever that lies. */
export interface NamedRows {
  readonly customer: { shown: CustomerNamed; branch_id: string } | null;
  readonly vehicle: { shown: VehicleSummary; branch_id: string } | null;
  readonly assigned_to: { shown: StaffSummary; status: string; all_branches: boolean; branch_ids: string[] } | null;
  /** Who has the external id now. */
  readonly holder: string | null;
}

export async function thingsNamed(ctx: Context, { customerId, vehicleId, assignedToId, externalId }: Naming): Promise<NamedRows> {
  const { rows } = await sql<NamedRows>`
    select
      (select json_build_object('shown', ${customerShown}, 'branch_id', c.branch_id)
         from customer c where c.dealer_id = d.id and c.id = ${customerId ?? null}::uuid and c.deleted_at is null) as customer,
      (select json_build_object('shown', ${vehicleShown}, 'branch_id', v.branch_id)
         from vehicle v where v.dealer_id = d.id and v.id = ${vehicleId ?? null}::uuid and v.deleted_at is null) as vehicle,
      (select json_build_object('shown', ${memberShown}, 'status', s.status, 'all_branches', s.all_branches, 'branch_ids', s.branch_ids)
         from staff s where s.dealer_id = d.id and s.id = ${assignedToId ?? null}::uuid) as assigned_to,
      (select e.id from enquiry e where e.dealer_id = d.id and e.external_id = ${externalId ?? null}::text and e.deleted_at is null) as holder
    from dealer d where d.id = ${ctx.dealer.id}`.execute(ctx.db);
  const [named] = rows;
  if (!named) throw new Error('The dealership is not there.');
  return named;
}

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
  deal_id: null,
  appointment_ids: [],
  metadata: {},
  deleted_at: null,
  created_at: '',
  updated_at: '',
  branch_name: null,
  customer: null,
  vehicle: null,
  assigned_to: null,
  part_exchange: null,
  notes: [],
};

const elsewhere = ['branch_name', 'customer', 'vehicle', 'assigned_to', 'part_exchange', 'notes'];
const fixed = ['dealer_id', 'id', 'reference', 'created_at'];
const columns = Object.keys(blankEnquiry).filter((column) => !elsewhere.includes(column));
const upsert = sql.raw(`
  insert into enquiry (${columns.join(', ')})
  select ${columns.join(', ')} from jsonb_populate_record(null::enquiry, `);
const onConflict = sql.raw(`)
  on conflict (dealer_id, id) do update set ${columns
    .filter((column) => !fixed.includes(column))
    .map((column) => `${column} = excluded.${column}`)
    .join(', ')}`);

/** Saves a new or changed enquiry; its part exchange and notes have their own tables. */
export async function saveEnquiry(tx: Context, row: EnquiryRow): Promise<void> {
  await sql`${upsert}${JSON.stringify(row)}::jsonb${onConflict}`.execute(tx.db);
}

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

/** Removes every enquiry of the dealership without a trace: for the sandbox's nightly reset. */
export async function eraseAll(tx: Context): Promise<void> {
  await tx.db.deleteFrom('enquiry_note').where('dealer_id', '=', tx.dealer.id).execute();
  await tx.db.deleteFrom('part_exchange').where('dealer_id', '=', tx.dealer.id).execute();
  await tx.db.deleteFrom('enquiry').where('dealer_id', '=', tx.dealer.id).execute();
}
