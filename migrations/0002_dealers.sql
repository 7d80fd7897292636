create type plan as enum ('FREE', 'STANDARD', 'PROFESSIONAL');

create table dealer (
  id uuid primary key,
  code text not null unique check (code ~ '^[a-z0-9][a-z0-9-]{1,39}$'),
  name text not null,
  trading_name text,
  plan plan not null,
  currency text not null default 'GBP',
  country text not null default 'GB',
  time_zone text not null default 'Europe/London',
  locale text not null default 'en-GB',
  vat_number text,
  website_url text,
  theme_builder boolean not null default false,
  valuations boolean not null default false,
  instant_valuations boolean not null default false,
  -- Whether a record may be moved to another branch through the API.
  transfers_by_api boolean not null default true,
  is_sandbox boolean not null default false,
  available boolean not null default true,
  -- The member of staff test keys act as; the sandbox alone has one.
  acts_as_id uuid,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index dealer_one_sandbox on dealer (is_sandbox) where is_sandbox;

create table branch (
  dealer_id uuid not null references dealer,
  id uuid not null,
  name text not null,
  code text not null,
  is_default boolean not null default false,
  published boolean not null default true,
  address jsonb,
  phone text,
  email text,
  website_url text,
  latitude double precision,
  longitude double precision,
  time_zone text not null,
  departments text[] not null default '{}',
  opening_hours jsonb not null default '[]',
  closed_on date[] not null default '{}',
  deleted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (dealer_id, id)
);
create index branch_in_order on branch (dealer_id, updated_at, id);
create unique index branch_code on branch (dealer_id, code) where deleted_at is null;
create unique index branch_one_default on branch (dealer_id) where is_default and deleted_at is null;
call forecourt_guard('branch');

create type staff_status as enum ('active', 'banned', 'deleted');
create type staff_role as enum ('ADMINISTRATOR', 'SALES_MANAGER', 'SALES_EXECUTIVE', 'SERVICE_ADVISOR', 'TECHNICIAN', 'MARKETING', 'ACCOUNTS', 'READ_ONLY');

create table staff (
  dealer_id uuid not null references dealer,
  id uuid not null,
  email text not null,
  name text not null,
  role staff_role not null,
  -- Single permissions beside those of the role.
  granted text[] not null default '{}',
  withheld text[] not null default '{}',
  all_branches boolean not null default true,
  branch_ids uuid[] not null default '{}',
  status staff_status not null default 'active',
  password_hash text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (dealer_id, id)
);
create unique index staff_email on staff (dealer_id, email) where status <> 'deleted';
call forecourt_guard('staff');
