import { isDeepStrictEqual } from 'node:util';
import type { Instant } from '#platform/dates.ts';
import { parseInstant, wholeSecond } from '#platform/dates.ts';
import type { Provenance, VehicleChanges } from './contract.ts';
import type { Place } from './photo-gallery.ts';
import { isImporting, isOpen } from './photo-gallery.ts';
import type { BatchPlace } from './photo-queries.ts';
import type { VehicleRow } from './queries.ts';
import { blankVehicle } from './queries.ts';
import { isOnWebsite } from './rules.ts';

// What a write makes of a vehicle.

/** The fields that are kept as they are written, under the same name. */
const plain = [
  ...(['external_id', 'branch_id', 'status', 'registration', 'vin', 'condition', 'ex_demo', 'make', 'model', 'generation'] as const),
  ...([
    'derivative',
    'trim',
    'derivative_id',
    'body_type',
    'fuel_type',
    'transmission',
    'drivetrain',
    'cab_type',
    'wheelbase_type',
  ] as const),
  ...(['axle_configuration', 'colour', 'manufacturer_colour', 'interior_colour', 'upholstery', 'doors', 'seats', 'gears'] as const),
  ...(['cylinders', 'driver_position', 'engine_capacity_cc', 'engine_power_bhp', 'engine_power_ps', 'engine_torque_nm'] as const),
  ...(['badge_engine_size_litres', 'engine_number', 'battery_capacity_kwh', 'battery_range_miles', 'battery_charge_minutes'] as const),
  ...(['battery_quick_charge_minutes', 'co2_g_km', 'emission_class', 'fuel_economy_combined_mpg', 'zero_to_sixty_seconds'] as const),
  ...(['top_speed_mph', 'insurance_group', 'payload_kg', 'gross_weight_kg', 'kerb_weight_kg', 'length_mm', 'width_mm'] as const),
  ...(['height_mm', 'boot_litres', 'first_registered_on', 'year_of_manufacture', 'mileage', 'previous_keepers', 'number_of_keys'] as const),
  ...(['v5c_present', 'v5c_issued_on', 'mot_expires_on', 'service_history', 'last_service_on', 'last_service_mileage'] as const),
  ...(['warranty_months', 'write_off_category', 'asking_price', 'vat_scheme', 'price_vat_status', 'reservation_fee', 'due_in_on'] as const),
  ...(['stocked_on', 'attention_grabber', 'description', 'video_url', 'spin_url', 'internal_notes', 'website_visible'] as const),
] as const satisfies readonly (keyof VehicleRow & keyof VehicleChanges)[];

const costColumns = {
  purchase_price: 'cost_purchase_price',
  purchased_on: 'cost_purchased_on',
  purchase_source: 'cost_purchase_source',
  supplier_name: 'cost_supplier_name',
  purchase_invoice_number: 'cost_purchase_invoice_number',
  purchase_vat_scheme: 'cost_purchase_vat_scheme',
  other: 'cost_other',
} as const satisfies Record<keyof NonNullable<VehicleChanges['costs']>, keyof VehicleRow>;

const conditionColumns = { interior: 'condition_interior', body: 'condition_body', tyres: 'condition_tyres' } as const;

/** The vehicle with the changes written over it, as a merge patch. */
export function written(before: VehicleRow, changes: VehicleChanges): VehicleRow {
  const after = { ...before };
  assign(after, changes, plain);
  if (changes.type !== undefined) after.type = changes.type ?? 'CAR';
  if (changes.mileage_unit !== undefined) after.mileage_unit = changes.mileage_unit ?? 'MILES';
  if (changes.price_on_application !== undefined) after.price_on_application = changes.price_on_application ?? false;
  if (typeof changes.asking_price === 'number') after.price_on_application = false;
  if (after.price_on_application) after.asking_price = null;
  if (changes.conditions !== undefined) merge(after, changes.conditions, conditionColumns);
  if (changes.costs !== undefined) merge(after, changes.costs, costColumns);
  if (changes.features !== undefined) after.features = changes.features ?? [];
  if (changes.provenance !== undefined) after.provenance = changes.provenance && withProvenance(before.provenance, changes.provenance);
  if (changes.metadata !== undefined) after.metadata = changes.metadata === null ? {} : withMetadata(before.metadata, changes.metadata);
  return after;
}

function assign(after: VehicleRow, changes: VehicleChanges, fields: typeof plain): void {
  for (const field of fields) if (changes[field] !== undefined) Object.assign(after, { [field]: changes[field] });
}

/** An object that is kept in columns: null clears them all. */
function merge(
  after: VehicleRow,
  changes: Readonly<Record<string, unknown>> | null,
  columns: Readonly<Record<string, keyof VehicleRow>>,
): void {
  for (const [field, column] of Object.entries(columns)) {
    if (changes === null) Object.assign(after, { [column]: null });
    else if (changes[field] !== undefined) Object.assign(after, { [column]: changes[field] });
  }
}

const nothingFound: Provenance = {
  provider: null,
  reference: null,
  checked_at: null,
  outcome: null,
  outstanding_finance: null,
  stolen: null,
  scrapped: null,
  imported: null,
  exported: null,
  high_risk: null,
  mileage_discrepancy: null,
  plate_changes: null,
  colour_changes: null,
  keeper_changes: null,
  previous_registrations: [],
};

function withProvenance(before: Provenance | null, changes: NonNullable<VehicleChanges['provenance']>): Provenance {
  const { checked_at: checkedAt, previous_registrations: registrations, ...rest } = changes;
  const known = before ?? nothingFound;
  return {
    ...known,
    ...withoutUndefined(rest),
    checked_at: checkedAt === undefined ? known.checked_at : checkedAt && wholeSecond(parseInstant(checkedAt)),
    previous_registrations: registrations === undefined ? known.previous_registrations : (registrations ?? []),
  };
}

const withMetadata = (before: Record<string, string>, changes: Record<string, string | null>): Record<string, string> =>
  Object.fromEntries(Object.entries({ ...before, ...changes }).filter((entry): entry is [string, string] => entry[1] !== null));

const withoutUndefined = <T extends object>(some: T): { [K in keyof T]: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(some).filter(([, value]) => value !== undefined)) as { [K in keyof T]: Exclude<T[K], undefined> };

/** The vehicle with the gallery that is asked for: at once when nothing must be fetched for it, else it is imported. */
export function withGallery(vehicle: VehicleRow, { places }: Gallery): VehicleRow {
  const requested = places.filter(isOpen).length;
  if (requested > 0) return { ...vehicle, images_import: { state: 'running', requested, failed: [] } };
  const images = places.flatMap((place) => (isOpen(place) ? [] : [place.photo]));
  const { images_import } = vehicle;
  return {
    ...vehicle,
    images,
    images_import: images_import && isImporting(vehicle) ? { ...images_import, state: 'failed' } : images_import,
  };
}

/** The gallery a write asks for; `forItem` is final when its import has ended. */
export interface Gallery {
  readonly places: readonly Place[];
  readonly forItem: BatchPlace | null;
}

/** A write as it will be saved and told. */
export interface Settled {
  readonly before: VehicleRow | null;
  readonly after: VehicleRow;
  /** The fields of the API that differ; of a new vehicle those that hold something. */
  readonly changed: readonly string[];
  /** Where photos are written. */
  readonly gallery?: Gallery | undefined;
}

/** Draws the consequences of a change: the times, the price before, the website. */
export function settled(
  before: VehicleRow | null,
  after: VehicleRow,
  branch: { name: string; published: boolean } | undefined,
  now: Instant,
): Settled {
  const next = { ...after, branch_name: branch?.name ?? null };
  if (next.status === 'FOR_SALE') next.website_visible ??= true;
  if (next.status !== before?.status) next.status_changed_at = now;
  rememberPrice(before, next, now);
  next.on_website = isOnWebsite(next, branch?.published ?? false);
  if (before?.on_website && !next.on_website) next.left_website_at = now;
  if (next.on_website) next.left_website_at = null;
  const changed = fieldsThatDiffer(before ?? blankVehicle, next);
  if (!before || changed.length > 0 || next.deleted_at !== before.deleted_at || next.images_import !== before.images_import)
    next.updated_at = now;
  return { before, after: next, changed };
}

/** The price before: one that was cleared is kept until the next, which may be the same again. */
function rememberPrice(before: VehicleRow | null, next: VehicleRow, now: Instant): void {
  if (!before || before.asking_price === next.asking_price) return;
  const [last, endedAt] =
    before.asking_price === null ? [before.last_asking_price, before.last_price_ended_at] : [before.asking_price, now];
  if (next.asking_price === null) {
    next.last_asking_price = last;
    next.last_price_ended_at = endedAt;
    return;
  }
  if (last !== null && last !== next.asking_price) {
    next.previous_asking_price = last;
    next.price_changed_at = endedAt;
  }
  next.last_asking_price = null;
  next.last_price_ended_at = null;
}

/** Whether there is anything to save: a `website_visible` said for the first time shows nowhere, but is kept. */
export const isNews = ({ before, after, changed }: Settled): boolean =>
  !before ||
  changed.length > 0 ||
  before.website_visible !== after.website_visible ||
  before.deleted_at !== after.deleted_at ||
  before.images_import !== after.images_import;

/** The names, as the API has them, of what can be seen to differ. */
function fieldsThatDiffer(before: VehicleRow, after: VehicleRow): string[] {
  const differs = (column: keyof VehicleRow) => before[column] !== after[column];
  const fields: string[] = plain.filter((field) => field !== 'website_visible' && differs(field));
  for (const field of ['type', 'mileage_unit', 'price_on_application', 'deal_id', 'mot_status', 'tax_status', 'tax_due_on'] as const)
    if (differs(field)) fields.push(field);
  for (const field of ['features', 'provenance', 'metadata', 'images'] as const) {
    if (before[field] !== after[field] && !isDeepStrictEqual(before[field], after[field])) fields.push(field);
  }
  if (Object.values(conditionColumns).some(differs)) fields.push('conditions');
  const derived = ['cost_preparation', 'cost_purchase_order_id'] as const;
  if ([...Object.values(costColumns), ...derived].some(differs)) fields.push('costs');
  if ((before.website_visible ?? false) !== (after.website_visible ?? false)) fields.push('website_visible');
  return fields;
}
