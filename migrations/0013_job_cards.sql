create table job_card (
  dealer_id uuid not null,
  id uuid not null,
  number integer not null,
  external_id text,
  branch_id uuid not null,
  -- Text, because dealers may add codes of their own; so is the transport option.
  type text not null,
  status text not null check (status in ('ESTIMATE', 'BOOKED', 'CHECKED_IN', 'IN_PROGRESS', 'AWAITING_PARTS', 'AWAITING_AUTHORISATION', 'COMPLETED', 'INVOICED', 'CANCELLED')),
  status_changed_at timestamptz not null,
  customer_id uuid,
  -- A vehicle of the stock, or else a car of a customer's, as it was given.
  vehicle_id uuid,
  customer_vehicle jsonb,
  customer_registration text generated always as (customer_vehicle ->> 'registration') stored,
  appointment_id uuid,
  deal_id uuid,
  advisor_id uuid,
  technician_ids uuid[] not null,
  mileage_in integer,
  mileage_out integer,
  concern text,
  diagnosis text,
  work_done text,
  booked_in_at timestamptz,
  promised_at timestamptz,
  started_at timestamptz,
  completed_at timestamptz,
  collected_at timestamptz,
  key_tag text,
  transport_option text,
  customer_order_number text,
  internal_notes text,
  metadata jsonb not null,
  deleted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (dealer_id, id),
  foreign key (dealer_id, customer_id) references customer,
  foreign key (dealer_id, appointment_id) references appointment,
  foreign key (dealer_id, deal_id) references deal
) with (fillfactor = 90);
create index job_card_in_order on job_card (dealer_id, updated_at, id);
create unique index job_card_number on job_card (dealer_id, number);
create unique index job_card_external_id on job_card (dealer_id, external_id) where deleted_at is null and external_id is not null;
create index job_card_status on job_card (dealer_id, status, updated_at, id);
create index job_card_customer on job_card (dealer_id, customer_id) where customer_id is not null;
create index job_card_vehicle on job_card (dealer_id, vehicle_id) where vehicle_id is not null;
create index job_card_registration on job_card (dealer_id, customer_registration) where customer_registration is not null;
create index job_card_appointment on job_card (dealer_id, appointment_id) where appointment_id is not null;
create index job_card_deal on job_card (dealer_id, deal_id) where deal_id is not null;
call forecourt_guard('job_card');

create table job_card_line (
  dealer_id uuid not null,
  id uuid not null,
  job_card_id uuid not null,
  position integer not null,
  kind text not null check (kind in ('LABOUR', 'PART', 'SUBLET', 'MOT', 'FEE', 'MENU', 'NOTE')),
  job_number integer not null,
  description text not null,
  part_id uuid check ((part_id is not null) = (kind = 'PART')),
  part_number text,
  quantity numeric(12, 3) not null,
  hours numeric(8, 2),
  -- Without VAT.
  unit_price bigint not null,
  discount bigint not null,
  vat_code text not null,
  pay_type text not null check (pay_type in ('CUSTOMER', 'WARRANTY', 'INTERNAL', 'INSURANCE', 'GOODWILL')),
  authorised boolean not null,
  authorised_at timestamptz,
  status text not null check (status in ('OPEN', 'DONE', 'DECLINED')),
  technician_id uuid,
  stock_state text not null check (stock_state in ('NONE', 'RESERVED', 'ISSUED')),
  -- Where what it has of the stock was taken from: a card may have moved to another branch since.
  stock_branch_id uuid check ((stock_branch_id is null) = (stock_state = 'NONE')),
  primary key (dealer_id, id),
  foreign key (dealer_id, job_card_id) references job_card,
  foreign key (dealer_id, part_id) references part
);
create index job_card_line_of_card on job_card_line (dealer_id, job_card_id, position);
call forecourt_guard('job_card_line');
