import type { ApiClient } from './api-client.ts';

/** A vehicle as a batch takes it. */
export type NewVehicle = Readonly<Record<string, unknown>>;

/** How far a batch is. */
interface Batch {
  readonly id: string;
  readonly status: 'processing' | 'completed';
  readonly created: number;
  readonly updated: number;
  readonly failed: number;
  readonly pending: number;
  readonly total: number;
}

interface Item {
  readonly status: string;
  readonly external_id: string | null;
  readonly error: { readonly code: string; readonly message: string; readonly errors?: Readonly<Record<string, readonly string[]>> } | null;
}

export interface Written {
  readonly created: number;
  readonly updated: number;
  readonly failed: number;
  /** Some of what failed, one line each. */
  readonly failures: readonly string[];
}

const batchSize = 500;
/** The batches that may wait to be written: enough to keep the worker busy, few enough to stop soon. */
const mostOpen = 50;
const pollMs = 2_000;
const patienceMs = 10 * 60_000;
const failuresShown = 10;

/**
 * Writes vehicles through `POST /v1/vehicles/batch` and waits until all are written. `run` makes the requests of one import
 * recognisable: one that is sent again is not done twice. `onProgress` hears how many are final.
 */
export async function writeVehicles(
  api: ApiClient,
  vehicles: AsyncIterable<NewVehicle>,
  { run, onProgress, sleep }: { run: string; onProgress(final: number): void; sleep(ms: number): Promise<unknown> },
): Promise<Written> {
  const open = new Map<string, Batch>();
  const done = { created: 0, updated: 0, failed: 0 };
  const failures: string[] = [];
  const waited = { since: Date.now(), final: 0 };

  const settle = async () => {
    await sleep(pollMs);
    const ids = [...open.keys()].join(',');
    const { data } = await api.get<{ data: Batch[] }>(`/v1/vehicle-batches?limit=100&ids=${ids}`);
    for (const batch of data) {
      if (batch.status === 'completed') {
        open.delete(batch.id);
        done.created += batch.created;
        done.updated += batch.updated;
        done.failed += batch.failed;
        if (batch.failed > 0 && failures.length < failuresShown) failures.push(...(await failuresOf(api, batch.id)));
      } else {
        open.set(batch.id, batch);
      }
    }
    const underWay = [...open.values()].reduce((sum, { total, pending }) => sum + total - pending, 0);
    const final = done.created + done.updated + done.failed + underWay;
    if (final > waited.final) Object.assign(waited, { since: Date.now(), final });
    if (Date.now() - waited.since > patienceMs) throw new Error('Nothing has been written for ten minutes. Does the worker run?');
    onProgress(final);
  };

  let posted = 0;
  for await (const items of inGroups(vehicles, batchSize)) {
    while (open.size >= mostOpen) await settle();
    const { data } = await api.post<{ data: Batch }>('/v1/vehicles/batch', items, `${run}-${posted + 1}`);
    open.set(data.id, data);
    posted += items.length;
  }
  while (open.size > 0) await settle();
  return { ...done, failures: failures.slice(0, failuresShown) };
}

async function failuresOf(api: ApiClient, batchId: string): Promise<string[]> {
  const { data } = await api.get<{ data: { items: Item[] } }>(`/v1/vehicle-batches/${batchId}`);
  return data.items.flatMap(({ error, external_id }) => (error ? [`${external_id ?? ''} ${error.code}: ${inWords(error)}`.trim()] : []));
}

const inWords = ({ message, errors }: NonNullable<Item['error']>): string =>
  errors
    ? Object.entries(errors)
        .map(([field, faults]) => `${field} ${faults.join(' ')}`)
        .join('; ')
    : message;

async function* inGroups<T>(items: AsyncIterable<T>, size: number): AsyncGenerator<T[]> {
  let group: T[] = [];
  for await (const item of items) {
    group.push(item);
    if (group.length < size) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}
