-- What every module stands on: the wall between dealers, the turn, numbers without gaps, allowances, stored answers.

-- The dealer whose rows a transaction sees; set by set_config('forecourt.dealer_id', …, true). Unset sees nothing.
create function forecourt_dealer() returns uuid language sql stable parallel safe
  return nullif(current_setting('forecourt.dealer_id', true), '')::uuid;

-- Sweeps, the operator's tool and the statement that says who asks see all dealers' rows.
create function forecourt_is_system() returns boolean language sql stable parallel safe
  return coalesce(current_setting('forecourt.scope', true) = 'system', false);

-- Guards a table of dealer data. FORCE, because the application owns its tables and an owner is otherwise exempt.
create procedure forecourt_guard(guarded regclass) language plpgsql as $$
begin
  execute format('alter table %s enable row level security', guarded);
  execute format('alter table %s force row level security', guarded);
  execute format('create policy own_rows on %s using (dealer_id = forecourt_dealer() or forecourt_is_system())', guarded);
end $$;

-- One row per dealer: who holds it writes, and its time is the time of all that is written.
create table dealer_clock (
  dealer_id uuid primary key,
  last timestamptz not null
) with (fillfactor = 50);
call forecourt_guard('dealer_clock');

create table counter (
  dealer_id uuid not null,
  series text not null,
  last bigint not null,
  primary key (dealer_id, series)
) with (fillfactor = 50);
call forecourt_guard('counter');

-- Requests counted per key or address. UNLOGGED: emptied by a crash of the database, which merely restarts the limits.
create unlogged table allowance (
  subject text primary key,
  used integer not null,
  allowed integer not null,
  ends timestamptz not null
) with (fillfactor = 50);

-- What a POST with an Idempotency-Key answered, for 24 hours. `running` while a POST that calls out is between its two steps.
create table stored_answer (
  dealer_id uuid not null,
  principal text not null,
  key text not null,
  fingerprint bytea not null,
  running_owner uuid,
  running_until timestamptz,
  status smallint,
  location text,
  body bytea,
  stored_at timestamptz not null,
  primary key (dealer_id, principal, key)
);
create index stored_answer_by_age on stored_answer (stored_at);
call forecourt_guard('stored_answer');
