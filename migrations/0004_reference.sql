-- What a dealer made of a reference list: its own names, order and hiding, and codes of its own making (X_…).
-- Codes without a row stand as the product ships them.
create table reference_code (
  dealer_id uuid not null references dealer,
  list text not null,
  code text not null,
  name text not null,
  description text,
  position integer not null,
  is_active boolean not null default true,
  primary key (dealer_id, list, code)
);
call forecourt_guard('reference_code');
