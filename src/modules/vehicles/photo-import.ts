import { setTimeout as delay } from 'node:timers/promises';
import type { Context } from '#platform/context.ts';
import { limits } from '#platform/contract.ts';
import { fromMillis } from '#platform/dates.ts';
import { readsOf } from '#platform/db/queries.ts';
import { inTransaction, openTransaction } from '#platform/db/transaction.ts';
import { Refusal } from '#platform/errors.ts';
import { NotAPicture, readPicture } from '#platform/files/picture.ts';
import { enqueue } from '#platform/jobs/job.ts';
import type { FaultCode } from '#platform/net/fault.ts';
import { CallFault } from '#platform/net/fault.ts';
import type { OutsideClient } from '#platform/net/fetch.ts';
import { outsideClient } from '#platform/net/fetch.ts';
import { uuidv7 } from '#platform/secrets.ts';
import type { Service } from '#platform/service.ts';
import { turnstile } from '#platform/turnstile.ts';
import type { KeptPicture } from './photo-files.ts';
import { keepPicture } from './photo-files.ts';
import type { ImportRow, ItemRow } from './photo-queries.ts';
import * as rows from './photo-queries.ts';
import { finishItems, importPhotos } from './photo-staging.ts';
import { vehiclesNamed } from './queries.ts';
import { saveSettled } from './write.ts';

// A staged import from its job to its end: every photo is fetched and kept, then the gallery is replaced at once, or left as it was.

const tries = 3;
const pausesMs = [500, 2_000];
const patienceMs = 20_000;
/** Processes that died over one photo, after which it is taken to be the reason. */
const mostInterruptions = 5;

/** Of one import; a dealership's three together leave some of the process's to others. Each holds a whole file meanwhile. */
const atOnce = 3;
const inHand = turnstile(10);

/** Longer than this no job may run: it then queues itself anew. */
const longestMs = 8 * 60_000;

/** Fetches what an import still lacks, and concludes it. A job that died goes on where it stopped; one whose import has ended does nothing. */
export async function importGallery(ctx: Context, importId: string): Promise<void> {
  const staged = await rows.importRow(ctx, importId);
  if (!staged) return;
  const client = outsideClient(ctx.service.photosFrom, { connections: atOnce });
  const until = performance.now() + longestMs;
  const open = openPlaces(await rows.itemsOf(ctx, importId)).entries();
  const fetchNext = async () => {
    for (const [url, places] of open) if (performance.now() < until) await obtain(ctx, client, staged, url, places);
  };
  const ends = await Promise.allSettled(Array.from({ length: atOnce }, fetchNext));
  await client.close();
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  await atItsTurn(() => inTransaction(ctx, (tx) => conclude(tx, importId), 'stock_busy'));
}

/** Queues the imports anew whose job is gone. One that only waits for its turn has a job. */
export async function resumeImports(service: Service): Promise<void> {
  const forgotten = await rows.takeForgottenImports(service, forgottenMinutes);
  const underWay = await service.queue.underWay(
    importPhotos.name,
    forgotten.map(({ id }) => id),
  );
  for (const { id, asked } of forgotten.filter(({ id }) => !underWay.has(id))) {
    const ctx: Context = { ...asked, service, db: readsOf(service.pools.work, asked.dealer.id), now: fromMillis(Date.now()) };
    await openTransaction(ctx, (tx) => enqueue(tx, importPhotos, { importId: id }));
  }
}

const forgottenMinutes = 30;

const isUnfinished = ({ photo, failed }: ItemRow): boolean => photo === null && failed < tries;

/** The places to be filled, by the address that fills them: one that is named often is fetched once. */
function openPlaces(items: readonly ItemRow[]): Map<string, ItemRow[]> {
  const places = new Map<string, ItemRow[]>();
  for (const item of items) if (item.url !== null && isUnfinished(item)) places.set(item.url, [...(places.get(item.url) ?? []), item]);
  return places;
}

/** Tries for one photo until it is there or has failed for good. What is a fault of ours is no try: it ends the job, which comes again. */
async function obtain(ctx: Context, client: OutsideClient, staged: ImportRow, url: string, places: readonly ItemRow[]): Promise<void> {
  const positions = places.map(({ position }) => position);
  for (let failed = Math.max(...places.map((place) => place.failed)); failed < tries; ) {
    if (failed > 0) await delay(pausesMs[failed - 1]);
    const interrupted = await noted(ctx, (tx) => rows.beginTry(tx, staged.id, positions));
    if (interrupted === undefined) return;
    try {
      const got = interrupted < mostInterruptions ? await inHand(() => fetchPhoto(ctx, client, staged.vehicle_id, url)) : neverRead;
      if ('file' in got) {
        const fetched = places.map(({ position, alt }) => ({ position, photo: { id: uuidv7(ctx.now), ...got, alt, source_url: url } }));
        return await noted(ctx, (tx) => rows.saveFetched(tx, staged.id, fetched));
      }
      failed = got.forGood ? tries : failed + 1;
      await noted(ctx, (tx) => rows.saveFailedTry(tx, staged.id, positions, failed, got.reason));
    } catch (fault) {
      // Else it would count as a death of the process. If not even this can be written, it does.
      await noted(ctx, (tx) => rows.takeBackTry(tx, staged.id, positions)).catch(() => undefined);
      throw fault;
    }
  }
}

const noted = <T>(ctx: Context, note: (tx: Context) => Promise<T>): Promise<T> => atItsTurn(() => openTransaction(ctx, note, 'stock_busy'));

interface Missed {
  readonly reason: string;
  /** Trying again would not help. */
  readonly forGood: boolean;
}

const neverRead: Missed = { reason: 'Reading it was interrupted again and again.', forGood: true };
const missed = (reason: string): Missed => ({ reason, forGood: false });

async function fetchPhoto(ctx: Context, client: OutsideClient, vehicleId: string, url: string): Promise<KeptPicture | Missed> {
  try {
    const { status, body, cut } = await client.send({ url, headers: asked, timeoutMs: patienceMs, mostBytes: limits.file });
    if (status >= 300 && status < 400) return missed('It redirects, and redirects are not followed.');
    if (status !== 200) return missed(`It answered ${status}.`);
    if (cut !== null) return missed(cuts[cut]);
    return await keepPicture(ctx, vehicleId, await readPicture(body));
  } catch (error) {
    if (error instanceof NotAPicture) return missed(error.message);
    if (error instanceof CallFault) return { reason: error.message, forGood: mayNotBeCalled.includes(error.code) };
    throw error;
  }
}

const mayNotBeCalled: readonly FaultCode[] = ['blocked_address', 'plain_http'];

const asked = { accept: 'image/jpeg, image/png, image/webp', 'user-agent': 'Forecourt' };

const cuts = {
  size: `Larger than ${limits.file / 1024 / 1024} MiB.`,
  timeout: `It did not arrive whole within ${patienceMs / 1000} s.`,
  connection: 'The connection broke before it was whole.',
};

/** Ends the import with one write: all photos are there, and become the gallery, or it stays as it was. */
async function conclude(tx: Context, importId: string): Promise<void> {
  const staged = await rows.importRow(tx, importId);
  if (!staged) return;
  await rows.reopenLost(tx, importId);
  const items = await rows.itemsOf(tx, importId);
  if (items.some(isUnfinished)) return enqueue(tx, importPhotos, { importId });
  await rows.deleteImports(tx, [staged.vehicle_id]);

  const photos = items.flatMap(({ photo }) => (photo === null ? [] : [photo]));
  const failed = items.flatMap(({ photo, url, reason }) => (photo === null ? [{ url: url ?? '', reason: reason ?? '' }] : []));
  const requested = items.filter(({ url }) => url !== null).length;
  const [vehicle] = await vehiclesNamed(tx, { ids: [staged.vehicle_id], externalIds: [], registrations: [], vins: [] });
  if (vehicle) {
    const state = failed.length === 0 ? 'succeeded' : 'failed';
    const images = failed.length === 0 ? photos : vehicle.images;
    await saveSettled(tx, vehicle, { ...vehicle, images, images_import: { state, requested, failed } });
  }
  const { batch_id: batchId, batch_index: index } = staged;
  if (batchId === null || index === null) return;
  await finishItems(tx, [{ batchId, index, images: { requested, imported: failed.length === 0 ? requested : 0, failed } }]);
}

/** Others write: the turn comes round again. */
async function atItsTurn<T>(work: () => Promise<T>): Promise<T> {
  for (const until = performance.now() + 60_000; ; ) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Refusal && error.code === 'stock_busy' && performance.now() < until)) throw error;
    }
  }
}
