import { sql } from 'kysely';
import type { Context } from '#platform/context.ts';
import type { Instant } from '#platform/dates.ts';
import type { Service } from '#platform/service.ts';
import type { ItemPhotos } from './contract.ts';
import type { Photo, Place } from './photo-gallery.ts';
import { isOpen } from './photo-gallery.ts';

/** An item of a batch. */
export interface BatchPlace {
  readonly batchId: string;
  readonly index: number;
}

/** Who asked for an import: what a job carries. */
export type Asked = Pick<Context, 'dealer' | 'caller' | 'requestId'>;

export interface NewImport {
  readonly id: string;
  readonly vehicleId: string;
  readonly places: readonly Place[];
  readonly forItem: BatchPlace | null;
}

// ---- Imports ----

export async function insertImports(tx: Context, imports: readonly NewImport[]): Promise<void> {
  const rows = imports.map(({ id, vehicleId, forItem }) => ({
    id,
    vehicle_id: vehicleId,
    batch_id: forItem?.batchId ?? null,
    batch_index: forItem?.index ?? null,
  }));
  const items = imports.flatMap(({ id, places }) =>
    places.map((place, position) => ({ import_id: id, position, ...(isOpen(place) ? place : { photo: place.photo }) })),
  );
  const asked: Asked = { dealer: tx.dealer, caller: tx.caller, requestId: tx.requestId };
  await sql`
    with imports as (
      insert into photo_import (dealer_id, id, vehicle_id, batch_id, batch_index, asked, touched_at)
      select ${tx.dealer.id}::uuid, i.id, i.vehicle_id, i.batch_id, i.batch_index, ${JSON.stringify(asked)}::jsonb, ${tx.now}::timestamptz
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as i(id uuid, vehicle_id uuid, batch_id uuid, batch_index integer)
    )
    insert into photo_import_item (dealer_id, import_id, position, photo, url, alt, begun, failed)
    select ${tx.dealer.id}::uuid, i.import_id, i.position, i.photo, i.url, i.alt, 0, 0
    from jsonb_to_recordset(${JSON.stringify(items)}::jsonb) as i(import_id uuid, position integer, photo jsonb, url text, alt text)`.execute(
    tx.db,
  );
}

export interface ImportRow {
  readonly id: string;
  readonly vehicle_id: string;
  readonly batch_id: string | null;
  readonly batch_index: number | null;
}

export const importRow = (ctx: Context, id: string): Promise<ImportRow | undefined> =>
  ctx.db
    .selectFrom('photo_import')
    .select(['id', 'vehicle_id', 'batch_id', 'batch_index'])
    .where('dealer_id', '=', ctx.dealer.id)
    .where('id', '=', id)
    .executeTakeFirst();

export interface ItemRow {
  readonly position: number;
  readonly photo: Photo | null;
  readonly url: string | null;
  readonly alt: string | null;
  readonly failed: number;
  readonly reason: string | null;
}

export const itemsOf = (ctx: Context, importId: string): Promise<ItemRow[]> =>
  ctx.db
    .selectFrom('photo_import_item')
    .select(['position', 'photo', 'url', 'alt', 'failed', 'reason'])
    .where('dealer_id', '=', ctx.dealer.id)
    .where('import_id', '=', importId)
    .orderBy('position')
    .$castTo<ItemRow>()
    .execute();

/** Notes that a try for these places begins. Returns how many before it were never ended; nothing when the import has ended. */
export async function beginTry(tx: Context, importId: string, positions: readonly number[]): Promise<number | undefined> {
  const { rows } = await sql<{ interrupted: number }>`
    with touched as (
      update photo_import set touched_at = coalesce(${tx.service.clock()}::timestamptz, clock_timestamp())
      where dealer_id = ${tx.dealer.id}::uuid and id = ${importId}::uuid returning id
    )
    update photo_import_item i set begun = i.begun + 1 from touched
    where i.dealer_id = ${tx.dealer.id}::uuid and i.import_id = touched.id and i.position = any(${positions}::integer[])
    returning i.begun - i.failed - 1 as interrupted`.execute(tx.db);
  return rows[0]?.interrupted;
}

/** As if the try had not begun: a fault of ours ended it. */
export async function takeBackTry(tx: Context, importId: string, positions: readonly number[]): Promise<void> {
  await sql`
    update photo_import_item set begun = begun - 1
    where dealer_id = ${tx.dealer.id}::uuid and import_id = ${importId}::uuid and position = any(${positions}::integer[])`.execute(tx.db);
}

export async function saveFailedTry(
  tx: Context,
  importId: string,
  positions: readonly number[],
  failed: number,
  reason: string,
): Promise<void> {
  await sql`
    update photo_import_item set failed = ${failed}::smallint, begun = greatest(begun, ${failed}::smallint), reason = ${reason}
    where dealer_id = ${tx.dealer.id}::uuid and import_id = ${importId}::uuid and position = any(${positions}::integer[])`.execute(tx.db);
}

export async function saveFetched(
  tx: Context,
  importId: string,
  fetched: readonly { readonly position: number; readonly photo: Photo }[],
): Promise<void> {
  await sql`
    update photo_import_item i set photo = f.photo
    from jsonb_to_recordset(${JSON.stringify(fetched)}::jsonb) as f(position integer, photo jsonb)
    where i.dealer_id = ${tx.dealer.id}::uuid and i.import_id = ${importId}::uuid and i.position = f.position`.execute(tx.db);
}

/** Opens the places anew whose photo was fetched, and whose file is no longer kept. */
export async function reopenLost(tx: Context, importId: string): Promise<void> {
  await sql`
    update photo_import_item i set photo = null
    where i.dealer_id = ${tx.dealer.id}::uuid and i.import_id = ${importId}::uuid and i.url is not null and i.photo is not null
      and not exists (select from photo_file f where f.dealer_id = i.dealer_id and f.file = i.photo->>'file' and not f.removing)`.execute(
    tx.db,
  );
}

/** Removes the imports of these vehicles. Returns what they were to fetch. */
export async function deleteImports(tx: Context, vehicleIds: readonly string[]): Promise<(ImportRow & { urls: string[] })[]> {
  const { rows } = await sql<ImportRow & { urls: string[] }>`
    with ended as (
      delete from photo_import where dealer_id = ${tx.dealer.id}::uuid and vehicle_id = any(${vehicleIds}::uuid[])
      returning id, vehicle_id, batch_id, batch_index
    ), items as (
      delete from photo_import_item i using ended where i.dealer_id = ${tx.dealer.id}::uuid and i.import_id = ended.id
      returning i.import_id, i.position, i.url
    )
    select ended.*, coalesce(json_agg(items.url order by items.position) filter (where items.url is not null), '[]') as urls
    from ended left join items on items.import_id = ended.id
    group by ended.id, ended.vehicle_id, ended.batch_id, ended.batch_index`.execute(tx.db);
  return rows;
}

/** What became of the photos of an item. */
export interface ItemOutcome extends BatchPlace {
  readonly images: ItemPhotos;
}

/** Makes items final whose import has ended, and counts them; one that is not written yet has no operation, and is counted when it is. Returns the batches concerned. */
export async function finishItems(tx: Context, outcomes: readonly ItemOutcome[]): Promise<string[]> {
  const items = outcomes.map(({ batchId, index, images }) => ({ batch_id: batchId, index, images }));
  const { rows } = await sql<{ id: string }>`
    with ended as (
      update vehicle_batch_item i
      set images = e.images, status = 'succeeded'
      from jsonb_to_recordset(${JSON.stringify(items)}::jsonb) as e(batch_id uuid, index integer, images jsonb)
      where i.dealer_id = ${tx.dealer.id}::uuid and i.batch_id = e.batch_id and i.index = e.index
      returning i.batch_id, i.operation
    ), counted as (
      select batch_id, count(*) filter (where operation = 'created') as created, count(*) filter (where operation = 'updated') as updated
      from ended group by batch_id
    )
    update vehicle_batch b
    set created = b.created + counted.created, updated = b.updated + counted.updated, updated_at = ${tx.now}::timestamptz
    from counted
    where b.dealer_id = ${tx.dealer.id}::uuid and b.id = counted.batch_id
    returning b.id`.execute(tx.db);
  return rows.map(({ id }) => id);
}

/** Imports that nobody has touched for long: their job is gone. They count as touched from now on. */
export async function takeForgottenImports({ pools, clock }: Service, minutes: number): Promise<{ id: string; asked: Asked }[]> {
  const { rows } = await pools.doors.query(
    `update photo_import set touched_at = coalesce($1::timestamptz, clock_timestamp())
     where touched_at < coalesce($1::timestamptz, clock_timestamp()) - make_interval(mins => $2) returning id, asked`,
    [clock(), minutes],
  );
  return rows;
}

// ---- Files ----

/** Notes a file before it is put in the store. False when it is just being removed there. */
export async function noteFile(tx: Context, vehicleId: string, file: string): Promise<boolean> {
  const { rows } = await sql`
    insert into photo_file as f (dealer_id, file, vehicle_id, unused_since)
    values (${tx.dealer.id}::uuid, ${file}, ${vehicleId}::uuid, coalesce(${tx.service.clock()}::timestamptz, clock_timestamp()))
    on conflict (dealer_id, file) do update set unused_since = case when f.unused_since is not null then excluded.unused_since end
    where not f.removing
    returning file`.execute(tx.db);
  return rows.length > 0;
}

/** Marks which files of some vehicles are shown from now on and which are not. */
export async function markFiles(
  tx: Context,
  galleries: readonly { readonly id: string; readonly files: readonly string[] }[],
): Promise<void> {
  const used = [...new Set(galleries.flatMap(({ files }) => files))];
  const { rows } = await sql<{ shown: boolean }>`
    update photo_file f
    set unused_since = case when f.file = any(${used}::text[]) then null else coalesce(f.unused_since, ${tx.now}::timestamptz) end
    where f.dealer_id = ${tx.dealer.id}::uuid and f.vehicle_id = any(${galleries.map(({ id }) => id)}::uuid[]) and not f.removing
    returning f.file = any(${used}::text[]) as shown`.execute(tx.db);
  if (rows.filter(({ shown }) => shown).length !== used.length) throw new Error('A photo is to be shown whose file is not kept.');
}

export interface UnusedFile {
  readonly dealer_id: string;
  readonly file: string;
  readonly unused_since: Instant;
}

/**
 * Takes files that nothing has shown for so long, and those whose removal was interrupted, longest unused first: from now on nothing may
 * show them. A file that is noted again at this moment is left: its own row is asked, as it is when its lock is had.
 */
export async function takeUnusedFiles(
  { pools, clock }: Service,
  hours: number,
  most: number,
  after: UnusedFile | undefined,
): Promise<UnusedFile[]> {
  const { rows } = await pools.doors.query(
    `with taken as (
       update photo_file f set removing = true
       where (f.dealer_id, f.file) in (
           select u.dealer_id, u.file from photo_file u
           where u.unused_since < coalesce($1::timestamptz, clock_timestamp()) - make_interval(hours => $2)
             and ($4::timestamptz is null or (u.unused_since, u.dealer_id, u.file) > ($4::timestamptz, $5::uuid, $6))
             and not exists (select from photo_import i where i.dealer_id = u.dealer_id and i.vehicle_id = u.vehicle_id)
           order by u.unused_since, u.dealer_id, u.file
           limit $3)
         and f.unused_since < coalesce($1::timestamptz, clock_timestamp()) - make_interval(hours => $2)
       returning f.dealer_id, f.file, f.unused_since)
     select * from taken order by unused_since, dealer_id, file`,
    [clock(), hours, most, after?.unused_since, after?.dealer_id, after?.file],
  );
  return rows;
}

export async function forgetFile({ pools }: Service, dealerId: string, file: string): Promise<void> {
  await pools.doors.query('delete from photo_file where dealer_id = $1 and file = $2 and removing', [dealerId, file]);
}

/** None of the dealership's files is used any more. */
export async function forgetFiles(tx: Context): Promise<void> {
  await sql`update photo_file set unused_since = coalesce(unused_since, ${tx.now}::timestamptz) where dealer_id = ${tx.dealer.id}::uuid`.execute(
    tx.db,
  );
}
