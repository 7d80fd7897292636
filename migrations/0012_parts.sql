create table part (
  dealer_id uuid not null,
  id uuid not null,
  part_number text not null,
  description text not null,
  -- Without VAT, for one.
  unit_price bigint not null,
  unit_cost bigint not null,
  vat_code text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (dealer_id, id)
);
create unique index part_number on part (dealer_id, part_number);
create index part_in_order on part (dealer_id, updated_at, id);
call forecourt_guard('part');

-- What lies on the shelves of a branch. Its movements add up to it, always.
create table part_stock (
  dealer_id uuid not null,
  branch_id uuid not null,
  part_id uuid not null,
  on_hand numeric(12, 3) not null check (on_hand >= 0),
  reserved numeric(12, 3) not null check (reserved >= 0 and reserved <= on_hand),
  primary key (dealer_id, part_id, branch_id),
  foreign key (dealer_id, part_id) references part
);
call forecourt_guard('part_stock');

create table stock_movement (
  dealer_id uuid not null,
  id uuid not null,
  branch_id uuid not null,
  part_id uuid not null,
  kind text not null check (kind in ('RECEIVED', 'COUNTED', 'RESERVED', 'RELEASED', 'ISSUED', 'RETURNED')),
  -- By how much it moved each of the two.
  on_hand numeric(12, 3) not null,
  reserved numeric(12, 3) not null check (on_hand <> 0 or reserved <> 0),
  -- Why: the line of a job card, or the delivery or stocktake somebody noted.
  cause_kind text not null check (cause_kind in ('job_card', 'delivery', 'stocktake')),
  cause_id uuid not null,
  cause_line_id uuid check ((cause_line_id is not null) = (cause_kind = 'job_card')),
  note text,
  at timestamptz not null,
  primary key (dealer_id, id),
  foreign key (dealer_id, part_id) references part
);
create index stock_movement_of_part on stock_movement (dealer_id, part_id, branch_id, at);
create index stock_movement_cause on stock_movement (dealer_id, cause_id);
call forecourt_guard('stock_movement');
