import type { Claimed } from '#modules/deliveries/index.ts';
import { placesLeft } from '#modules/deliveries/index.ts';

/** The attempts a process makes at once. */
export interface Slots {
  /** How many more may begin, and which endpoints let this process wait. */
  free(): { places: number; troubledPlaces: number; slow: string[] };
  /** Takes a place. Returns what gives it back. */
  take(delivery: Pick<Claimed, 'endpoint_id' | 'troubled'>): () => void;
  count(): number;
  /** None is taken any more. */
  empty(): Promise<void>;
}

/** An endpoint that has not answered for so long is in trouble, whatever is known of it. */
const slowMs = 1_000;

export function slotsOf(most: number): Slots {
  const taken = new Set<{ endpointId: string; troubled: boolean; since: number }>();
  let emptied: (() => void)[] = [];
  return {
    free() {
      const slowSince = performance.now() - slowMs;
      const slow = new Set<string>();
      let troubled = 0;
      for (const one of taken) {
        const isSlow = one.since < slowSince;
        if (isSlow) slow.add(one.endpointId);
        if (isSlow || one.troubled) troubled++;
      }
      return { ...placesLeft(most, { calm: taken.size - troubled, troubled }), slow: [...slow] };
    },
    take({ endpoint_id: endpointId, troubled }) {
      const one = { endpointId, troubled, since: performance.now() };
      taken.add(one);
      return () => {
        taken.delete(one);
        if (taken.size > 0) return;
        for (const tell of emptied) tell();
        emptied = [];
      };
    },
    count: () => taken.size,
    empty: () => (taken.size === 0 ? Promise.resolve() : new Promise((tell) => emptied.push(tell))),
  };
}
