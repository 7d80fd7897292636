create table appointment (
  dealer_id uuid not null,
  id uuid not null,
  external_id text,
  branch_id uuid not null,
  -- Text, because dealers may add codes of their own; so are the transport option and the source.
  type text not null,
  status text not null check (status in ('BOOKED', 'CONFIRMED', 'ARRIVED', 'COMPLETED', 'NO_SHOW', 'CANCELLED')),
  starts_at timestamptz not null,
  ends_at timestamptz not null,
  customer_id uuid,
  contact jsonb,
  enquiry_id uuid,
  deal_id uuid,
  vehicle_id uuid,
  customer_vehicle jsonb,
  assigned_to_id uuid,
  location text not null check (location in ('BRANCH', 'CUSTOMER_ADDRESS', 'ONLINE')),
  transport_option text,
  notes text,
  source text not null,
  cancelled_at timestamptz,
  cancellation_reason text,
  metadata jsonb not null,
  deleted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check (ends_at > starts_at),
  primary key (dealer_id, id),
  foreign key (dealer_id, customer_id) references customer,
  foreign key (dealer_id, enquiry_id) references enquiry,
  foreign key (dealer_id, deal_id) references deal
) with (fillfactor = 90);
create index appointment_in_order on appointment (dealer_id, updated_at, id);
create unique index appointment_external_id on appointment (dealer_id, external_id) where deleted_at is null and external_id is not null;
create index appointment_starts_at on appointment (dealer_id, starts_at);
create index appointment_customer on appointment (dealer_id, customer_id) where customer_id is not null;
create index appointment_enquiry on appointment (dealer_id, enquiry_id) where enquiry_id is not null;
create index appointment_vehicle on appointment (dealer_id, vehicle_id) where vehicle_id is not null;
create index appointment_assigned_to on appointment (dealer_id, assigned_to_id) where assigned_to_id is not null;
call forecourt_guard('appointment');
