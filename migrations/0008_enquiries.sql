create type condition_rating as enum ('EXCELLENT', 'GREAT', 'GOOD', 'FAIR', 'POOR');

create table enquiry (
  dealer_id uuid not null,
  id uuid not null,
  reference text not null,
  external_id text,
  branch_id uuid not null,
  -- Text, not an enum: equality of enums is not leakproof, and so would serve no index below the policy.
  status text not null check (status in ('NEW', 'CONTACTED', 'APPOINTMENT', 'NEGOTIATING', 'WON', 'LOST', 'DISQUALIFIED')),
  -- Text, because dealers may add codes of their own; so are source and lost_reason.
  type text not null,
  source text not null,
  source_detail text,
  channel contact_method,
  customer_id uuid not null,
  contact jsonb,
  contact_email text generated always as (contact ->> 'email') stored,
  contact_phone text generated always as (contact ->> 'phone') stored,
  contact_mobile text generated always as (contact ->> 'mobile') stored,
  message text,
  vehicle_id uuid,
  wanted jsonb,
  finance jsonb,
  test_drive jsonb,
  assigned_to_id uuid,
  lost_reason text,
  lost_note text,
  first_responded_at timestamptz,
  -- The last time the status said that someone spoke with the customer.
  contacted_at timestamptz,
  next_action_at timestamptz,
  marketing_consent jsonb,
  attribution jsonb,
  metadata jsonb not null,
  deleted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (dealer_id, id),
  foreign key (dealer_id, customer_id) references customer
) with (fillfactor = 90);
create index enquiry_in_order on enquiry (dealer_id, updated_at, id);
create unique index enquiry_external_id on enquiry (dealer_id, external_id) where deleted_at is null and external_id is not null;
create index enquiry_status on enquiry (dealer_id, status, updated_at, id);
create index enquiry_customer on enquiry (dealer_id, customer_id);
create index enquiry_vehicle on enquiry (dealer_id, vehicle_id) where vehicle_id is not null;
create index enquiry_assigned_to on enquiry (dealer_id, assigned_to_id) where assigned_to_id is not null;
create index enquiry_contact_email on enquiry (dealer_id, contact_email) where contact_email is not null;
create index enquiry_contact_phone on enquiry (dealer_id, contact_phone) where contact_phone is not null;
create index enquiry_contact_mobile on enquiry (dealer_id, contact_mobile) where contact_mobile is not null;
call forecourt_guard('enquiry');

create table enquiry_note (
  dealer_id uuid not null,
  enquiry_id uuid not null,
  created_at timestamptz not null,
  id uuid not null,
  body text not null,
  author_kind text not null,
  author_id uuid,
  author_name text not null,
  primary key (dealer_id, enquiry_id, created_at, id),
  foreign key (dealer_id, enquiry_id) references enquiry
);
call forecourt_guard('enquiry_note');

create type part_exchange_status as enum ('OFFERED', 'APPRAISED', 'AGREED', 'RECEIVED');

-- The car a customer would give in part exchange; of an enquiry there is one at most.
create table part_exchange (
  dealer_id uuid not null,
  id uuid not null,
  enquiry_id uuid not null,
  status part_exchange_status not null,
  registration text,
  make text,
  model text,
  derivative text,
  mileage integer,
  condition condition_rating,
  outstanding_finance bigint,
  expected_value bigint,
  valuation bigint,
  valued_at timestamptz,
  vehicle_id uuid,
  primary key (dealer_id, id),
  foreign key (dealer_id, enquiry_id) references enquiry
);
create unique index part_exchange_of_enquiry on part_exchange (dealer_id, enquiry_id);
call forecourt_guard('part_exchange');
