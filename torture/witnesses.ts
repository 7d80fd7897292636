import type { Life, Outage, Received, Records } from './records.ts';

/** What is known about who sent what, and what befell them. */
export interface Witnesses {
  /** What kept the sender of a delivery from writing down, until a certain time, that it was taken; null when nothing did. */
  interrupted(received: Received, until: number): 'killed' | 'database' | null;
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
  const within = (outage: Outage, from: number, until: number) => outage.from <= until && outage.to >= from;

  return {
    interrupted(received, until) {
      const to = senderOf(received)?.to ?? Number.POSITIVE_INFINITY;
      if (to >= received.at - clockMs && to <= until) return 'killed';
      return outages.some((outage) => within(outage, received.at, until)) ? 'database' : null;
    },
  };
}

/** Between two processes that read the same clock. */
const clockMs = 5;
