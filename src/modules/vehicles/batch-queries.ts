import type { Selectable } from 'kysely';
import { sql } from 'kysely';
import type { Context } from '#platform/context.ts';
import type { Page } from '#platform/contract.ts';
import { readPage } from '#platform/db/pages.ts';
import type { DB } from '#platform/db/schema.ts';
import type { Service } from '#platform/service.ts';
import type { BatchItem, BatchItemResult, VehicleBatchListQuery } from './contract.ts';

export type BatchRow = Selectable<DB['vehicle_batch']>;

const keptDays = 90;

/** The batches within the caller's reach: the calling dealership's; for a key restricted to branches its own and those of keys with the same. */
function visible(ctx: Context) {
  const { callingDealerId, id, branches } = ctx.caller;
  const batches = ctx.db
    .selectFrom('vehicle_batch')
    .selectAll('vehicle_batch')
    .where('vehicle_batch.dealer_id', '=', ctx.dealer.id)
    .where('vehicle_batch.calling_dealer_id', '=', callingDealerId)
    .where(sql<boolean>`vehicle_batch.created_at > ${ctx.now}::timestamptz - make_interval(days => ${keptDays}::integer)`);
  if (branches === 'all') return batches;
  const same = sql<boolean>`not vehicle_batch.all_branches and vehicle_batch.branch_ids = ${[...branches].sort()}::uuid[]`;
  return batches.where(({ or, eb }) => or(id === null ? [same] : [eb('vehicle_batch.posted_by', '=', id), same]));
}

export const visibleBatch = (ctx: Context, id: string): Promise<BatchRow | undefined> =>
  visible(ctx).where('vehicle_batch.id', '=', id).executeTakeFirst();

export const pageOfBatches = <T>(ctx: Context, query: VehicleBatchListQuery, toWire: (row: BatchRow) => T): Promise<Page<T>> =>
  readPage(ctx, {
    list: 'vehicle_batches',
    table: 'vehicle_batch',
    query,
    from: visible(ctx),
    matching: query.status ? [sql<boolean>`vehicle_batch.status = any(${query.status}::vehicle_batch_status[])`] : [],
    toWire,
  });

export const resultsOf = (ctx: Context, batchId: string): Promise<BatchItemResult[]> =>
  ctx.db
    .selectFrom('vehicle_batch_item')
    .select(['index', 'status', 'operation', 'matched_by', 'vehicle_id', 'external_id', 'registration', 'error', 'warnings', 'images'])
    .where('dealer_id', '=', ctx.dealer.id)
    .where('batch_id', '=', batchId)
    .orderBy('index')
    .$castTo<BatchItemResult>()
    .execute();

/** An item as it is taken in: to be written, or failed already. */
export interface TakenItem {
  readonly result: BatchItemResult;
  readonly item: BatchItem | null;
}

/** Takes in a batch with all its items, in one statement. */
export async function insertBatch(tx: Context, id: string, taken: readonly TakenItem[]): Promise<BatchRow> {
  const { caller, dealer, now } = tx;
  const failed = taken.filter(({ item }) => item === null).length;
  const rows = taken.map(({ item, result: { index, status, external_id, registration, error } }) => ({
    index,
    status,
    item: item && JSON.stringify(item),
    external_id,
    registration,
    error,
  }));
  const branches = caller.branches === 'all' ? [] : [...caller.branches].sort();
  const inserted = await sql<BatchRow>`
    with items as (
      insert into vehicle_batch_item (dealer_id, batch_id, index, status, item, external_id, registration, error, warnings)
      select ${dealer.id}::uuid, ${id}::uuid, i.index, i.status, i.item, i.external_id, i.registration, i.error, '{}'
      from json_to_recordset(${JSON.stringify(rows)}::json) as i(
        index integer, status vehicle_batch_item_status, item text, external_id text, registration text, error jsonb)
    )
    insert into vehicle_batch (dealer_id, id, status, total, created, updated, failed, calling_dealer_id, posted_by, all_branches, branch_ids,
      created_at, updated_at)
    values (${dealer.id}::uuid, ${id}::uuid, 'processing', ${taken.length}::integer, 0, 0, ${failed}::integer, ${caller.callingDealerId}::uuid,
      ${caller.id}::uuid, ${caller.branches === 'all'}::boolean, ${branches}::uuid[], ${now}::timestamptz, ${now}::timestamptz)
    returning *`.execute(tx.db);
  return inserted.rows[0]!;
}

/** The next items that are not written yet, in their order. */
export async function unwritten(tx: Context, batchId: string, most: number): Promise<{ index: number; item: BatchItem }[]> {
  const { rows } = await sql<{ index: number; item: string }>`
    select index, item from vehicle_batch_item
    where dealer_id = ${tx.dealer.id}::uuid and batch_id = ${batchId}::uuid and item is not null
    order by index limit ${most}::integer`.execute(tx.db);
  return rows.map(({ index, item }) => ({ index, item: JSON.parse(item) }));
}

export type WrittenItem = Pick<
  BatchItemResult,
  'index' | 'status' | 'operation' | 'matched_by' | 'vehicle_id' | 'error' | 'warnings' | 'images'
>;

/** Saves what became of some items, and the batch's counts with them, in one statement. One whose photos are being imported is not final. */
export async function saveResults(tx: Context, batchId: string, items: readonly WrittenItem[]): Promise<void> {
  await sql`
    with importing as (
      select batch_index from photo_import where dealer_id = ${tx.dealer.id}::uuid and batch_id = ${batchId}::uuid
    ), saved as (
      update vehicle_batch_item i
      set status = case when i.index in (select batch_index from importing) then 'pending' else r.status end, operation = r.operation,
        matched_by = r.matched_by, vehicle_id = r.vehicle_id, error = r.error, warnings = r.warnings,
        images = coalesce(i.images, r.images), item = null
      from jsonb_to_recordset(${JSON.stringify(items)}::jsonb) as r(
        index integer, status vehicle_batch_item_status, operation vehicle_batch_operation, matched_by vehicle_batch_match, vehicle_id uuid,
        error jsonb, warnings text[], images jsonb)
      where i.dealer_id = ${tx.dealer.id}::uuid and i.batch_id = ${batchId}::uuid and i.index = r.index
      returning i.status, i.operation
    ), counted as (
      select count(*) filter (where status = 'succeeded' and operation = 'created') as created,
        count(*) filter (where status = 'succeeded' and operation = 'updated') as updated,
        count(*) filter (where status = 'failed') as failed
      from saved
    )
    update vehicle_batch b
    set created = b.created + counted.created, updated = b.updated + counted.updated, failed = b.failed + counted.failed,
      updated_at = ${tx.now}::timestamptz
    from counted
    where b.dealer_id = ${tx.dealer.id}::uuid and b.id = ${batchId}::uuid`.execute(tx.db);
}

/** Completes the batch if every item is final and nobody has done so; only whoever does gets it back. */
export async function completeBatch(tx: Context, batchId: string): Promise<BatchRow | undefined> {
  const { rows } = await sql<BatchRow>`
    update vehicle_batch
    set status = 'completed', completed_at = ${tx.now}::timestamptz, updated_at = ${tx.now}::timestamptz
    where dealer_id = ${tx.dealer.id}::uuid and id = ${batchId}::uuid and status = 'processing' and created + updated + failed = total
    returning *`.execute(tx.db);
  return rows[0];
}

/** Deletes batches kept long enough, of all dealers, some at a time; items first, so that a kill leaves none without its batch. */
export async function deleteOldBatches({ pools }: Service, now: string | null): Promise<void> {
  const some = 50;
  for (;;) {
    const { rows } = await pools.doors.query(
      `select dealer_id, id from vehicle_batch where created_at < coalesce($1::timestamptz, clock_timestamp()) - make_interval(days => $2) limit $3`,
      [now, keptDays, some],
    );
    for (const { dealer_id, id } of rows) {
      await pools.doors.query('delete from vehicle_batch_item where dealer_id = $1 and batch_id = $2', [dealer_id, id]);
      await pools.doors.query('delete from vehicle_batch where dealer_id = $1 and id = $2', [dealer_id, id]);
    }
    if (rows.length < some) return;
  }
}
