create type customer_type as enum ('INDIVIDUAL', 'BUSINESS');
create type contact_method as enum ('PHONE', 'EMAIL', 'SMS', 'WHATSAPP', 'POST', 'IN_PERSON', 'VIDEO', 'WEB');

create table customer (
  dealer_id uuid not null,
  id uuid not null,
  reference text not null,
  external_id text,
  -- The home branch.
  branch_id uuid not null,
  type customer_type not null,
  title text,
  first_name text,
  last_name text,
  company_name text,
  display_name text not null,
  -- Lower case without accents, in the order of bytes: below the policy an index serves = < >= of text, but neither like nor lower().
  last_name_key text collate "C",
  full_name_key text collate "C",
  company_key text collate "C",
  email text,
  mobile text,
  phone text,
  address jsonb,
  postcode text generated always as (address ->> 'postcode') stored,
  preferred_contact_method contact_method,
  marketing_consent jsonb,
  do_not_contact boolean not null,
  vat_number text,
  account_number text,
  tags text[] not null,
  metadata jsonb not null,
  deleted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (dealer_id, id)
) with (fillfactor = 90);
create index customer_in_order on customer (dealer_id, updated_at, id);
create unique index customer_external_id on customer (dealer_id, external_id) where deleted_at is null and external_id is not null;
create index customer_email on customer (dealer_id, email) where email is not null;
create index customer_mobile on customer (dealer_id, mobile) where mobile is not null;
create index customer_phone on customer (dealer_id, phone) where phone is not null;
create index customer_postcode on customer (dealer_id, postcode) where postcode is not null;
create index customer_last_name on customer (dealer_id, last_name_key) where last_name_key is not null;
create index customer_full_name on customer (dealer_id, full_name_key) where full_name_key is not null;
create index customer_company on customer (dealer_id, company_key) where company_key is not null;
call forecourt_guard('customer');

-- The cars customers drive, as sales and the workshop come to know them.
create table customer_vehicle (
  dealer_id uuid not null,
  id uuid not null,
  customer_id uuid not null,
  registration text,
  vin text,
  make text,
  model text,
  mileage integer,
  mot_expires_on date,
  next_service_on date,
  primary key (dealer_id, id),
  foreign key (dealer_id, customer_id) references customer
);
create index customer_vehicle_of_customer on customer_vehicle (dealer_id, customer_id);
create index customer_vehicle_registration on customer_vehicle (dealer_id, registration) where registration is not null;
call forecourt_guard('customer_vehicle');
