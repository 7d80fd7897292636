import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { generator } from './changes.ts';
import { clientOf } from './client.ts';
import { inflict } from './faults.ts';
import { follow, listAll } from './follower.ts';
import type { Ground } from './ground.ts';
import { onGround } from './ground.ts';
import { randomFrom } from './random.ts';
import type { Acknowledged, Attempted, Bereft, Left, Listed, Received, Records } from './records.ts';
import type { Stage } from './stage.ts';
import { setStage } from './stage.ts';
import { mannerOf } from './ways.ts';

/** How long and how hard. */
export interface Ordeal {
  /** Of load, the last of it without new faults. */
  readonly seconds: number;
  /** How many deliveries are to be due by then, about; the load goes on until they are. */
  readonly deliveries: number;
  readonly kills: number;
  readonly restarts: number;
  readonly seed: number;
}

/** What came of it, beside the records. */
export interface Ended {
  readonly records: Records;
  /** Requests that got no answer, one that said "later", and one that told of a fault. */
  readonly troubles: { readonly unanswered: number; readonly later: number; readonly faults: number };
  /** The log of the product's processes. */
  readonly log: string;
}

const posts = { api: 2, courier: 2, worker: 1 };
const busyDealers = 4;
/** Before the first fault, and after the last: what is measured there is measured in calm. */
const calmShare = 0.15;

/** Loads the product, hurts it, lets it come to rest, and returns what everyone saw. */
export function endure(ordeal: Ordeal, tell: (line: string) => void): Promise<Ended> {
  const { seconds, deliveries } = ordeal;
  return onGround(posts, async (ground) => {
    const client = clientOf(ground.crew.apis);
    try {
      tell(`Making ${busyDealers + 1} dealers and their endpoints.`);
      const stage = await setStage(ground, client, busyDealers, seconds > 400);
      const random = randomFrom(ordeal.seed);
      const journal = `${ground.sink.journal}.acknowledged`;
      const changes = generator(client, random, journal, stage.takers);

      let over = false;
      const dealers = [...stage.busy, stage.odd];
      const followers = dealers.map(async (dealer) => [dealer.id, await follow(client, dealer, () => over)] as const);
      const startedAt = Date.now();
      const behind = () => changes.due < (deliveries * (Date.now() - startedAt)) / (seconds * 1_000);
      const load = [
        changes.lane(stage.odd, 2_500),
        ...stage.busy.flatMap((dealer) => [changes.lane(dealer, 150), changes.lane(dealer, 150), changes.batches(dealer, behind)]),
      ];
      const failed = Promise.all([...load, ...followers]).then(() => new Promise<never>(() => undefined));

      const calm = seconds * 1_000 * calmShare;
      const bereft: Bereft[] = [];
      const suffer = async () => {
        setTimeout(() => ground.sink.mend(), Math.min(mendedAfterMs, (seconds * 1_000) / 3)).unref();
        await delay(calm);
        await stage.rollSecret(stage.endpoints[0]!);
        const faults = await inflict(ground, { ...ordeal, seconds: seconds * (1 - 2 * calmShare) }, random, bereft);
        // Until what they left is over, it is no calm.
        const to = faults.to + 30_000;
        while (Date.now() < startedAt + seconds * 1_000 || changes.due < deliveries) await delay(100);
        return { from: faults.from, to };
      };
      const faults = await Promise.race([suffer(), failed]);
      changes.stop();
      await Promise.all(load);
      tell(`${changes.due} deliveries are due; waiting until they are made.`);
      const left = await comeToRest(ground, stage);
      over = true;
      const followed = new Map(await Promise.all(followers));
      const closedAt = Date.now();
      const attempted = await attempts(ground);
      const records: Records = {
        endpoints: stage.endpoints,
        acknowledged: linesOf<Acknowledged>(journal),
        received: linesOf<Received>(ground.sink.journal),
        listed: await withTimes(ground, (await Promise.all(dealers.map((dealer) => listAll(client, dealer)))).flat()),
        followed,
        attempted,
        lives: structuredClone(ground.crew.lives),
        outages: ground.database.outages,
        bereft,
        left,
        faults,
        closedAt,
      };
      return { records, troubles: client.troubles, log: readFileSync(ground.logFile, 'utf8') };
    } finally {
      await client.close();
    }
  });
}

/** Waits until nothing that will be taken is left, as long as it gets less. Returns what is left by then, of every endpoint. */
async function comeToRest({ database }: Ground, { endpoints }: Stage): Promise<Left[]> {
  const taking = endpoints.filter(({ way }) => mannerOf(way).comes === 'taken').map(({ id }) => id);
  let least = Number.POSITIVE_INFINITY;
  for (let until = Date.now() + longestPauseMs; least > 0 && Date.now() < until; await delay(200)) {
    const [{ left }] = await database.ask('select count(*)::int as left from delivery where endpoint_id = any($1)', [taking]);
    if (left < least) [least, until] = [left, Date.now() + longestPauseMs];
  }
  const rows = await database.ask(`
    select endpoint_id, event_id, attempt, state, extract(epoch from next_at) * 1000 as next_at,
      extract(epoch from lease_until) * 1000 as lease_until
    from delivery where not manual`);
  return rows.map((row) => ({
    endpointId: row.endpoint_id,
    eventId: `evt_${row.event_id}`,
    attempt: row.attempt,
    state: row.state,
    nextAt: Number(row.next_at),
    leaseUntil: row.lease_until === null ? null : Number(row.lease_until),
  }));
}

/** The run waits for every retry of what happened before. */
const mendedAfterMs = 60_000;
/** Longer than the first retry waits: what failed last may keep it so long. */
const longestPauseMs = 90_000;

const linesOf = <T>(file: string): T[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

/** When the database says that they happened, finer than the API shows. */
async function withTimes({ database }: Ground, listed: readonly Omit<Listed, 'at'>[]): Promise<Listed[]> {
  const rows = await database.ask('select id, extract(epoch from created_at) * 1000 as at from event');
  const times = new Map(rows.map(({ id, at }: { id: string; at: string }) => [`evt_${id}`, Number(at)]));
  return listed.map((event) => ({ ...event, at: times.get(event.id) ?? 0 }));
}

/** The delivery log. */
async function attempts({ database }: Ground): Promise<Attempted[]> {
  const rows = await database.ask(`
    select endpoint_id, event_id, attempt, success, response_status, error, duration_ms,
      extract(epoch from attempted_at) * 1000 as at, request_headers
    from delivery_attempt where not manual`);
  return rows.map((row) => ({
    endpointId: row.endpoint_id,
    eventId: `evt_${row.event_id}`,
    attempt: row.attempt,
    success: row.success,
    status: row.response_status,
    error: row.error,
    at: Number(row.at),
    durationMs: row.duration_ms,
    signature: signatureIn(row.request_headers),
  }));
}

const signatureIn = (headers: Record<string, string>): string =>
  Object.entries(headers).find(([name]) => name.toLowerCase() === 'service-signature')?.[1] ?? '';
