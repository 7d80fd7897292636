-- A staged import of photos, at most one for a vehicle. Its rows go when it has ended; what came of it stands with the vehicle and the item.
create table photo_import (
  dealer_id uuid not null,
  id uuid not null,
  vehicle_id uuid not null,
  -- The item of the batch that is final when this has ended.
  batch_id uuid,
  batch_index integer,
  -- Who asked for it: dealer, caller, request.
  asked jsonb not null,
  touched_at timestamptz not null,
  primary key (dealer_id, id)
);
create unique index photo_import_of_vehicle on photo_import (dealer_id, vehicle_id);
create index photo_import_of_batch on photo_import (dealer_id, batch_id) where batch_id is not null;
create index photo_import_by_age on photo_import (touched_at);
call forecourt_guard('photo_import');

-- The gallery it will make, photo by photo: kept ones are there from the start, the others as soon as they are fetched.
create table photo_import_item (
  dealer_id uuid not null,
  import_id uuid not null,
  position integer not null,
  photo jsonb,
  url text,
  alt text,
  -- Tries begun and tries that failed: the difference is what a dying process left.
  begun smallint not null,
  failed smallint not null,
  reason text,
  primary key (dealer_id, import_id, position)
) with (fillfactor = 70);
call forecourt_guard('photo_import_item');

-- What the file store holds, known before it is there. A file belongs to one vehicle, under a name made of its content.
create table photo_file (
  dealer_id uuid not null,
  file text not null,
  vehicle_id uuid not null,
  -- Null while the vehicle's gallery shows it.
  unused_since timestamptz,
  removing boolean not null default false,
  primary key (dealer_id, file)
);
create index photo_file_of_vehicle on photo_file (dealer_id, vehicle_id);
create index photo_file_unused on photo_file (unused_since) where unused_since is not null;
call forecourt_guard('photo_file');
