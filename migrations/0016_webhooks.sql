-- Where dealers want to be told, what is still to be delivered, and what came of every attempt.

-- Makes the partition of a day of a table partitioned by days, unless it is there. Made apart and then attached, so that nobody
-- who reads or writes the table waits.
create function partition_day(parent regclass, day date) returns void language plpgsql as $$
declare
  part text := parent::text || '_' || to_char(day, 'YYYYMMDD');
  first timestamptz := day::timestamp at time zone 'UTC';
begin
  if to_regclass(part) is not null then return; end if;
  perform pg_advisory_xact_lock(hashtextextended(part, 0));
  -- Not by its name again, of which this session remembers that nothing had it.
  if exists (select from pg_class where relname = part and relnamespace = (select relnamespace from pg_class where oid = parent)) then return; end if;
  execute format('create table %I (like %s including defaults including constraints including storage including compression)', part, parent);
  -- A partition read directly does not ask the policies of its parent.
  call forecourt_guard(part::regclass);
  execute format('alter table %s attach partition %I for values from (%L) to (%L)', parent, part, first, first + interval '1 day');
end $$;

drop function event_day(date);

-- With the type at its end: a page of a rare type reads the index instead of every event in between (139 buffers instead of 6,667).
drop index event_in_order;
create index event_in_order on event (dealer_id, created_at, sequence, type);
create index event_of_object on event (dealer_id, resource_id, created_at, sequence);

create type webhook_disabled_reason as enum ('delivery_failures', 'manual', 'app_revoked', 'plan');

create table webhook_endpoint (
  dealer_id uuid not null,
  id uuid not null,
  -- Whose it is: in the sandbox another dealership than the record's, else the same.
  calling_dealer_id uuid not null,
  url text not null,
  description text,
  events text[] not null,
  -- The types and branches of the credential that made it or last wrote its events. They stay when that key goes.
  readable_types text[] not null,
  all_branches boolean not null,
  branch_ids uuid[] not null,
  enabled boolean not null,
  disabled_reason webhook_disabled_reason,
  disabled_at timestamptz,
  -- kind, id and name of who made it.
  created_by jsonb not null,
  secret_hint text not null,
  -- Sealed with the master key, bound to this row.
  secret_enc bytea not null,
  old_secret_enc bytea,
  old_secret_until timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (dealer_id, id),
  check (enabled = (disabled_reason is null) and enabled = (disabled_at is null))
);
create index webhook_endpoint_in_order on webhook_endpoint (dealer_id, updated_at, id);
call forecourt_guard('webhook_endpoint');

-- How an endpoint fares. A table of its own, so that no attempt waits for whoever changes the endpoint, nor moves its updated_at.
create table endpoint_health (
  dealer_id uuid not null,
  endpoint_id uuid not null,
  -- Since when no automatic attempt has succeeded; null when the last one did.
  failing_since timestamptz,
  last_failure_at timestamptz,
  last_success_at timestamptz,
  last_attempt_at timestamptz,
  -- The time of the newest row of its delivery log: none gets an earlier one, so that none appears behind a reader's cursor.
  logged_at timestamptz,
  -- How many mails about a failure were sent, and since when that one lasted: those about another do not count.
  notices smallint not null default 0,
  told_since timestamptz,
  primary key (dealer_id, endpoint_id)
) with (fillfactor = 50);
create index endpoint_failing on endpoint_health (failing_since) where failing_since is not null;
-- Those that recovered and were not told so.
create index endpoint_recovered on endpoint_health (endpoint_id) where failing_since is null and notices > 0;
call forecourt_guard('endpoint_health');

-- One event at one endpoint is one delivery, however often it is asked for.
create function delivery_id(event_id uuid, endpoint_id uuid) returns uuid language sql immutable strict parallel safe
  return overlay(overlay(md5(event_id::text || endpoint_id::text) placing '8' from 13) placing 'a' from 17)::uuid;

create type delivery_state as enum ('due', 'sending');

-- What is still to be delivered. Small and hot: a row goes when its delivery has ended, and history lives in delivery_attempt.
create table delivery (
  dealer_id uuid not null,
  id uuid not null,
  -- Asked for by hand: sent once, and beside the automatic one.
  manual boolean not null default false,
  endpoint_id uuid not null,
  event_id uuid not null,
  event_at timestamptz not null,
  state delivery_state not null default 'due',
  attempt smallint not null default 1,
  next_at timestamptz not null,
  lease_owner uuid,
  lease_until timestamptz,
  primary key (dealer_id, id, manual)
) with (
  fillfactor = 70,
  autovacuum_vacuum_scale_factor = 0.01,
  autovacuum_vacuum_threshold = 500,
  autovacuum_vacuum_cost_delay = 0
);
-- The claim goes from endpoint to endpoint, over all dealers …
create index delivery_due on delivery (endpoint_id, next_at, id) where state = 'due';
-- … and many times a second to those that have something new, without a look at the many that wait for a retry.
create index delivery_fresh on delivery (endpoint_id) where state = 'due' and attempt = 1;
-- What is under way has the latest leases: however many dead entries an old snapshot keeps, they lie before them.
create index delivery_sending on delivery (lease_until) where state = 'sending';
call forecourt_guard('delivery');

create type delivery_error as enum ('dns', 'connect', 'tls', 'timeout', 'blocked_address', 'redirect', 'status');

-- The delivery log: one row per attempt, kept for 30 days, by day like the events.
create table delivery_attempt (
  dealer_id uuid not null,
  attempted_at timestamptz not null,
  id uuid not null,
  endpoint_id uuid not null,
  delivery_id uuid not null,
  event_id uuid not null,
  event_at timestamptz not null,
  event_type text not null,
  attempt smallint not null,
  manual boolean not null,
  success boolean not null,
  response_status smallint,
  -- In the order in which they were sent.
  request_headers json not null,
  request_body text not null,
  response_body text,
  error delivery_error,
  duration_ms integer not null,
  next_attempt_at timestamptz,
  updated_at timestamptz not null,
  primary key (dealer_id, attempted_at, id)
) partition by range (attempted_at);
-- Bodies are most of it, and compressing them by pglz is most of what writing an attempt costs. Not every server is built with lz4.
do $$ begin
  alter table delivery_attempt alter column request_body set compression lz4;
exception when feature_not_supported then null;
end $$;
-- By lz4 where this server has it, else not at all: the compression that every server has took a fifth of what a delivery costs the database.
do $$ begin
  alter table delivery_attempt alter column request_body set compression lz4;
exception when feature_not_supported then
  alter table delivery_attempt alter column request_body set storage external;
end $$;
create index delivery_attempt_in_order on delivery_attempt (dealer_id, endpoint_id, updated_at, id);
create index delivery_attempt_of_delivery on delivery_attempt (dealer_id, delivery_id);
call forecourt_guard('delivery_attempt');
