create type vehicle_status as enum ('DUE_IN', 'IN_PREPARATION', 'FOR_SALE', 'RESERVED', 'SOLD', 'DELIVERED', 'NOT_FOR_SALE', 'DISPOSED');
create type vehicle_type as enum ('CAR', 'VAN', 'BIKE', 'MOTORHOME', 'CARAVAN', 'TRUCK', 'PLANT', 'FARM', 'CROSSOVER');
create type vehicle_condition as enum ('NEW', 'USED');
create type body_type as enum (
  'CONVERTIBLE', 'COUPE', 'ESTATE', 'HATCHBACK', 'HEARSE', 'LIMOUSINE', 'MPV', 'SUV', 'SALOON',
  'BOX_VAN', 'CAMPER', 'CAR_DERIVED_VAN', 'CHASSIS_CAB', 'COMBI_VAN', 'CURTAIN_SIDE', 'DROPSIDE', 'HIGH_ROOF_VAN', 'LOW_LOADER', 'LUTON',
  'MINIBUS', 'PANEL_VAN', 'PICKUP', 'SPECIALIST_VEHICLE', 'TEMPERATURE_CONTROLLED', 'TIPPER', 'VEHICLE_TRANSPORTER', 'WINDOW_VAN', 'WELFARE',
  'ADVENTURE', 'COMMUTER', 'CUSTOM_CRUISER', 'ENDURO', 'MINIBIKE', 'MOPED', 'MOTOCROSSER', 'NAKED', 'QUAD_ATV', 'ROADSTER_RETRO', 'SCOOTER',
  'SIDECAR', 'SPECIAL', 'SPORTS_TOURER', 'SUPER_MOTO', 'SUPER_SPORTS', 'THREE_WHEELER', 'TOURER', 'TRAIL_BIKE',
  'A_CLASS', 'AMERICAN_RV', 'C_CLASS', 'CAMPERVAN', 'COACH_BUILT', 'HIGH_TOP', 'LOW_PROFILE', 'MICRO_MOTORHOME', 'VAN_CONVERSION');
create type fuel_type as enum (
  'PETROL', 'DIESEL', 'ELECTRIC', 'PETROL_HYBRID', 'PETROL_PLUG_IN_HYBRID', 'DIESEL_HYBRID', 'DIESEL_PLUG_IN_HYBRID', 'ELECTRIC_RANGE_EXTENDER',
  'BI_FUEL', 'HYDROGEN', 'OTHER');
create type transmission as enum ('MANUAL', 'AUTOMATIC');
create type drivetrain as enum ('FRONT_WHEEL', 'REAR_WHEEL', 'ALL_WHEEL', 'FOUR_WHEEL');
create type cab_type as enum (
  'CREW', 'DAY', 'SINGLE', 'DOUBLE', 'EXTENDED', 'HIGH_SLEEPER', 'LOW_ACCESS', 'SHORT', 'SLEEPER', 'STANDARD', 'SUPER', 'TRANSPORTER');
create type wheelbase_type as enum ('STD', 'SWB', 'MWB', 'LWB', 'XLWB', 'EXLWB', 'XXLWB');
create type axle_configuration as enum ('4X2', '4X4', '6X2', '6X4', '6X6', '8X2', '8X4', '8X6', '8X8');
create type driver_position as enum ('LEFT', 'RIGHT');
create type mileage_unit as enum ('MILES', 'KM');
create type service_history as enum (
  'FULL_SERVICE_HISTORY', 'FULL_DEALERSHIP_HISTORY', 'SERVICE_HISTORY', 'PART_SERVICE_HISTORY', 'NO_SERVICE_HISTORY', 'UNKNOWN');
create type condition_grade as enum ('NEW', 'EXCELLENT', 'GOOD', 'AVERAGE', 'POOR');
create type write_off_category as enum ('NONE', 'N', 'S', 'B', 'A', 'D', 'C', 'UNRECORDED');
create type vat_scheme as enum ('MARGIN', 'VAT_QUALIFYING', 'NO_VAT');
create type price_vat_status as enum ('INC_VAT', 'EX_VAT', 'NO_VAT');
create type mot_status as enum ('VALID', 'NOT_VALID', 'NO_DETAILS', 'NO_RESULTS');
create type tax_status as enum ('TAXED', 'UNTAXED', 'SORN', 'NOT_TAXED_FOR_ROAD_USE');

create table vehicle (
  dealer_id uuid not null,
  id uuid not null,
  external_id text,
  stock_number text not null,
  branch_id uuid not null,
  status vehicle_status not null,
  status_changed_at timestamptz not null,
  registration text,
  vin text,
  type vehicle_type not null,
  condition vehicle_condition not null,
  ex_demo boolean,
  make text not null,
  model text not null,
  generation text,
  derivative text,
  trim text,
  derivative_id text,
  body_type body_type,
  fuel_type fuel_type,
  transmission transmission,
  drivetrain drivetrain,
  cab_type cab_type,
  wheelbase_type wheelbase_type,
  axle_configuration axle_configuration,
  colour text,
  manufacturer_colour text,
  interior_colour text,
  upholstery text,
  doors integer,
  seats integer,
  gears integer,
  cylinders integer,
  driver_position driver_position,
  engine_capacity_cc integer,
  engine_power_bhp integer,
  engine_power_ps integer,
  engine_torque_nm integer,
  badge_engine_size_litres double precision,
  engine_number text,
  battery_capacity_kwh double precision,
  battery_range_miles integer,
  battery_charge_minutes integer,
  battery_quick_charge_minutes integer,
  co2_g_km integer,
  emission_class text,
  fuel_economy_combined_mpg double precision,
  zero_to_sixty_seconds double precision,
  top_speed_mph integer,
  insurance_group text,
  payload_kg integer,
  gross_weight_kg integer,
  kerb_weight_kg integer,
  length_mm integer,
  width_mm integer,
  height_mm integer,
  boot_litres integer,
  first_registered_on date,
  year_of_manufacture integer,
  mileage integer,
  mileage_unit mileage_unit not null,
  previous_keepers integer,
  number_of_keys integer,
  v5c_present boolean,
  v5c_issued_on date,
  mot_expires_on date,
  mot_status mot_status,
  tax_status tax_status,
  tax_due_on date,
  service_history service_history,
  last_service_on date,
  last_service_mileage integer,
  warranty_months integer,
  condition_interior condition_grade,
  condition_body condition_grade,
  condition_tyres condition_grade,
  write_off_category write_off_category,
  provenance jsonb,
  asking_price bigint,
  price_on_application boolean not null,
  -- The last different price, and when it ended.
  previous_asking_price bigint,
  price_changed_at timestamptz,
  -- While the price is on application: the one before, and when it ended.
  last_asking_price bigint,
  last_price_ended_at timestamptz,
  vat_scheme vat_scheme,
  price_vat_status price_vat_status,
  reservation_fee bigint,
  cost_purchase_price bigint,
  cost_purchased_on date,
  -- Text, because dealers may add codes of their own.
  cost_purchase_source text,
  cost_supplier_name text,
  cost_purchase_invoice_number text,
  cost_purchase_vat_scheme vat_scheme,
  cost_purchase_order_id uuid,
  cost_preparation bigint,
  cost_other bigint,
  due_in_on date,
  stocked_on date,
  -- Null until someone says, or the vehicle is first for sale.
  website_visible boolean,
  -- Website-visible stock: visible, FOR_SALE or RESERVED, not deleted, at a published branch.
  on_website boolean not null,
  -- Set while a vehicle that was on the website is not: what a website sees as a tombstone.
  left_website_at timestamptz,
  attention_grabber text,
  description text,
  features jsonb not null default '[]',
  video_url text,
  spin_url text,
  images jsonb not null default '[]',
  images_import jsonb,
  adverts jsonb not null default '[]',
  deal_id uuid,
  internal_notes text,
  metadata jsonb not null default '{}',
  -- Whose stock cap it counts to: in the sandbox the dealership whose key created it.
  created_for_dealer_id uuid not null,
  deleted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (dealer_id, id)
) with (fillfactor = 90);
create index vehicle_in_order on vehicle (dealer_id, updated_at, id);
create index vehicle_on_website on vehicle (dealer_id, updated_at, id) where on_website;
-- Their conditions keep these from being taken for a list: of a table without statistics the planner thinks that few rows are not deleted.
create unique index vehicle_external_id on vehicle (dealer_id, external_id) where deleted_at is null and external_id is not null;
create index vehicle_registration on vehicle (dealer_id, registration) where registration is not null;
create index vehicle_vin on vehicle (dealer_id, vin) where vin is not null;
create index vehicle_stock_number on vehicle (dealer_id, stock_number);
create index vehicle_counted on vehicle (dealer_id, created_for_dealer_id)
  where deleted_at is null and status in ('DUE_IN', 'IN_PREPARATION', 'FOR_SALE', 'RESERVED', 'NOT_FOR_SALE');
call forecourt_guard('vehicle');

create type vehicle_batch_status as enum ('processing', 'completed');
create type vehicle_batch_item_status as enum ('pending', 'succeeded', 'failed');
create type vehicle_batch_operation as enum ('created', 'updated');
create type vehicle_batch_match as enum ('id', 'external_id', 'registration');

-- Kept for 90 days.
create table vehicle_batch (
  dealer_id uuid not null,
  id uuid not null,
  status vehicle_batch_status not null,
  total integer not null,
  created integer not null,
  updated integer not null,
  failed integer not null,
  -- Who may read it: the calling dealership; of its keys restricted to branches, this one and those with the same branches.
  calling_dealer_id uuid not null,
  posted_by uuid,
  all_branches boolean not null,
  branch_ids uuid[] not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  completed_at timestamptz,
  primary key (dealer_id, id)
) with (fillfactor = 70);
create index vehicle_batch_in_order on vehicle_batch (dealer_id, updated_at, id);
create index vehicle_batch_by_age on vehicle_batch (created_at);
call forecourt_guard('vehicle_batch');

create table vehicle_batch_item (
  dealer_id uuid not null,
  batch_id uuid not null,
  index integer not null,
  status vehicle_batch_item_status not null,
  -- What is to be written, as JSON; null once it was, or when its shape was wrong. It lives for seconds: text takes no parsing, external no compressing.
  item text,
  operation vehicle_batch_operation,
  matched_by vehicle_batch_match,
  vehicle_id uuid,
  external_id text,
  registration text,
  error jsonb,
  warnings text[] not null,
  images jsonb,
  primary key (dealer_id, batch_id, index)
) with (fillfactor = 70);
alter table vehicle_batch_item alter item set storage external;
call forecourt_guard('vehicle_batch_item');
