create table deal (
  dealer_id uuid not null,
  id uuid not null,
  reference text not null,
  external_id text,
  branch_id uuid not null,
  -- Text, not an enum: equality of enums is not leakproof, and so would serve no index below the policy.
  status text not null check (status in ('QUOTE', 'RESERVED', 'ORDERED', 'SOLD', 'DELIVERED', 'CANCELLED')),
  status_changed_at timestamptz not null,
  -- Text, because dealers may add codes of their own; so are the kinds of extras and the cancellation reason.
  type text not null,
  enquiry_id uuid,
  customer_id uuid,
  vehicle_id uuid,
  salesperson_id uuid,
  vehicle_price bigint,
  discount bigint,
  extras jsonb not null,
  part_exchanges jsonb not null,
  deposit_required bigint,
  finance jsonb,
  vat_scheme text,
  -- What the car goes back to when this deal lets it go.
  vehicle_status_before text,
  handover_method text,
  handover_scheduled_at timestamptz,
  handover_completed_at timestamptz,
  handover_address jsonb,
  ordered_at timestamptz,
  sold_at timestamptz,
  delivered_at timestamptz,
  cancelled_at timestamptz,
  cancellation_reason text,
  cancellation_note text,
  metadata jsonb not null,
  deleted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (dealer_id, id),
  foreign key (dealer_id, enquiry_id) references enquiry,
  foreign key (dealer_id, customer_id) references customer
) with (fillfactor = 90);
create index deal_in_order on deal (dealer_id, updated_at, id);
create unique index deal_external_id on deal (dealer_id, external_id) where deleted_at is null and external_id is not null;
create index deal_status on deal (dealer_id, status, updated_at, id);
create index deal_enquiry on deal (dealer_id, enquiry_id) where enquiry_id is not null;
create index deal_customer on deal (dealer_id, customer_id) where customer_id is not null;
create index deal_vehicle on deal (dealer_id, vehicle_id) where vehicle_id is not null;
-- A car is held by one deal at most.
create unique index deal_holding_vehicle on deal (dealer_id, vehicle_id)
  where deleted_at is null and status in ('RESERVED', 'ORDERED', 'SOLD', 'DELIVERED');
create index deal_salesperson on deal (dealer_id, salesperson_id) where salesperson_id is not null;
call forecourt_guard('deal');
