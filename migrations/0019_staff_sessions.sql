-- Members of staff who are signed in to the web application. What is over is deleted: signed out, ended by time, by a ban, by another password.
create table staff_session (
  dealer_id uuid not null references dealer,
  id uuid not null,
  staff_id uuid not null,
  -- Of the token that the browser holds; another whenever the password was given.
  hash bytea not null unique,
  proved_at timestamptz not null,
  -- Moved on about once a minute while it is used.
  seen_at timestamptz not null,
  expires_at timestamptz not null,
  created_at timestamptz not null,
  primary key (dealer_id, id),
  foreign key (dealer_id, staff_id) references staff
) with (fillfactor = 80);
create index staff_session_of_member on staff_session (dealer_id, staff_id);
call forecourt_guard('staff_session');
