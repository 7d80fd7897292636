import { z } from 'zod';
import type { Context } from '#platform/context.ts';
import type { Page } from '#platform/contract.ts';
import { toDateTime } from '#platform/dates.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import type { FieldErrors } from '#platform/errors.ts';
import { invalidFields, Refusal } from '#platform/errors.ts';
import { fieldErrors } from '#platform/field-errors.ts';
import { enqueue, job } from '#platform/jobs/job.ts';
import type { Lookup } from '#platform/lookup/lookup.ts';
import { uuidv7 } from '#platform/secrets.ts';
import { completeWhenFinal, toBatch } from './batch-completion.ts';
import type { TakenItem, WrittenItem } from './batch-queries.ts';
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
import { batchItem, vehicle } from './contract.ts';
import { lookUpsWithin } from './lookup.ts';
import { wrongByScheme } from './photo-gallery.ts';
import { noticeGrowth } from './queries.ts';
import { checkCostsScope, wrongByCalendar } from './rules.ts';
import type { Outcome, Write } from './write.ts';
import { foresee, registrationsToLookUp, writeEach } from './write.ts';

// A batch from its arrival to its end: taken in at once, written in the background, completed once.

export const writeBatch = job('vehicles.write_batch', z.strictObject({ batchId: z.string() }));

const chunkSize = 50;
const patienceMs = 60_000;

/** The most time that look-ups take: of a batch in the background, and of one whose sender waits for what it would become. */
const lookUpMs = { writing: 120_000, trying: 20_000 };

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

/** The look-ups that say what a batch of these items would become. */
export async function lookUpItems(ctx: Context, items: readonly unknown[]): Promise<Known> {
  const lookUps = lookUpsWithin(ctx, lookUpMs.trying);
  await lookUps.ask(await registrationsToLookUp(ctx, soundOf(take(ctx, items)).map(toWrite(lookUps.known))));
  return lookUps.known;
}

/** What a batch of these items would become now. Writes nothing. */
export async function tryBatch(ctx: Context, items: readonly unknown[], known: Known = new Map()): Promise<BatchDryRun> {
  const taken = take(ctx, items);
  const sound = soundOf(taken);
  const outcomes = await foresee(ctx, sound.map(toWrite(known)));
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

/**
 * Writes what is not written yet, some items to a transaction and a turn: a job that died half way goes on where it stopped.
 * Items that lack a look-up leave theirs unwritten; they are looked up with no transaction open, and then it is their turn again.
 */
export async function writeRemaining(ctx: Context, batchId: string): Promise<void> {
  const lookUps = lookUpsWithin(ctx, lookUpMs.writing);
  let deadline = performance.now() + patienceMs;
  for (;;) {
    try {
      const { more, toLookUp } = await inTransaction(ctx, (tx) => writeChunk(tx, batchId, lookUps.known), 'stock_busy');
      if (!more) return await noticeGrowth(ctx.service);
      if (toLookUp.length === 0) continue;
      await lookUps.ask(toLookUp);
      deadline = performance.now() + patienceMs;
    } catch (error) {
      // Others write: the turn comes round again.
      if (!(error instanceof Refusal && error.code === 'stock_busy' && performance.now() < deadline)) throw error;
    }
  }
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

function takeItem(given: unknown, index: number, { now, service }: Context): TakenItem {
  const read = batchItem.safeParse(given);
  const errors = read.success
    ? { ...wrongByCalendar(read.data, now), ...wrongByScheme(read.data.images, service.photosFrom.allow.length > 0) }
    : fieldErrors(read.error, batchItem, 'item', vehicle);
  if (!read.success || Object.keys(errors).length > 0) {
    const echo = isObject(given) ? { external_id: shown(given.external_id), registration: shown(given.registration) } : noEcho;
    return { item: null, result: { index, ...pending, ...echo, status: 'failed', error: errorOf(invalidFields(errors)) } };
  }
  const { external_id: externalId = null, registration = null } = read.data;
  return { item: read.data, result: { index, ...pending, external_id: externalId, registration } };
}

const soundOf = (taken: readonly TakenItem[]) => taken.filter((each): each is TakenItem & { item: BatchItem } => each.item !== null);

/** What the providers said, by registration. */
type Known = ReadonlyMap<string, Lookup>;

const toWrite =
  (known: Known) =>
  ({ item }: { readonly item: BatchItem }): Write => ({ upsert: item, lookUp: known.get(item.registration ?? '') });

const noEcho = { external_id: null, registration: null };

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

/** What was given, as far as it can be kept. */
const shown = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' && value.length <= 191 && value.isWellFormed() && !value.includes('\u0000') ? value : null;

function errorOf({ code, message, fields }: Refusal): ItemError {
  return { code, message, ...(fields && { errors: fields satisfies FieldErrors }) };
}

// ---- Writing ----

async function writeChunk(tx: Context, batchId: string, known: Known): Promise<{ more: boolean; toLookUp: readonly string[] }> {
  const chunk = await rows.unwritten(tx, batchId, chunkSize);
  const writes = chunk.map((each) => ({ ...toWrite(known)(each), forItem: { batchId, index: each.index } }));
  const toLookUp = await registrationsToLookUp(tx, writes);
  if (toLookUp.length > 0) return { more: true, toLookUp };
  if (chunk.length > 0) {
    const outcomes = await writeEach(tx, writes);
    await rows.saveResults(
      tx,
      batchId,
      chunk.map(({ index, item }, at) => resultOf(index, item, outcomes[at]!)),
    );
  }
  if (chunk.length === chunkSize) return { more: true, toLookUp };
  await completeWhenFinal(tx, batchId);
  return { more: false, toLookUp };
}

function resultOf(index: number, item: BatchItem, outcome: Outcome): WrittenItem {
  const matched_by = outcome.match?.by ?? null;
  const warnings = item.id && matched_by !== 'id' ? ['id_not_matched'] : [];
  if ('refusal' in outcome) {
    const vehicle_id = outcome.match?.vehicle.id ?? null;
    return { index, status: 'failed', operation: null, matched_by, vehicle_id, error: errorOf(outcome.refusal), warnings, images: null };
  }
  const { operation, vehicle, requested } = outcome;
  const images = requested === null ? null : { requested, imported: 0, failed: [] };
  return { index, status: 'succeeded', operation, matched_by, vehicle_id: vehicle.id, error: null, warnings, images };
}
