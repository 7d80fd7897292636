create table invoice (
  dealer_id uuid not null,
  id uuid not null,
  -- Numbers of a series have no gap; a draft has none.
  series text,
  number text,
  type text not null check (type in ('VEHICLE_SALE', 'WORKSHOP', 'PARTS', 'DEPOSIT', 'CREDIT_NOTE')),
  status text not null check (status in ('DRAFT', 'ISSUED', 'PART_PAID', 'PAID', 'CREDITED', 'VOID')),
  branch_id uuid not null,
  customer_id uuid,
  -- As it was when the invoice was written.
  bill_to jsonb not null,
  deal_id uuid,
  job_card_id uuid,
  vehicle_id uuid,
  credit_note_of_id uuid,
  issued_on date,
  tax_point_on date,
  due_on date,
  -- Whether prices and discounts of the lines include VAT.
  prices_include_vat boolean not null,
  net bigint not null,
  vat bigint not null,
  gross bigint not null,
  -- The sum of the payments; of a credit note also what nobody had paid of what it credits.
  paid bigint not null,
  vat_summary jsonb not null,
  margin_scheme boolean not null,
  statements text[] not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (dealer_id, id),
  foreign key (dealer_id, customer_id) references customer,
  foreign key (dealer_id, deal_id) references deal,
  foreign key (dealer_id, job_card_id) references job_card,
  foreign key (dealer_id, credit_note_of_id) references invoice,
  check ((number is null) = (status in ('DRAFT', 'VOID')) and (number is null) = (series is null) and (number is null) = (issued_on is null)),
  check (net + vat = gross)
) with (fillfactor = 90);
create index invoice_in_order on invoice (dealer_id, updated_at, id);
create unique index invoice_number on invoice (dealer_id, number) where number is not null;
create index invoice_customer on invoice (dealer_id, customer_id) where customer_id is not null;
create index invoice_deal on invoice (dealer_id, deal_id) where deal_id is not null;
create index invoice_job_card on invoice (dealer_id, job_card_id) where job_card_id is not null;
create index invoice_vehicle on invoice (dealer_id, vehicle_id) where vehicle_id is not null;
create unique index invoice_credit_of on invoice (dealer_id, credit_note_of_id) where credit_note_of_id is not null;
create index invoice_issued_on on invoice (dealer_id, issued_on) where issued_on is not null;
call forecourt_guard('invoice');

create table invoice_line (
  dealer_id uuid not null,
  id uuid not null,
  invoice_id uuid not null,
  position integer not null,
  kind text not null,
  description text not null,
  quantity numeric(12, 3) not null,
  unit_price bigint not null,
  discount bigint not null,
  vat_code text not null,
  -- Null of a margin line, whose VAT must not be shown to the customer, and where no VAT is charged at any rate.
  vat_rate_bps integer,
  net bigint not null,
  vat bigint check ((vat is null) = (vat_code = 'MARGIN')),
  gross bigint not null,
  vehicle_id uuid,
  job_line_id uuid,
  primary key (dealer_id, id),
  foreign key (dealer_id, invoice_id) references invoice,
  check (net + coalesce(vat, 0) = gross)
);
create index invoice_line_of_invoice on invoice_line (dealer_id, invoice_id, position);
create index invoice_line_vehicle on invoice_line (dealer_id, vehicle_id) where vehicle_id is not null;
call forecourt_guard('invoice_line');

create table payment (
  dealer_id uuid not null,
  id uuid not null,
  invoice_id uuid not null,
  -- Text, because dealers may add codes of their own.
  method text not null,
  -- Less than nothing is money given back.
  amount bigint not null,
  paid_on date not null,
  reference text,
  created_at timestamptz not null,
  primary key (dealer_id, id),
  foreign key (dealer_id, invoice_id) references invoice
);
create index payment_of_invoice on payment (dealer_id, invoice_id, created_at);
call forecourt_guard('payment');
