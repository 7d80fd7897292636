import type { Reader } from '#platform/context.ts';
import type { Tombstone } from '#platform/contract.ts';
import { dateIn, daysBetween, fromMillis, toDateTime, toMillis } from '#platform/dates.ts';
import { toMoney } from '#platform/money.ts';
import { toTombstone as tombstoneOf } from '#platform/records.ts';
import type { Costs, PublicVehicle, Vehicle } from './contract.ts';
import { toImage, toPublicImage } from './photo-gallery.ts';
import type { VehicleRow } from './queries.ts';

/** The view of one reader, to be used for row after row. */
export function vehicleView(reader: Reader): (row: VehicleRow) => Vehicle {
  const { currency, scopes } = reader;
  const showPublic = publicView(reader);
  const today = dateIn(reader.timeZone, reader.now);
  const [seesCosts, seesDeals] = [scopes.includes('vehicles:costs'), scopes.includes('sales:read')];
  return (row) => ({
    ...showPublic(row),
    external_id: row.external_id,
    status_changed_at: toDateTime(row.status_changed_at),
    vin: row.vin,
    derivative_id: row.derivative_id,
    engine_number: row.engine_number,
    v5c_present: row.v5c_present,
    v5c_issued_on: row.v5c_issued_on,
    provenance: row.provenance && {
      ...row.provenance,
      checked_at: toDateTime(row.provenance.checked_at),
    },
    vat_scheme: row.vat_scheme,
    costs: seesCosts ? costsOf(row, currency) : null,
    due_in_on: row.due_in_on,
    stocked_on: row.stocked_on,
    days_in_stock: row.stocked_on === null ? null : Math.max(0, daysBetween(row.stocked_on, today)),
    website_visible: row.website_visible ?? false,
    images: row.images.map((photo, position) => toImage(photo, position, reader.addressOf)),
    images_import: row.images_import,
    adverts: row.adverts.map((advert) => ({ ...advert, updated_at: toDateTime(advert.updated_at) })),
    deal_id: row.deal_id,
    deal: seesDeals ? row.deal : null,
    internal_notes: row.internal_notes,
    metadata: row.metadata,
  });
}

/** What everyone may see of website-visible stock, field by field. */
export function publicView(reader: Reader): (row: VehicleRow) => PublicVehicle {
  const { currency } = reader;
  const seesBranches = reader.scopes.includes('branches:read');
  const since = fromMillis(toMillis(reader.now) - previousPriceMs);
  return (row) => ({
    id: row.id,
    stock_number: row.stock_number,
    branch_id: row.branch_id,
    branch: seesBranches && row.branch_name !== null ? { id: row.branch_id, name: row.branch_name } : null,
    status: row.status,
    registration: row.registration,
    type: row.type,
    condition: row.condition,
    ex_demo: row.ex_demo,
    make: row.make,
    model: row.model,
    generation: row.generation,
    derivative: row.derivative,
    trim: row.trim,
    title: titleOf(row),
    body_type: row.body_type,
    fuel_type: row.fuel_type,
    transmission: row.transmission,
    drivetrain: row.drivetrain,
    cab_type: row.cab_type,
    wheelbase_type: row.wheelbase_type,
    axle_configuration: row.axle_configuration,
    colour: row.colour,
    manufacturer_colour: row.manufacturer_colour,
    interior_colour: row.interior_colour,
    upholstery: row.upholstery,
    doors: row.doors,
    seats: row.seats,
    gears: row.gears,
    cylinders: row.cylinders,
    driver_position: row.driver_position,
    engine_capacity_cc: row.engine_capacity_cc,
    engine_power_bhp: row.engine_power_bhp,
    engine_power_ps: row.engine_power_ps,
    engine_torque_nm: row.engine_torque_nm,
    badge_engine_size_litres: row.badge_engine_size_litres,
    battery_capacity_kwh: row.battery_capacity_kwh,
    battery_range_miles: row.battery_range_miles,
    battery_charge_minutes: row.battery_charge_minutes,
    battery_quick_charge_minutes: row.battery_quick_charge_minutes,
    co2_g_km: row.co2_g_km,
    emission_class: row.emission_class,
    fuel_economy_combined_mpg: row.fuel_economy_combined_mpg,
    zero_to_sixty_seconds: row.zero_to_sixty_seconds,
    top_speed_mph: row.top_speed_mph,
    insurance_group: row.insurance_group,
    payload_kg: row.payload_kg,
    gross_weight_kg: row.gross_weight_kg,
    kerb_weight_kg: row.kerb_weight_kg,
    length_mm: row.length_mm,
    width_mm: row.width_mm,
    height_mm: row.height_mm,
    boot_litres: row.boot_litres,
    first_registered_on: row.first_registered_on,
    year_of_manufacture: row.year_of_manufacture,
    mileage: row.mileage,
    mileage_unit: row.mileage_unit,
    previous_keepers: row.previous_keepers,
    number_of_keys: row.number_of_keys,
    mot_expires_on: row.mot_expires_on,
    mot_status: row.mot_status,
    tax_status: row.tax_status,
    tax_due_on: row.tax_due_on,
    service_history: row.service_history,
    last_service_on: row.last_service_on,
    last_service_mileage: row.last_service_mileage,
    warranty_months: row.warranty_months,
    conditions: { interior: row.condition_interior, body: row.condition_body, tyres: row.condition_tyres },
    write_off_category: row.write_off_category,
    asking_price: toMoney(row.asking_price, currency),
    price_on_application: row.price_on_application,
    previous_asking_price: toMoney(
      isReduced(row) && row.price_changed_at !== null && row.price_changed_at > since ? row.previous_asking_price : null,
      currency,
    ),
    price_vat_status: row.price_vat_status,
    reservation_fee: toMoney(row.reservation_fee, currency),
    attention_grabber: row.attention_grabber,
    description: row.description,
    features: row.features,
    video_url: row.video_url,
    spin_url: row.spin_url,
    images: row.images.map((photo, position) => toPublicImage(photo, position, reader.addressOf)),
    created_at: toDateTime(row.created_at),
    updated_at: toDateTime(row.updated_at),
  });
}

/** What is left of a vehicle that was deleted or, for a publishable key, has left the website. */
export const toTombstone = (row: VehicleRow): Tombstone => tombstoneOf({ ...row, deleted_at: row.deleted_at ?? row.left_website_at });

const previousPriceMs = 30 * 86_400_000;

const isReduced = ({ asking_price: now, previous_asking_price: before }: VehicleRow): boolean =>
  now !== null && before !== null && before > now;

/** What a vehicle is called. */
export const titleOf = ({
  year_of_manufacture,
  make,
  model,
  derivative,
}: Pick<VehicleRow, 'year_of_manufacture' | 'make' | 'model' | 'derivative'>): string =>
  [year_of_manufacture, make, model, derivative]
    .filter((part) => part !== null)
    .join(' ')
    .slice(0, 160)
    .replace(/[\ud800-\udbff]$/, '');

/** The stand-in value is what the car has cost so far; it is known once the purchase price is. */
function costsOf(row: VehicleRow, currency: string): Costs {
  const { cost_purchase_price: purchase, cost_preparation: preparation, cost_other: other } = row;
  return {
    purchase_price: toMoney(purchase, currency),
    purchased_on: row.cost_purchased_on,
    purchase_source: row.cost_purchase_source,
    supplier_name: row.cost_supplier_name,
    purchase_invoice_number: row.cost_purchase_invoice_number,
    purchase_vat_scheme: row.cost_purchase_vat_scheme,
    purchase_order_id: row.cost_purchase_order_id,
    preparation: toMoney(preparation, currency),
    other: toMoney(other, currency),
    stand_in_value: toMoney(purchase === null ? null : purchase + (preparation ?? 0) + (other ?? 0), currency),
  };
}
