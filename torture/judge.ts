import { means } from '#modules/events/index.ts';
import { checkEvents } from './judge-events.ts';
import { holders } from './judge-left.ts';
import { orphansOf } from './judge-orphans.ts';
import { delayAfter } from './promises.ts';
import type { Attempted, Endpoint, Listed, Received, Records } from './records.ts';
import { keepsWaiting, mannerOf } from './ways.ts';
import { witnesses } from './witnesses.ts';

/** What a run came to. */
export interface Verdict {
  readonly events: number;
  /** How often an event was to be taken by a receiver. */
  readonly due: number;
  readonly received: number;
  readonly attempts: number;
  readonly duplicates: { readonly killed: number; readonly database: number; readonly unexplained: number };
  /** Attempts at receivers that are well that failed all the same. */
  readonly failures: number;
  /** Repetitions by the schedule, and how late the latest of them was. */
  readonly retries: { readonly count: number; readonly latestMs: number };
  /** Milliseconds from the event to its first receipt at receivers that behave well. */
  readonly calm: readonly number[];
  readonly meanwhile: readonly number[];
  /** How long after it had nobody, or no database, what a killed courier had claimed was sent again. At receivers that hang it waits for its turn as well: those are not told. */
  readonly orphans: readonly number[];
  /** Everything that is not as promised, by what it is. */
  readonly wrong: ReadonlyMap<Wrong, readonly string[]>;
}

export const wrongs = [
  'lost',
  'not at rest',
  'not listed once',
  'not followed',
  'out of order',
  'unasked',
  'altered',
  'not genuine',
  'unexplained',
  'early',
  'resumed late',
  'odd outcome',
  'not logged',
  'logged, not received',
] as const;
export type Wrong = (typeof wrongs)[number];

/** As long as an attempt may take, and a little more. */
const underWayMs = 15_000;
/** Durations are kept in whole milliseconds, and so are the times of this clock. */
const roundingMs = 2;

/** Compares what was acknowledged with what was listed, delivered and logged. */
export function judge(records: Records): Verdict {
  const wrong = new Map<Wrong, string[]>(wrongs.map((kind) => [kind, []]));
  const note = (kind: Wrong, what: string) => void wrong.get(kind)!.push(what);
  checkEvents(records, note);

  const { interrupted } = witnesses(records);
  const isHeld = holders(records);
  const eventsOf = Map.groupBy(records.listed, ({ dealerId }) => dealerId);
  const endpointAt = new Map(records.endpoints.map((endpoint) => [endpoint.path, endpoint]));
  const receipts = Map.groupBy(records.received, ({ path, eventId }) => pairOf(endpointAt.get(path)?.id ?? path, eventId));
  const logged = Map.groupBy(records.attempted, ({ endpointId, eventId }) => pairOf(endpointId, eventId));
  const duplicates = { killed: 0, database: 0, unexplained: 0 };
  const retries = { count: 0, latestMs: 0 };
  const [calm, meanwhile]: [number[], number[]] = [[], []];
  let due = 0;
  let failures = 0;

  const orphans = orphansOf(records, ({ endpointId, eventId }) => logged.get(pairOf(endpointId, eventId)) ?? []);
  for (const { endpointId, eventId, afterMs, isLate } of orphans)
    if (isLate) note('resumed late', `${endpointId} ${eventId} after ${Math.round(afterMs)} ms`);

  const taking = new Set(records.endpoints.filter(({ way }) => mannerOf(way).comes === 'taken').map(({ id }) => id));
  for (const { endpointId, eventId, attempt, state } of records.left)
    if (taking.has(endpointId)) note('not at rest', `${endpointId} ${eventId}: attempt ${attempt} is ${state}`);

  for (const { path } of records.received) if (!endpointAt.has(path)) note('unasked', path);
  for (const endpoint of records.endpoints) {
    const wanted = (eventsOf.get(endpoint.dealerId) ?? []).filter(({ type }) => endpoint.events.some((entry) => means(entry, type)));
    const known = new Set(wanted.map(({ id }) => id));
    for (const { path, eventId } of records.received)
      if (path === endpoint.path && !known.has(eventId)) note('unasked', `${path} ${eventId}`);
    for (const event of wanted) {
      const pair = pairOf(endpoint.id, event.id);
      const came = (receipts.get(pair) ?? []).toSorted((one, other) => one.at - other.at);
      const log = (logged.get(pair) ?? []).toSorted((one, other) => one.at - other.at);
      const isTaken = mannerOf(endpoint.way).comes === 'taken';
      if (isTaken) due++;
      // A receipt alone says little: the sink notes what it refuses too.
      const isWell = isTaken
        ? came.length > 0 && log.some(({ success }) => success)
        : isHeld({ endpointId: endpoint.id, eventId: event.id, at: event.at, log });
      if (!isWell) note('lost', `${endpoint.path} ${event.type} ${event.id} of ${new Date(event.at).toISOString()}`);
      checkReceipts(endpoint, event, came, log);
      checkLog(endpoint, event, came, log);
      if (endpoint.way === 'takes' && came[0]) {
        const { from, to } = records.faults;
        (event.at < from || event.at > to ? calm : meanwhile).push(came[0].at - event.at);
      }
    }
  }

  function checkReceipts(endpoint: Endpoint, event: Listed, came: readonly Received[], log: readonly Attempted[]): void {
    const what = `${endpoint.path} ${event.id}`;
    for (const [i, one] of came.entries()) {
      if (one.hash !== event.hash) note('altered', what);
      if (!one.genuine) note('not genuine', what);
      const settled = log.find(({ signature }) => signature === one.signature);
      const next = came[i + 1];
      const why = interrupted(one);
      if (!settled && !why && one.at < records.closedAt - underWayMs) note('not logged', what);
      if (!next || (settled && !settled.success)) continue;
      if (why) duplicates[why]++;
      else {
        duplicates.unexplained++;
        note('unexplained', `${what} at ${new Date(one.at).toISOString()} and ${new Date(next.at).toISOString()}`);
      }
    }
  }

  function checkLog(endpoint: Endpoint, event: Listed, came: readonly Received[], log: readonly Attempted[]): void {
    const what = `${endpoint.path} ${event.id}`;
    const { comes } = mannerOf(endpoint.way);
    for (const [i, one] of log.entries()) {
      if (comes === 'taken') failures += one.success || endpoint.way === 'leaves' || one.error === 'status' ? 0 : 1;
      else if (one.success || one.error !== comes) note('odd outcome', `${what}: ${one.error ?? one.status}`);
      if (one.status !== null && !came.some(({ signature }) => signature === one.signature)) note('logged, not received', what);
      const before = log[i - 1];
      if (!before || before.success || before.attempt !== one.attempt - 1) continue;
      const lateMs = one.at - (before.at + before.durationMs + (delayAfter(before.attempt) ?? 0) * 1_000);
      retries.count++;
      if (!keepsWaiting(endpoint.way)) retries.latestMs = Math.max(retries.latestMs, lateMs);
      if (lateMs < -roundingMs) note('early', `${what}: attempt ${one.attempt} by ${-lateMs} ms`);
    }
  }

  return {
    events: records.listed.length,
    due,
    received: records.received.length,
    attempts: records.attempted.length,
    duplicates,
    failures,
    retries,
    calm,
    meanwhile,
    orphans: orphans.flatMap(({ way, afterMs }) => (keepsWaiting(way) ? [] : [afterMs])),
    wrong,
  };
}

const pairOf = (endpointId: string, eventId: string): string => `${endpointId} ${eventId}`;
