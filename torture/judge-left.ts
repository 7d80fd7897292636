import { delayAfter } from './promises.ts';
import type { Attempted, Left, Records } from './records.ts';

/** Whether what is not over is still to come: asks the delivery log and the rows that were left. */
export function holders({ left, attempted, closedAt }: Records): (delivery: Pending) => boolean {
  const rows = new Map(left.map((row) => [`${row.endpointId} ${row.eventId}`, row]));
  const latest = new Map<string, number>();
  for (const { endpointId, at } of attempted) latest.set(endpointId, Math.max(latest.get(endpointId) ?? 0, at));

  /** The cap of its endpoint may keep it waiting, but then others of the endpoint are attempted meanwhile. */
  const waits = ({ endpointId, nextAt }: Left) => nextAt > closedAt - patienceMs || (latest.get(endpointId) ?? 0) > closedAt - patienceMs;

  return ({ endpointId, eventId, at, log }) => {
    const last = log.toSorted((one, other) => one.attempt - other.attempt || one.at - other.at).at(-1);
    const seconds = last ? delayAfter(last.attempt) : 0;
    if (seconds === null) return true;
    const row = rows.get(`${endpointId} ${eventId}`);
    if (!row) return false;
    // The rows were read before the log; and what is written by one whose lease is another's settles nothing.
    const isSame = last !== undefined && row.attempt === last.attempt;
    if (!isSame && row.attempt !== (last?.attempt ?? 0) + 1) return false;
    if (row.state === 'sending') return row.leaseUntil !== null && row.leaseUntil > closedAt - patienceMs;
    const dueAt = last && !isSame ? last.at + last.durationMs + seconds * 1_000 : (last?.at ?? at);
    return row.nextAt <= dueAt + settlingMs && waits(row);
  };
}

interface Pending {
  readonly endpointId: string;
  readonly eventId: string;
  /** When the event happened. */
  readonly at: number;
  readonly log: readonly Attempted[];
}

/** Within it every endpoint has its turn, and every lease that ended is seen: two attempts that hang, a lease, and what is left over. */
const patienceMs = 60_000;
/** The next attempt counts from the end of the one before as the database reckons it back, when it is told. */
const settlingMs = 15_000;
