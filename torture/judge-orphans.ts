import { leaseMs } from './promises.ts';
import type { Attempted, Bereft, Records } from './records.ts';
import type { Way } from './ways.ts';

/** Something that was under way when a courier was killed, and was sent again when its lease was over. */
export interface Orphan {
  readonly endpointId: string;
  readonly eventId: string;
  readonly way: Way;
  readonly attempt: number;
  /** Since it had nobody, or there was no database to find it in. */
  readonly afterMs: number;
  readonly isLate: boolean;
}

/**
 * A lease has at most 20 s to go when its holder is killed, and is looked for every second; a database that came back is given
 * 5 s first. That makes 26 s, and 4 s are left to the aim of 30 s for the next claim of a courier that may have to start first.
 */
const aimMs = leaseMs + 1_000 + 5_000 + 4_000;
/** What fails or is slow shares few places with others of its kind: it may wait for two that hang, 10 s each. */
const placesMs = 20_000;
const prompt: readonly Way[] = ['takes', 'closes', 'informs', 'floods'];

/** `logged` finds the attempts of a delivery. */
export function orphansOf({ bereft, outages, endpoints }: Records, logged: (one: Bereft) => readonly Attempted[]): Orphan[] {
  const wayAt = new Map(endpoints.map(({ id, way }) => [id, way]));
  const same = Map.groupBy(bereft, ({ endpointId, eventId, attempt }) => `${endpointId} ${eventId} ${attempt}`);
  return [...same.values()].flatMap((seen) => {
    // A lease seen at two kills may have been of either: it counts from the later.
    const leases = [...new Map(seen.toSorted(byKill).map((one) => [one.leaseUntil, one])).values()];
    return leases.flatMap((one, i) => {
      const { endpointId, eventId, attempt, killedAt, leaseUntil } = one;
      // Who claimed it next may have been killed before the attempt was written down.
      const next = leases[i + 1];
      const resumedAt = next
        ? next.leaseUntil - leaseMs
        : Math.min(...logged(one).flatMap(({ attempt: n, at }) => (n === attempt && at >= leaseUntil - 1_000 ? [at] : [])));
      // What never came is not late, but lost.
      if (resumedAt === Number.POSITIVE_INFINITY) return [];
      const back = outages.map(({ to }) => to).filter((to) => to <= resumedAt);
      const afterMs = resumedAt - Math.max(killedAt, ...back);
      const way = wayAt.get(endpointId) ?? 'takes';
      const mostMs = aimMs + (prompt.includes(way) ? 0 : placesMs);
      return [{ endpointId, eventId, way, attempt, afterMs, isLate: afterMs > mostMs }];
    });
  });
}

const byKill = (one: Bereft, other: Bereft): number => one.killedAt - other.killedAt;
