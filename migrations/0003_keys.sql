create type key_kind as enum ('secret', 'publishable');
create type key_environment as enum ('live', 'test');

create table api_key (
  dealer_id uuid not null references dealer,
  id uuid not null,
  name text not null,
  kind key_kind not null,
  environment key_environment not null,
  owner_id uuid not null,
  scopes text[] not null,
  all_branches boolean not null default true,
  branch_ids uuid[] not null default '{}',
  ips text[] not null default '{}',
  origins text[] not null default '{}',
  -- Requests a minute; null is the default of its kind.
  rate_limit integer,
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  last_used_ip text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (dealer_id, id),
  foreign key (dealer_id, owner_id) references staff
);
call forecourt_guard('api_key');

-- The global directory: which key a token's look-up part means. A roll adds a row and revokes the one before.
create table api_key_secret (
  lookup text primary key,
  dealer_id uuid not null,
  key_id uuid not null,
  hash bytea not null,
  revoked_at timestamptz,
  created_at timestamptz not null,
  foreign key (dealer_id, key_id) references api_key
);
create index api_key_secret_by_key on api_key_secret (dealer_id, key_id);
call forecourt_guard('api_key_secret');
