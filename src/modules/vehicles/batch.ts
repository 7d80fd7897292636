import { z } from 'zod';
import { emit } from '#modules/events/index.ts';
import type { Context } from '#platform/context.ts';
import type { Page } from '#platform/contract.ts';
import { toDateTime } from '#platform/dates.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import type { FieldErrors } from '#platform/errors.ts';
import { invalidFields, Refusal } from '#platform/errors.ts';
import { fieldErrors } from '#platform/field-errors.ts';
import { enqueue, job } from '#platform/jobs/job.ts';
import { uuidv7 } from '#platform/secrets.ts';
import type { BatchRow, TakenItem, WrittenItem } from './batch-queries.ts';
import * as rows from './batch-queries.ts';
import type {
  BatchDryRun,
  BatchItem,
  BatchItemResult,
  ItemError,
  VehicleBatch,
  VehicleBatchListQuery,
  VehicleBatchWithItems,
} from './contract.ts';
import { batchItem, vehicleBatchCompleted } from './contract.ts';
import { noticeGrowth } from './queries.ts';
import { checkCostsScope, wrongByCalendar } from './rules.ts';
import type { Outcome } from './write.ts';
import { foresee, writeEach } from './write.ts';

// A batch from its arrival to its end: taken in at once, written in the background, completed once.

export const writeBatch = job('vehicles.write_batch', z.strictObject({ batchId: z.string() }));

const chunkSize = 50;
const patienceMs = 60_000;

/** Takes the batch in: items of the wrong shape have failed already, the others are written in the background. */
export async function acceptBatch(ctx: Context, items: readonly unknown[]): Promise<VehicleBatchWithItems> {
  const taken = take(ctx, items);
  return inTransaction(
    ctx,
    async (tx) => {
      const id = uuidv7(tx.now);
      const batch = await rows.insertBatch(tx, id, taken);
      const completed = batch.failed === batch.total ? await completeWhenFinal(tx, id) : undefined;
      if (!completed) await enqueue(tx, writeBatch, { batchId: id });
      return { ...toBatch(completed ?? batch), items: taken.map(({ result }) => result) };
    },
    'stock_busy',
  );
}

/** What a batch of these items would become now. Writes nothing. */
export async function tryBatch(ctx: Context, items: readonly unknown[]): Promise<BatchDryRun> {
  const taken = take(ctx, items);
  const sound = taken.filter((each): each is TakenItem & { item: BatchItem } => each.item !== null);
  const outcomes = await foresee(
    ctx,
    sound.map(({ item }) => ({ upsert: item })),
  );
  const unborn = new Set(
    outcomes.map((outcome) => ('operation' in outcome && outcome.operation === 'created' ? outcome.vehicle.id : null)),
  );
  const foreseen = new Map(sound.map(({ result: { index }, item }, at) => [index, resultOf(index, item, outcomes[at]!)]));
  const results = taken.map(({ result }) => {
    const outcome = foreseen.get(result.index);
    // A vehicle that would be new has no id yet, also where a later item would change it.
    return outcome ? { ...result, ...outcome, vehicle_id: unborn.has(outcome.vehicle_id) ? null : outcome.vehicle_id } : result;
  });
  const count = (test: (result: BatchItemResult) => boolean) => results.filter(test).length;
  const now = toDateTime(ctx.now);
  return {
    id: null,
    status: 'completed',
    total: results.length,
    created: count(({ operation }) => operation === 'created'),
    updated: count(({ operation }) => operation === 'updated'),
    failed: count(({ status }) => status === 'failed'),
    pending: 0,
    created_at: now,
    completed_at: now,
    updated_at: now,
    items: results,
  };
}

/** Writes what is not written yet, some items to a transaction and a turn: a job that died half way goes on where it stopped. */
export async function writeRemaining(ctx: Context, batchId: string): Promise<void> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    try {
      const more = await inTransaction(ctx, (tx) => writeChunk(tx, batchId), 'stock_busy');
      if (!more) return await noticeGrowth(ctx.service);
    } catch (error) {
      // Others write: the turn comes round again.
      if (!(error instanceof Refusal && error.code === 'stock_busy' && performance.now() < deadline)) throw error;
    }
  }
}

/** Completes the batch, once, when every item is final, and tells of it. For inside a transaction. */
export async function completeWhenFinal(tx: Context, batchId: string): Promise<BatchRow | undefined> {
  const batch = await rows.completeBatch(tx, batchId);
  if (batch) emit(tx, vehicleBatchCompleted, toBatch(batch), { resourceId: batchId, branchId: null });
  return batch;
}

/** A batch with the results of its items, if it exists for this caller. */
export async function getBatch(ctx: Context, id: string): Promise<VehicleBatchWithItems> {
  const [batch, items] = await Promise.all([rows.visibleBatch(ctx, id), rows.resultsOf(ctx, id)]);
  if (!batch) throw new Refusal('not_found');
  return { ...toBatch(batch), items };
}

export const listBatches = (ctx: Context, query: VehicleBatchListQuery): Promise<Page<VehicleBatch>> =>
  rows.pageOfBatches(ctx, query, toBatch);

/** Forgets the batches that were kept long enough. */
export const sweepBatches = (service: Context['service']): Promise<void> => rows.deleteOldBatches(service, service.clock());

// ---- Taking in ----

const pending = {
  status: 'pending',
  operation: null,
  matched_by: null,
  vehicle_id: null,
  error: null,
  warnings: [],
  images: null,
} as const satisfies Partial<BatchItemResult>;

function take(ctx: Context, items: readonly unknown[]): TakenItem[] {
  const taken = items.map((item, index) => takeItem(item, index, ctx));
  if (items.some((item) => isObject(item) && item.costs !== undefined)) checkCostsScope(ctx.caller);
  return taken;
}

function takeItem(given: unknown, index: number, { now }: Context): TakenItem {
  const read = batchItem.safeParse(given);
  const errors = read.success ? wrongByCalendar(read.data, now) : fieldErrors(read.error, batchItem, 'item');
  if (!read.success || Object.keys(errors).length > 0) {
    const echo = isObject(given) ? { external_id: shown(given.external_id), registration: shown(given.registration) } : noEcho;
    return { item: null, result: { index, ...pending, ...echo, status: 'failed', error: errorOf(invalidFields(errors)) } };
  }
  const { external_id: externalId = null, registration = null } = read.data;
  return { item: read.data, result: { index, ...pending, external_id: externalId, registration } };
}

const noEcho = { external_id: null, registration: null };

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

/** What was given, as far as it can be kept. */
const shown = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' && value.length <= 191 && value.isWellFormed() && !value.includes('\u0000') ? value : null;

function errorOf({ code, message, fields }: Refusal): ItemError {
  return { code, message, ...(fields && { errors: fields satisfies FieldErrors }) };
}

// ---- Writing ----

async function writeChunk(tx: Context, batchId: string): Promise<boolean> {
  const chunk = await rows.unwritten(tx, batchId, chunkSize);
  if (chunk.length > 0) {
    const outcomes = await writeEach(
      tx,
      chunk.map(({ item }) => ({ upsert: item })),
    );
    await rows.saveResults(
      tx,
      batchId,
      chunk.map(({ index, item }, at) => resultOf(index, item, outcomes[at]!)),
    );
  }
  if (chunk.length === chunkSize) return true;
  await completeWhenFinal(tx, batchId);
  return false;
}

function resultOf(index: number, item: BatchItem, outcome: Outcome): WrittenItem {
  const matched_by = outcome.match?.by ?? null;
  const warnings = item.id && matched_by !== 'id' ? ['id_not_matched'] : [];
  if ('refusal' in outcome) {
    const vehicle_id = outcome.match?.vehicle.id ?? null;
    return { index, status: 'failed', operation: null, matched_by, vehicle_id, error: errorOf(outcome.refusal), warnings };
  }
  const { operation, vehicle } = outcome;
  return { index, status: 'succeeded', operation, matched_by, vehicle_id: vehicle.id, error: null, warnings };
}

function toBatch({ id, status, total, created, updated, failed, created_at, completed_at, updated_at }: BatchRow): VehicleBatch {
  return {
    id,
    status,
    total,
    created,
    updated,
    failed,
    pending: total - created - updated - failed,
    created_at: toDateTime(created_at),
    completed_at: completed_at && toDateTime(completed_at),
    updated_at: toDateTime(updated_at),
  };
}
