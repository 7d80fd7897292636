import type { Expression, Selectable, SqlBool } from 'kysely';
import { sql } from 'kysely';
import type { Context } from '#platform/context.ts';
import type { Page } from '#platform/contract.ts';
import type { Instant } from '#platform/dates.ts';
import { andWithin, keeperOf, pageOfRecords, rowsWithin, stamperOf } from '#platform/db/records.ts';
import type { DB } from '#platform/db/schema.ts';
import type { Branches } from '#platform/reach.ts';
import type { Consent, Customer, CustomerListQuery, OwnedVehicle } from './contract.ts';

export type Address = NonNullable<Customer['address']>;

/** What the columns of JSON hold. */
interface Documents {
  address: Address | null;
  marketing_consent: Consent | null;
  metadata: Record<string, string>;
}

/** What came of a customer's enquiries, as far as the caller may see them. */
interface Dealings {
  readonly enquiries: number;
  readonly deals: number;
  readonly contacted: Instant | null;
}

/** A customer as it is kept, with the name of its branch, and what other tables tell of it. */
export type CustomerRow = Omit<Selectable<DB['customer']>, keyof Documents | 'postcode'> &
  Documents & { branch_name: string | null; dealings: Dealings };

/** `everywhere` is what events tell: they are the same for all who read them. */
export type DetailedRow = CustomerRow & { everywhere: Dealings; owned_vehicles: OwnedVehicle[] };

const dealingsWithin = (branches: Branches) => sql<Dealings>`(
  select json_build_object('enquiries', count(*), 'contacted', max(e.contacted_at), 'deals', (
    select count(*) from deal d
    where d.dealer_id = customer.dealer_id and d.customer_id = customer.id and d.deleted_at is null${andWithin(branches, 'd.branch_id')}))
  from enquiry e
  where e.dealer_id = customer.dealer_id and e.customer_id = customer.id and e.deleted_at is null${andWithin(branches, 'e.branch_id')})`;

const ownedVehicles = sql<OwnedVehicle[]>`(
  select coalesce(json_agg(json_build_object('id', v.id, 'registration', v.registration, 'vin', v.vin, 'make', v.make, 'model', v.model,
    'mileage', v.mileage, 'mot_expires_on', v.mot_expires_on, 'next_service_on', v.next_service_on) order by v.id), '[]')
  from customer_vehicle v where v.dealer_id = customer.dealer_id and v.customer_id = customer.id)`.as('owned_vehicles');

/** Those within the caller's reach, tombstones among them. */
const reachable = (ctx: Context) => rowsWithin(ctx, 'customer').select(dealingsWithin(ctx.caller.branches).as('dealings'));

/** A customer that exists for this caller. */
export const visibleCustomer = (ctx: Context, id: string): Promise<DetailedRow | undefined> =>
  reachable(ctx)
    .select([dealingsWithin('all').as('everywhere'), ownedVehicles])
    .where('customer.id', '=', id)
    .where('customer.deleted_at', 'is', null)
    .$castTo<DetailedRow>()
    .executeTakeFirst();

/** A page of them; the filters are in the form in which names and numbers are kept. */
export const pageOfCustomers = <T>(ctx: Context, query: CustomerListQuery, toWire: (row: CustomerRow) => T): Promise<Page<T>> =>
  pageOfRecords(ctx, {
    list: 'customers',
    table: 'customer',
    query,
    from: reachable(ctx).$castTo<CustomerRow>(),
    matching: [
      query.type && sql<SqlBool>`customer.type = any(${query.type}::customer_type[])`,
      query.email && sql<SqlBool>`customer.email = any(${query.email}::text[])`,
      query.phone && sql<SqlBool>`(customer.mobile = any(${query.phone}::text[]) or customer.phone = any(${query.phone}::text[]))`,
      query.postcode && sql<SqlBool>`customer.postcode = any(${query.postcode}::text[])`,
      query.registration &&
        sql<SqlBool>`customer.id in (
          select v.customer_id from customer_vehicle v where v.dealer_id = ${ctx.dealer.id} and v.registration = any(${query.registration}::text[]))`,
      query.q !== undefined && namesBeginWith(query.q),
    ],
    toWire,
  });

/** In the order of bytes, all that begins with a text lies between it and the text before the last character there is. */
function namesBeginWith(key: string): Expression<SqlBool> {
  const end = `${key}\u{10ffff}`;
  const begins = (column: string) => sql`(${sql.ref(column)} >= ${key} and ${sql.ref(column)} < ${end})`;
  return sql<SqlBool>`(${begins('customer.last_name_key')} or ${begins('customer.full_name_key')} or ${begins('customer.company_key')})`;
}

// ---- What a write needs to know ----

/** Someone as a contact is looked for. */
export interface Sought {
  readonly email: string | null;
  readonly numbers: readonly string[];
  readonly lastNameKey: string | null;
}

/** A customer as far as others are taken for them. */
export type KnownRow = Pick<
  CustomerRow,
  'id' | 'reference' | 'display_name' | 'email' | 'mobile' | 'phone' | 'last_name_key' | 'company_key'
>;

/** The customers within reach who have the e-mail or one of the numbers: those first who are meant before others. */
export async function customersReachedBy(ctx: Context, { email, numbers, lastNameKey }: Sought): Promise<KnownRow[]> {
  const { branches } = ctx.caller;
  const { rows } = await sql<KnownRow>`
    select id, reference, display_name, email, mobile, phone, last_name_key, company_key from customer
    where dealer_id = ${ctx.dealer.id}::uuid and deleted_at is null
      and (email = ${email}::text or mobile = any(${numbers}::text[]) or phone = any(${numbers}::text[]))
      ${andWithin(branches, 'branch_id')}
    order by last_name_key = ${lastNameKey}::text desc nulls last, email = ${email}::text desc nulls last,
      (mobile = ${numbers[0] ?? null}::text or phone = ${numbers[0] ?? null}::text) desc nulls last, created_at, id limit 100`.execute(
    ctx.db,
  );
  return rows;
}

/** What names a customer and is not deleted, wherever in the dealership it lies. */
export async function holdingsOf(ctx: Context, id: string): Promise<Record<'enquiries' | 'deals' | 'job_cards' | 'invoices', number>> {
  const count = (table: 'enquiry' | 'deal' | 'job_card' | 'invoice') =>
    sql`(select count(*) from ${sql.table(table)} x where x.dealer_id = ${ctx.dealer.id}::uuid and x.customer_id = ${id}::uuid${
      table === 'invoice' ? sql`` : sql` and x.deleted_at is null`
    })`;
  const { rows } = await sql<Awaited<ReturnType<typeof holdingsOf>>>`
    select ${count('enquiry')} as enquiries, ${count('deal')} as deals, ${count('job_card')} as job_cards, ${count('invoice')} as invoices`.execute(
    ctx.db,
  );
  return rows[0]!;
}

// ---- Writing ----

/** A customer of whom nothing is known yet; names every column. */
export const blankCustomer: DetailedRow = {
  dealer_id: '',
  id: '',
  reference: '',
  external_id: null,
  branch_id: '',
  type: 'INDIVIDUAL',
  title: null,
  first_name: null,
  last_name: null,
  company_name: null,
  display_name: '',
  last_name_key: null,
  full_name_key: null,
  company_key: null,
  email: null,
  mobile: null,
  phone: null,
  address: null,
  preferred_contact_method: null,
  marketing_consent: null,
  do_not_contact: false,
  vat_number: null,
  account_number: null,
  tags: [],
  metadata: {},
  deleted_at: null,
  created_at: '',
  updated_at: '',
  branch_name: null,
  dealings: { enquiries: 0, deals: 0, contacted: null },
  everywhere: { enquiries: 0, deals: 0, contacted: null },
  owned_vehicles: [],
};

/** Saves new and changed customers alike. */
export const saveCustomers = keeperOf<DetailedRow>({
  table: 'customer',
  blank: blankCustomer,
  elsewhere: ['branch_name', 'dealings', 'everywhere', 'owned_vehicles'],
  fixed: ['dealer_id', 'id', 'reference', 'created_at'],
});

/** For those whose enquiries and deals are counted anew. */
export const stampCustomers = stamperOf('customer');

/** Saves a new or changed car of a customer's. */
export async function saveOwnedVehicle(tx: Context, customerId: string, vehicle: OwnedVehicle): Promise<void> {
  const row = { ...vehicle, dealer_id: tx.dealer.id, customer_id: customerId };
  await tx.db
    .insertInto('customer_vehicle')
    .values(row)
    .onConflict((conflict) => conflict.columns(['dealer_id', 'id']).doUpdateSet(row))
    .execute();
}
