-- Partner apps, what members of staff authorised them to, and their codes and tokens, of which hashes alone are kept.

-- Registered by the operator, for all dealers.
create table oauth_app (
  id uuid primary key,
  client_id text not null unique,
  secret_hash bytea not null,
  name text not null,
  website_url text not null,
  logo_url text,
  redirect_uris text[] not null,
  scopes text[] not null,
  -- Since when it connects to nobody, and what it was authorised to is over.
  revoked_at timestamptz,
  created_at timestamptz not null
);

-- What ended it: a code or token that was presented a second time, the app, the dealership, the operator, or that it was left unused.
create type authorisation_end as enum ('reuse', 'app', 'dealer', 'operator', 'expired');

-- A code or token is alive no longer than this row is not revoked: what is issued while it is being revoked is dead at birth.
create table oauth_authorisation (
  dealer_id uuid not null references dealer,
  id uuid not null,
  app_id uuid not null references oauth_app,
  staff_id uuid not null,
  scopes text[] not null,
  approved_at timestamptz not null,
  last_used_at timestamptz,
  last_used_ip text,
  revoked_at timestamptz,
  revoked_by authorisation_end,
  primary key (dealer_id, id),
  foreign key (dealer_id, staff_id) references staff,
  check ((revoked_at is null) = (revoked_by is null))
) with (fillfactor = 80);
call forecourt_guard('oauth_authorisation');

-- The global directories: whose a code or token is. Those that were used stay as long as their authorisation, so that a second use is known as one.
create table oauth_code (
  hash bytea primary key,
  dealer_id uuid not null,
  app_id uuid not null references oauth_app,
  staff_id uuid not null,
  scopes text[] not null,
  redirect_uri text not null,
  challenge text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz,
  -- What it becomes when it is used; until then there is none of that name.
  authorisation_id uuid not null,
  foreign key (dealer_id, staff_id) references staff
);
create index oauth_code_of_authorisation on oauth_code (dealer_id, authorisation_id);
create index oauth_code_unused on oauth_code (expires_at) where used_at is null;
call forecourt_guard('oauth_code');

-- Without a foreign key: what issues a token has found its authorisation in the same statement, and a check would lock its row each time.
create table oauth_access_token (
  hash bytea primary key,
  dealer_id uuid not null,
  authorisation_id uuid not null,
  scopes text[] not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz
);
create index oauth_access_token_of_authorisation on oauth_access_token (dealer_id, authorisation_id);
call forecourt_guard('oauth_access_token');

create table oauth_refresh_token (
  hash bytea primary key,
  dealer_id uuid not null,
  authorisation_id uuid not null,
  expires_at timestamptz not null,
  used_at timestamptz
) with (fillfactor = 80);
create index oauth_refresh_token_of_authorisation on oauth_refresh_token (dealer_id, authorisation_id, expires_at);
call forecourt_guard('oauth_refresh_token');
