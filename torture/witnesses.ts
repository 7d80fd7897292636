import type { Life, Received, Records } from './records.ts';

/** What is known about who sent what, and what befell them. */
export interface Witnesses {
  /** What kept the sender of a delivery from writing down that it was taken, which takes as long as an attempt at most; null when nothing did. */
  interrupted(received: Received): 'killed' | 'database' | null;
}

/** The sender of a delivery is who opened the connection it came over: every port is one process's at a time. */
export function witnesses({ lives, outages }: Records): Witnesses {
  const owners = new Map<number, { since: number; life: Life }[]>();
  for (const life of lives)
    for (const [port, times] of life.ports) for (const since of times) owners.set(port, [...(owners.get(port) ?? []), { since, life }]);
  const senderOf = ({ port, at }: Received): Life | undefined =>
    owners
      .get(port)
      ?.filter(({ since }) => since <= at + clockMs)
      .sort((one, other) => other.since - one.since)[0]?.life;

  return {
    interrupted(received) {
      const until = received.at + attemptMs;
      // What it had sent may be read here when it is dead already.
      const to = senderOf(received)?.to ?? Number.POSITIVE_INFINITY;
      if (to <= until) return 'killed';
      return outages.some(({ from, to }) => from <= until && to >= received.at) ? 'database' : null;
    },
  };
}

/** An attempt has ended after ten seconds; a little later its outcome is written. */
const attemptMs = 12_000;

/** Between two processes that read the same clock. */
const clockMs = 5;
