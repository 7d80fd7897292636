import type { Expression, Selectable, SqlBool } from 'kysely';
import { sql } from 'kysely';
import type { DealSummary } from '#modules/links/contract.ts';
import { summaryOf } from '#modules/links/index.ts';
import type { Context } from '#platform/context.ts';
import type { Page } from '#platform/contract.ts';
import { andWithin, keeperOf, pageOfRecords, rowsWithin, stamperOf } from '#platform/db/records.ts';
import type { DB } from '#platform/db/schema.ts';
import type { Service } from '#platform/service.ts';
import type { Advert, Feature, ImagesImport, Provenance, VehicleListQuery } from './contract.ts';
import type { Photo } from './photo-gallery.ts';

type Columns = Selectable<DB['vehicle']>;

/** What the columns of JSON hold. */
interface Documents {
  features: Feature[];
  images: readonly Photo[];
  images_import: ImagesImport | null;
  adverts: Advert[];
  provenance: Provenance | null;
  metadata: Record<string, string>;
}

/** What other tables tell of a vehicle: of the deal that holds it what the caller may see and, where a write is about it, its status. */
interface Joined {
  branch_name: string | null;
  deal: DealSummary | null;
  deal_status?: string | null;
}

/** A vehicle as it is kept, with what is told of it elsewhere. */
export type VehicleRow = Omit<Columns, keyof Documents> & Documents & Joined;

/** Those within the caller's reach, tombstones among them: what a list reads. For a publishable key a tombstone is a car that left the website. */
function reachable(ctx: Context) {
  const { kind, branches } = ctx.caller;
  const rows = rowsWithin(ctx, 'vehicle').$castTo<VehicleRow>();
  if (kind !== 'publishable') return rows.select(summaryOf('deal', 'vehicle', 'deal_id', branches).as('deal'));
  return rows.where(sql<boolean>`(vehicle.on_website or vehicle.left_website_at is not null)`);
}

const gone = (ctx: Context): Expression<SqlBool> =>
  ctx.caller.kind === 'publishable' ? sql<SqlBool>`not vehicle.on_website` : sql<SqlBool>`vehicle.deleted_at is not null`;

/** A vehicle that exists for this caller. */
export const visibleVehicle = (ctx: Context, id: string): Promise<VehicleRow | undefined> =>
  reachable(ctx)
    .where('vehicle.id', '=', id)
    .where(({ not }) => not(gone(ctx)))
    .executeTakeFirst();

export const pageOfVehicles = <T>(ctx: Context, query: VehicleListQuery, toWire: (row: VehicleRow) => T): Promise<Page<T>> =>
  pageOfRecords(ctx, {
    list: 'vehicles',
    table: 'vehicle',
    query,
    from: reachable(ctx),
    gone: gone(ctx),
    matching: filters(query),
    toWire,
  });

function filters(query: VehicleListQuery): (Expression<SqlBool> | undefined | false)[] {
  return [
    query.status && sql<SqlBool>`vehicle.status = any(${query.status}::vehicle_status[])`,
    query.type && sql<SqlBool>`vehicle.type = any(${query.type}::vehicle_type[])`,
    query.condition && sql<SqlBool>`vehicle.condition = any(${query.condition}::vehicle_condition[])`,
    query.make && sql<SqlBool>`lower(vehicle.make) = any(${lowered(query.make)}::text[])`,
    query.model && sql<SqlBool>`lower(vehicle.model) = any(${lowered(query.model)}::text[])`,
    query.registration && sql<SqlBool>`vehicle.registration = any(${query.registration}::text[])`,
    query.vin && sql<SqlBool>`vehicle.vin = any(${query.vin}::text[])`,
    query.stock_number && sql<SqlBool>`vehicle.stock_number = any(${query.stock_number}::text[])`,
    query.fuel_type && sql<SqlBool>`vehicle.fuel_type = any(${query.fuel_type}::fuel_type[])`,
    query.transmission && sql<SqlBool>`vehicle.transmission = any(${query.transmission}::transmission[])`,
    query.body_type && sql<SqlBool>`vehicle.body_type = any(${query.body_type}::body_type[])`,
    query.min_asking_price !== undefined && sql<SqlBool>`vehicle.asking_price >= ${query.min_asking_price}::bigint`,
    query.max_asking_price !== undefined && sql<SqlBool>`vehicle.asking_price <= ${query.max_asking_price}::bigint`,
    query.min_mileage !== undefined && sql<SqlBool>`vehicle.mileage >= ${query.min_mileage}::integer`,
    query.max_mileage !== undefined && sql<SqlBool>`vehicle.mileage <= ${query.max_mileage}::integer`,
    query.min_year !== undefined && sql<SqlBool>`vehicle.year_of_manufacture >= ${query.min_year}::integer`,
    query.max_year !== undefined && sql<SqlBool>`vehicle.year_of_manufacture <= ${query.max_year}::integer`,
    query.website_visible !== undefined && sql<SqlBool>`coalesce(vehicle.website_visible, false) = ${query.website_visible}::boolean`,
    query.has_images !== undefined && sql<SqlBool>`(vehicle.images <> '[]'::jsonb) = ${query.has_images}::boolean`,
    query.stocked_from !== undefined && sql<SqlBool>`vehicle.stocked_on >= ${query.stocked_from}::date`,
    query.stocked_to !== undefined && sql<SqlBool>`vehicle.stocked_on <= ${query.stocked_to}::date`,
    query.q !== undefined && beginsWith(query.q),
  ];
}

const lowered = (names: readonly string[]): string[] => names.map((name) => name.toLowerCase());

/** `_` and `%` mean themselves. */
const prefix = (text: string): string => `${text.replaceAll(/[\\%_]/g, '\\$&')}%`;

function beginsWith(q: string): Expression<SqlBool> {
  const plate = q.toUpperCase().replaceAll(/[\s-]+/g, '');
  const name = sql<SqlBool>`(vehicle.stock_number like ${prefix(q)} or lower(vehicle.make || ' ' || vehicle.model) like ${prefix(q.toLowerCase())})`;
  return plate === '' ? name : sql<SqlBool>`(vehicle.registration like ${prefix(plate)} or ${name})`;
}

// ---- What a write needs to know ----

/** What writes name, and so which vehicles they may concern. */
export interface Named {
  readonly ids: readonly string[];
  readonly externalIds: readonly string[];
  readonly registrations: readonly string[];
  readonly vins: readonly string[];
}

/**
 * The dealership’s vehicles that have one of these, deleted ones left out. Four look-ups by index: with OR between them PostgreSQL
 * walks through the whole stock until it has statistics of the table.
 */
export async function vehiclesNamed(ctx: Context, { ids, externalIds, registrations, vins }: Named): Promise<VehicleRow[]> {
  const { rows } = await sql<VehicleRow>`
    select vehicle.*, branch.name as branch_name, deal.status as deal_status, ${summaryOf('deal', 'vehicle', 'deal_id', ctx.caller.branches)} as deal
    from vehicle left join branch on branch.dealer_id = vehicle.dealer_id and branch.id = vehicle.branch_id
      left join deal on deal.dealer_id = vehicle.dealer_id and deal.id = vehicle.deal_id
    where vehicle.dealer_id = ${ctx.dealer.id}::uuid and vehicle.deleted_at is null and vehicle.id = any(array(
      select id from vehicle where dealer_id = ${ctx.dealer.id}::uuid and id = any(${ids}::uuid[])
      union all select id from vehicle where dealer_id = ${ctx.dealer.id}::uuid and deleted_at is null and external_id = any(${externalIds}::text[])
      union all select id from vehicle where dealer_id = ${ctx.dealer.id}::uuid and deleted_at is null and registration = any(${registrations}::text[])
      union all select id from vehicle where dealer_id = ${ctx.dealer.id}::uuid and deleted_at is null and vin = any(${vins}::text[])))`.execute(
    ctx.db,
  );
  return rows;
}

/** How the purchase order stands that a vehicle is on; null where it is on none. */
export async function orderStatusOf(ctx: Context, { cost_purchase_order_id: id }: VehicleRow): Promise<string | null> {
  const order = await ctx.db
    .selectFrom('purchase_order')
    .select('status')
    .where('dealer_id', '=', ctx.dealer.id)
    .where('id', '=', id)
    .executeTakeFirst();
  return order?.status ?? null;
}

/** How full the stock is. */
export interface Counted {
  /** Vehicles that count to a cap; not counted much beyond it. */
  readonly used: number;
  /** Of these the calling dealership's, in the sandbox. */
  readonly share: number;
}

const counted = sql<SqlBool>`vehicle.deleted_at is null and vehicle.status in ('DUE_IN', 'IN_PREPARATION', 'FOR_SALE', 'RESERVED', 'NOT_FOR_SALE')`;

/** Counts the stock of a dealership that has a cap. `most` bounds the counting. */
export async function stockCounted(ctx: Context, most: number): Promise<Counted> {
  const own = sql`select 1 from vehicle where vehicle.dealer_id = ${ctx.dealer.id} and ${counted}`;
  const shared = sql`${own} and vehicle.created_for_dealer_id = ${ctx.caller.callingDealerId}::uuid`;
  const { rows } = await sql<Counted>`
    select (select count(*) from (${own} limit ${most}::integer) c) as used,
      (select count(*) from (${shared} limit ${most}::integer) c) as share`.execute(ctx.db);
  return rows[0] ?? { used: 0, share: 0 };
}

/** How many vehicles count to the stock cap. */
export async function countStock(ctx: Context): Promise<number> {
  const { rows } = await sql<{ used: number }>`
    select count(*) as used from vehicle where vehicle.dealer_id = ${ctx.dealer.id} and ${counted}`.execute(ctx.db);
  return rows[0]?.used ?? 0;
}

// ---- Counting ----

/** The stock of one status. */
export interface StatusCount {
  readonly status: VehicleRow['status'];
  readonly count: number;
  /** Of those that have a price. */
  readonly value: number;
  readonly on_application: number;
}

/** The stock within reach by status, of one branch if it is named; statuses without a vehicle are left out. */
export async function countByStatus(ctx: Context, branchId: string | undefined): Promise<StatusCount[]> {
  const ofBranch = branchId === undefined ? sql`` : sql` and branch_id = ${branchId}::uuid`;
  const { rows } = await sql<StatusCount>`
    select status, count(*) as count, coalesce(sum(asking_price), 0) as value, count(*) filter (where price_on_application) as on_application
    from vehicle where dealer_id = ${ctx.dealer.id}::uuid and deleted_at is null${andWithin(ctx.caller.branches, 'branch_id')}${ofBranch}
    group by status`.execute(ctx.db);
  return rows;
}

// ---- Writing ----

/** A vehicle of which nothing is known yet; names every column. */
export const blankVehicle: VehicleRow = {
  dealer_id: '',
  id: '',
  external_id: null,
  stock_number: '',
  branch_id: '',
  status: 'IN_PREPARATION',
  status_changed_at: '',
  registration: null,
  vin: null,
  type: 'CAR',
  condition: 'USED',
  ex_demo: null,
  make: '',
  model: '',
  generation: null,
  derivative: null,
  trim: null,
  derivative_id: null,
  body_type: null,
  fuel_type: null,
  transmission: null,
  drivetrain: null,
  cab_type: null,
  wheelbase_type: null,
  axle_configuration: null,
  colour: null,
  manufacturer_colour: null,
  interior_colour: null,
  upholstery: null,
  doors: null,
  seats: null,
  gears: null,
  cylinders: null,
  driver_position: null,
  engine_capacity_cc: null,
  engine_power_bhp: null,
  engine_power_ps: null,
  engine_torque_nm: null,
  badge_engine_size_litres: null,
  engine_number: null,
  battery_capacity_kwh: null,
  battery_range_miles: null,
  battery_charge_minutes: null,
  battery_quick_charge_minutes: null,
  co2_g_km: null,
  emission_class: null,
  fuel_economy_combined_mpg: null,
  zero_to_sixty_seconds: null,
  top_speed_mph: null,
  insurance_group: null,
  payload_kg: null,
  gross_weight_kg: null,
  kerb_weight_kg: null,
  length_mm: null,
  width_mm: null,
  height_mm: null,
  boot_litres: null,
  first_registered_on: null,
  year_of_manufacture: null,
  mileage: null,
  mileage_unit: 'MILES',
  previous_keepers: null,
  number_of_keys: null,
  v5c_present: null,
  v5c_issued_on: null,
  mot_expires_on: null,
  mot_status: null,
  tax_status: null,
  tax_due_on: null,
  service_history: null,
  last_service_on: null,
  last_service_mileage: null,
  warranty_months: null,
  condition_interior: null,
  condition_body: null,
  condition_tyres: null,
  write_off_category: null,
  provenance: null,
  asking_price: null,
  price_on_application: false,
  previous_asking_price: null,
  price_changed_at: null,
  last_asking_price: null,
  last_price_ended_at: null,
  vat_scheme: null,
  price_vat_status: null,
  reservation_fee: null,
  cost_purchase_price: null,
  cost_purchased_on: null,
  cost_purchase_source: null,
  cost_supplier_name: null,
  cost_purchase_invoice_number: null,
  cost_purchase_vat_scheme: null,
  cost_purchase_order_id: null,
  cost_preparation: null,
  cost_other: null,
  due_in_on: null,
  stocked_on: null,
  website_visible: null,
  on_website: false,
  left_website_at: null,
  attention_grabber: null,
  description: null,
  features: [],
  video_url: null,
  spin_url: null,
  images: [],
  images_import: null,
  adverts: [],
  deal_id: null,
  internal_notes: null,
  metadata: {},
  created_for_dealer_id: '',
  deleted_at: null,
  created_at: '',
  updated_at: '',
  branch_name: null,
  deal: null,
};

/** Saves new and changed vehicles alike, all in one statement. */
export const saveVehicles = keeperOf<VehicleRow>({
  table: 'vehicle',
  blank: blankVehicle,
  elsewhere: ['branch_name', 'deal'],
  fixed: ['dealer_id', 'id', 'stock_number', 'created_for_dealer_id', 'created_at'],
});

/** For those of which the stock book tells something else now. */
export const stampVehicles = stamperOf('vehicle');

/** Lets PostgreSQL look at the stock once it has grown by much: plans made while it was small would walk through all of it. */
export async function noticeGrowth({ pools }: Service): Promise<void> {
  const { rowCount } = await pools.work.query(`
    select from pg_stat_user_tables s join pg_class c on c.oid = s.relid
    where s.relid = 'vehicle'::regclass and s.n_mod_since_analyze > 200 + 0.2 * greatest(c.reltuples, 0)`);
  if (rowCount) await pools.work.query('analyze (skip_locked) vehicle');
}

/** Puts a branch's vehicles on the website, or takes them off it: their time moves, as the website's lists must tell of it. */
export async function stampWebsite(tx: Context, branchId: string, published: boolean): Promise<void> {
  await sql`
    update vehicle
    set on_website = ${published}, left_website_at = case when ${published} then null else ${tx.now}::timestamptz end, updated_at = ${tx.now}::timestamptz
    where dealer_id = ${tx.dealer.id} and branch_id = ${branchId}::uuid and on_website is distinct from ${published}
      and deleted_at is null and website_visible and status in ('FOR_SALE', 'RESERVED')`.execute(tx.db);
}
