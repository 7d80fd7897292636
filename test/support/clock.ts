import type { Instant } from '#platform/dates.ts';
import { fromMillis, parseInstant, toMillis } from '#platform/dates.ts';

/** The clock of a test: the database's until it is set, then standing still until it is moved. */
export interface Clock {
  read(): Instant | null;
  set(at: string): void;
  /** Moves on from where it stands, or from the present. */
  move(by: { days?: number; hours?: number; minutes?: number; seconds?: number }): void;
  release(): void;
}

export function testClock(): Clock {
  let at: Instant | null = null;
  return {
    read: () => at,
    set: (text) => {
      at = parseInstant(text);
    },
    move: ({ days = 0, hours = 0, minutes = 0, seconds = 0 }) => {
      const from = at === null ? Date.now() : toMillis(at);
      at = fromMillis(from + (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000);
    },
    release: () => {
      at = null;
    },
  };
}
