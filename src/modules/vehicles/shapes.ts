import { z } from 'zod';
import { shownBranch } from '#modules/house/contract.ts';
import { shownDeal } from '#modules/links/contract.ts';
import {
  codeOf,
  date,
  dateTime,
  externalIdField,
  id,
  metadataChanges,
  minorUnits,
  moment,
  money,
  needing,
  text,
  whole,
} from '#platform/contract.ts';
import {
  advertChannels,
  axleConfigurations,
  bodyTypes,
  cabTypes,
  conditionGrades,
  drivetrains,
  firstStatus,
  fuelTypes,
  motStatuses,
  purchaseSources,
  serviceHistories,
  taxStatuses,
  transmissions,
  vatSchemes,
  vehicleStatuses,
  vehicleTypes,
  wheelbaseTypes,
  writeOffCategories,
} from './codes.ts';
import { image, imagesImport, publicImage, wantedPhotos } from './photo-shapes.ts';

// ---- What is written as it is read ----

const most = 999_999;
const line = (max: number) => text(max).nullable();
const count = (max = most) => whole(0, max).nullable();
const quantity = z
  .number({ error: 'A number.' })
  .min(0, { error: 'Must not be negative.' })
  .max(most, { error: `At most ${most}.` })
  .nullable();
const yes = z.boolean({ error: 'Either true or false.' }).nullable();
const day = date.nullable();
const address = text(2048)
  .refine((value) => URL.canParse(value) && /^https:\/\/[^\s]+$/i.test(value), { error: 'An https address.' })
  .nullable();

const type = codeOf('vehicle-types', vehicleTypes);
const condition = z.enum(['NEW', 'USED'], { error: 'Either NEW or USED.' });
const mileageUnit = z.enum(['MILES', 'KM'], { error: 'Either MILES or KM.' });
const vatScheme = codeOf('vat-schemes', vatSchemes);
const grade = codeOf('condition-grades', conditionGrades).nullable();

const model = { generation: line(120), derivative: line(120), trim: line(120), derivative_id: line(64) };

const build = {
  body_type: codeOf('body-types', bodyTypes).nullable(),
  fuel_type: codeOf('fuel-types', fuelTypes).nullable(),
  transmission: codeOf('transmissions', transmissions).nullable(),
  drivetrain: codeOf('drivetrains', drivetrains).nullable(),
  cab_type: codeOf('cab-types', cabTypes).nullable(),
  wheelbase_type: codeOf('wheelbase-types', wheelbaseTypes).nullable(),
  axle_configuration: codeOf('axle-configurations', axleConfigurations).nullable(),
  colour: line(60),
  manufacturer_colour: line(60).describe('The maker’s own name of the colour.'),
  interior_colour: line(60),
  upholstery: line(60),
  doors: count(7),
  seats: count(99),
  gears: count(99),
  cylinders: count(99),
  driver_position: z.enum(['LEFT', 'RIGHT'], { error: 'Either LEFT or RIGHT.' }).nullable(),
};

const engine = {
  engine_capacity_cc: count(),
  engine_power_bhp: count(),
  engine_power_ps: count(),
  engine_torque_nm: count(),
  badge_engine_size_litres: z
    .number({ error: 'A number.' })
    .min(0, { error: 'Must not be negative.' })
    .max(99.9, { error: 'At most 99.9.' })
    .multipleOf(0.1, { error: 'At most one decimal place.' })
    .nullable()
    .describe('At most one decimal place.'),
  engine_number: line(60),
  battery_capacity_kwh: quantity,
  battery_range_miles: count(),
  battery_charge_minutes: count(),
  battery_quick_charge_minutes: count(),
  co2_g_km: count(),
  emission_class: line(60),
  fuel_economy_combined_mpg: quantity,
  zero_to_sixty_seconds: quantity,
  top_speed_mph: count(),
  insurance_group: line(20),
};

const size = {
  payload_kg: count(),
  gross_weight_kg: count(),
  kerb_weight_kg: count(),
  length_mm: count(),
  width_mm: count(),
  height_mm: count(),
  boot_litres: count(),
};

const history = {
  first_registered_on: day,
  year_of_manufacture: whole(1885, 9999).nullable().describe('1885 to next year.'),
  mileage: count(9_999_999),
};

const papers = {
  previous_keepers: count(99),
  number_of_keys: count(9),
  v5c_present: yes,
  v5c_issued_on: day,
  mot_expires_on: day,
};

const upkeep = {
  service_history: codeOf('service-histories', serviceHistories).nullable(),
  last_service_on: day,
  last_service_mileage: count(9_999_999),
  warranty_months: count(999),
};

const stock = { due_in_on: day, stocked_on: day };
const advert = { attention_grabber: line(30), description: line(5000) };
const media = { video_url: address, spin_url: address };

const conditions = z.strictObject({ interior: grade, body: grade, tyres: grade });
const writeOffCategory = codeOf('write-off-categories', writeOffCategories).nullable();
const priceVatStatus = z.enum(['INC_VAT', 'EX_VAT', 'NO_VAT'], { error: 'One of INC_VAT, EX_VAT, NO_VAT.' }).nullable();
const outcome = z.enum(['CLEAR', 'CAUTION', 'FAIL'], { error: 'One of CLEAR, CAUTION, FAIL.' }).nullable();
const featureType = z.enum(['STANDARD', 'OPTIONAL'], { error: 'Either STANDARD or OPTIONAL.' });

const markers = {
  outcome,
  outstanding_finance: yes,
  stolen: yes,
  scrapped: yes,
  imported: yes,
  exported: yes,
  high_risk: yes,
  mileage_discrepancy: yes,
  plate_changes: count(999),
  colour_changes: count(999),
  keeper_changes: count(999),
};

const purchase = {
  purchased_on: day,
  purchase_source: z
    .string()
    .regex(new RegExp(`^(?:${purchaseSources.join('|')}|X_[A-Z0-9_]{1,60})$`), {
      error: 'Not a code of the reference list "purchase-sources".',
    })
    .nullable()
    .describe(`A code of the reference list "purchase-sources": ${purchaseSources.join(', ')}, or one of the dealer’s own.`),
  supplier_name: line(120),
  purchase_invoice_number: line(60),
  purchase_vat_scheme: vatScheme.nullable(),
};

// ---- Requests ----

/** A registration: upper case, without spaces and hyphens. */
export const registration = z
  .string()
  .regex(/^[\s-]*(?:[A-Za-z0-9][\s-]*){2,8}$/, { error: '2 to 8 letters and digits; spaces and hyphens do not matter.' })
  .transform((value) => value.toUpperCase().replace(/[\s-]+/g, ''));

/** Whether the VIN may be of the free form depends on the vehicle: a rule. */
export const vin = text(17).toUpperCase().min(5, { error: 'At least 5 characters.' });

/** A status the API never sets is an error of shape, like a status that does not exist. */
const settable = z.enum(vehicleStatuses, { error: 'Not a code of the reference list "vehicle-statuses".' }).exclude(['SOLD', 'DELIVERED'], {
  error: ({ input }) =>
    input === 'SOLD' || input === 'DELIVERED'
      ? `${input} is set by the deal when the vehicle is ${input === 'SOLD' ? 'invoiced' : 'handed over'}.`
      : 'Not a code of the reference list "vehicle-statuses".',
});

const amount = minorUnits.nullable();

/** What may be written, each in the form of a merge patch: absent leaves it, null clears it, an object is merged, an array replaced. */
const writable = {
  external_id: externalIdField,
  branch_id: id.describe('Of a new vehicle the default branch, or the key’s only one, unless it is given.'),
  status: settable.describe(`${firstStatus} of a new vehicle, unless it is given.`),
  registration: registration.nullable(),
  vin: vin.nullable(),
  type: type.nullable().describe('CAR unless it is given.'),
  condition,
  ex_demo: yes,
  make: text(60),
  model: text(60),
  ...model,
  ...build,
  ...engine,
  ...size,
  ...history,
  mileage_unit: mileageUnit.nullable().describe('MILES unless it is given.'),
  ...papers,
  ...upkeep,
  conditions: conditions.partial().nullable(),
  write_off_category: writeOffCategory,
  provenance: z
    .strictObject({
      provider: line(120),
      reference: line(120),
      checked_at: moment.nullable(),
      ...markers,
      previous_registrations: z.array(text(20)).max(100, { error: 'At most 100.' }).nullable(),
    })
    .partial()
    .nullable()
    .describe('What a provenance check found.'),
  asking_price: amount.describe('Minor units. Writing an amount sets `price_on_application` to false.'),
  price_on_application: yes.describe('Writing true clears `asking_price`.'),
  vat_scheme: vatScheme.nullable(),
  price_vat_status: priceVatStatus,
  reservation_fee: amount.describe('Minor units: the deposit that reserves the vehicle.'),
  costs: z
    .strictObject({ purchase_price: amount, ...purchase, other: amount })
    .partial()
    .nullable()
    .describe('Needs the scope `vehicles:costs`.'),
  ...stock,
  website_visible: yes.describe('Becomes true when the vehicle is first FOR_SALE, unless it was written before.'),
  ...advert,
  features: z
    .array(z.strictObject({ name: text(80), type: featureType.default('STANDARD') }))
    .max(300, { error: 'At most 300 features.' })
    .nullable(),
  ...media,
  images: wantedPhotos,
  internal_notes: line(10_000),
  metadata: metadataChanges,
};

const noContradiction = {
  check: (changes: { asking_price?: number | null | undefined; price_on_application?: boolean | null | undefined }) =>
    !(changes.price_on_application === true && typeof changes.asking_price === 'number'),
  params: { path: ['asking_price'], error: 'Either an amount, or price_on_application.' },
};

const changes = z.strictObject(writable).partial();

/** The body of a change: any of the writable fields. */
export const vehicleChanges = changes.refine(noContradiction.check, noContradiction.params);
export type VehicleChanges = z.output<typeof vehicleChanges>;

/** The body of a creation: `condition`, and `make` and `model` unless a look-up of the registration yields them. */
export const newVehicle = changes
  .extend({ condition })
  .refine(noContradiction.check, noContradiction.params)
  .superRefine((vehicle, ctx) => {
    if (vehicle.registration) return;
    for (const field of ['make', 'model'] as const) {
      if (vehicle[field] === undefined)
        ctx.addIssue({ code: 'custom', path: [field], message: 'Required, unless a registration is given.' });
    }
  })
  .meta(needing([['make', 'model'], ['registration']]));

export type NewVehicle = z.output<typeof newVehicle>;

/** An item of a batch: the writable fields and, if it is known, the id. */
export const batchItem = changes.extend({ id: id.nullable().optional() }).refine(noContradiction.check, noContradiction.params);
export type BatchItem = z.output<typeof batchItem>;

// ---- Responses ----

const uuid = z.string().meta({ format: 'uuid' });
const price = money.nullable();

const advertState = z
  .object({
    channel: z
      .string()
      .describe(`A code of the reference list "advert-channels": ${advertChannels.join(', ')}, or one of the dealer’s own.`),
    status: z.enum(['PUBLISHED', 'NOT_PUBLISHED', 'REJECTED', 'CAPPED']),
    updated_at: dateTime,
  })
  .meta({ id: 'Advert' });
export type Advert = z.output<typeof advertState>;

const provenance = z
  .object({
    provider: z.string().nullable(),
    reference: z.string().nullable(),
    checked_at: dateTime.nullable(),
    ...markers,
    previous_registrations: z.array(z.string()),
  })
  .meta({ id: 'Provenance', description: 'What a provenance check found.' });
export type Provenance = z.output<typeof provenance>;

const costs = z
  .object({
    purchase_price: price,
    ...purchase,
    purchase_order_id: uuid.nullable(),
    preparation: price.describe('The sum of the internal job cards.'),
    other: price,
    stand_in_value: price.describe('Purchase price, preparation and other costs together.'),
  })
  .meta({ id: 'VehicleCosts', description: 'Only with the scope `vehicles:costs`.' });
export type Costs = z.output<typeof costs>;

const feature = z.object({ name: z.string(), type: featureType }).meta({ id: 'Feature' });
export type Feature = z.output<typeof feature>;

/** A vehicle as the API returns it. */
export const vehicle = z
  .object({
    id: uuid,
    external_id: z.string().nullable(),
    stock_number: z.string().describe('Sequential per dealership, never used again.'),
    branch_id: uuid,
    branch: shownBranch,
    status: z.enum(vehicleStatuses),
    status_changed_at: dateTime,
    registration: z.string().nullable(),
    vin: z.string().nullable(),
    type,
    condition,
    ex_demo: yes,
    make: z.string(),
    model: z.string(),
    ...model,
    title: z.string().describe('Built from year, make, model and derivative.'),
    ...build,
    ...engine,
    ...size,
    ...history,
    mileage_unit: mileageUnit,
    ...papers,
    mot_status: z.enum(motStatuses).nullable(),
    tax_status: z.enum(taxStatuses).nullable(),
    tax_due_on: day,
    ...upkeep,
    conditions: conditions.meta({ id: 'VehicleConditions' }),
    write_off_category: writeOffCategory,
    provenance: provenance.nullable(),
    asking_price: price,
    price_on_application: z.boolean(),
    previous_asking_price: price.describe('The last different price of the last 30 days, if it was higher.'),
    vat_scheme: vatScheme.nullable(),
    price_vat_status: priceVatStatus,
    reservation_fee: price,
    costs: costs.nullable().describe('Null without the scope `vehicles:costs`.'),
    ...stock,
    days_in_stock: z.int().nullable(),
    website_visible: z.boolean(),
    ...advert,
    features: z.array(feature),
    ...media,
    images: z.array(image),
    images_import: imagesImport.nullable(),
    adverts: z.array(advertState),
    deal_id: uuid.nullable().describe('The live deal, if any.'),
    deal: shownDeal,
    internal_notes: z.string().nullable(),
    metadata: z.record(z.string(), z.string()),
    created_at: dateTime,
    updated_at: dateTime,
  })
  .meta({ id: 'Vehicle' });
export type Vehicle = z.output<typeof vehicle>;

/** What a publishable key sees of a vehicle. */
export const publicVehicle = vehicle
  .pick({
    id: true,
    stock_number: true,
    branch_id: true,
    branch: true,
    status: true,
    registration: true,
    type: true,
    condition: true,
    ex_demo: true,
    make: true,
    model: true,
    generation: true,
    derivative: true,
    trim: true,
    title: true,
    body_type: true,
    fuel_type: true,
    transmission: true,
    drivetrain: true,
    cab_type: true,
    wheelbase_type: true,
    axle_configuration: true,
    colour: true,
    manufacturer_colour: true,
    interior_colour: true,
    upholstery: true,
    doors: true,
    seats: true,
    gears: true,
    cylinders: true,
    driver_position: true,
    engine_capacity_cc: true,
    engine_power_bhp: true,
    engine_power_ps: true,
    engine_torque_nm: true,
    badge_engine_size_litres: true,
    battery_capacity_kwh: true,
    battery_range_miles: true,
    battery_charge_minutes: true,
    battery_quick_charge_minutes: true,
    co2_g_km: true,
    emission_class: true,
    fuel_economy_combined_mpg: true,
    zero_to_sixty_seconds: true,
    top_speed_mph: true,
    insurance_group: true,
    payload_kg: true,
    gross_weight_kg: true,
    kerb_weight_kg: true,
    length_mm: true,
    width_mm: true,
    height_mm: true,
    boot_litres: true,
    first_registered_on: true,
    year_of_manufacture: true,
    mileage: true,
    mileage_unit: true,
    previous_keepers: true,
    number_of_keys: true,
    mot_expires_on: true,
    mot_status: true,
    tax_status: true,
    tax_due_on: true,
    service_history: true,
    last_service_on: true,
    last_service_mileage: true,
    warranty_months: true,
    conditions: true,
    write_off_category: true,
    asking_price: true,
    price_on_application: true,
    previous_asking_price: true,
    price_vat_status: true,
    reservation_fee: true,
    attention_grabber: true,
    description: true,
    features: true,
    video_url: true,
    spin_url: true,
    created_at: true,
    updated_at: true,
  })
  .extend({ images: z.array(publicImage) })
  .meta({ id: 'PublicVehicle', description: 'A vehicle of the website-visible stock, as publishable keys see it.' });
export type PublicVehicle = z.output<typeof publicVehicle>;
