create table purchase_order (
  dealer_id uuid not null,
  id uuid not null,
  reference text not null,
  branch_id uuid not null,
  status text not null check (status in ('OPEN', 'RECEIVED', 'CANCELLED')),
  supplier_name text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (dealer_id, id)
) with (fillfactor = 90);
create unique index purchase_order_reference on purchase_order (dealer_id, reference);
call forecourt_guard('purchase_order');
