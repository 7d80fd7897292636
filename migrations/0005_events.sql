-- What happened, one row per change, written in the change's own transaction. By day, so that old days can be dropped whole.
create table event (
  dealer_id uuid not null,
  created_at timestamptz not null,
  id uuid not null,
  sequence bigint not null,
  type text not null,
  resource_id uuid not null,
  branch_id uuid,
  -- The `data` member as delivered: object, changed, previous_status.
  data text not null,
  actor jsonb not null,
  -- Whose key caused it; in the sandbox the others are not told more than the kind.
  calling_dealer_id uuid not null,
  request_id text,
  primary key (dealer_id, created_at, id)
) partition by range (created_at);
create index event_in_order on event (dealer_id, created_at, sequence);
call forecourt_guard('event');

-- Makes the partition of a day unless it is there.
create function event_day(day date) returns void language plpgsql as $$
declare
  part text := 'event_' || to_char(day, 'YYYYMMDD');
begin
  if to_regclass(part) is not null then return; end if;
  perform pg_advisory_xact_lock(hashtextextended(part, 0));
  if to_regclass(part) is not null then return; end if;
  execute format('create table %I partition of event for values from (%L) to (%L)',
    part, day::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC');
  -- A partition read directly does not ask the policies of its parent.
  call forecourt_guard(part::regclass);
end $$;

-- Who changed which fields of what, and with which key.
create table activity (
  dealer_id uuid not null,
  at timestamptz not null,
  id uuid not null,
  action text not null,
  record_type text not null,
  record_id uuid not null,
  fields text[] not null,
  caller_kind text not null,
  caller_id uuid,
  owner_id uuid,
  calling_dealer_id uuid not null,
  request_id text,
  primary key (dealer_id, at, id)
);
create index activity_of_record on activity (dealer_id, record_type, record_id, at);
call forecourt_guard('activity');
