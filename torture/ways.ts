import type { Behaviour } from '../test/support/behaviours.ts';
import {
  answers,
  babbles,
  dripsItsBody,
  dripsItsHead,
  failsFirst,
  floods,
  hangs,
  redirectsTo,
  resets,
  takes,
  takesAfter,
  takesAfterInforming,
  takesAndCloses,
  takesAndLeaves,
} from '../test/support/behaviours.ts';

/** How a receiver behaves, and what must come of its deliveries: that they are taken in the end, or this error each time. */
interface Manner {
  /** It may be mended after a while, so that a run need not wait for the last retry of the last event. */
  readonly behaves: (isMended: () => boolean) => Behaviour;
  readonly comes: 'taken' | 'timeout' | 'connect' | 'redirect' | 'status' | 'tls';
  /** The certificate its server shows. */
  readonly shows?: 'expired' | 'of another name' | 'by nobody known';
}

export const ways = {
  takes: { behaves: () => takes, comes: 'taken' },
  closes: { behaves: () => takesAndCloses, comes: 'taken' },
  dawdles: { behaves: () => takesAfter(1_500), comes: 'taken' },
  informs: { behaves: () => takesAfterInforming(103), comes: 'taken' },
  floods: { behaves: () => floods, comes: 'taken' },
  'drips-body': { behaves: () => dripsItsBody, comes: 'taken' },
  'fails-once': { behaves: (isMended) => failsFirst(1, isMended), comes: 'taken' },
  'fails-twice': { behaves: (isMended) => failsFirst(2, isMended), comes: 'taken' },
  leaves: {
    behaves:
      (isMended) =>
      (...delivery) =>
        (isMended() ? takes : takesAndLeaves)(...delivery),
    comes: 'taken',
  },
  fails: { behaves: () => answers(500), comes: 'status' },
  redirects: { behaves: () => redirectsTo('/takes/elsewhere'), comes: 'redirect' },
  hangs: { behaves: () => hangs, comes: 'timeout' },
  'drips-head': { behaves: () => dripsItsHead, comes: 'timeout' },
  resets: { behaves: () => resets, comes: 'connect' },
  babbles: { behaves: () => babbles, comes: 'connect' },
  expired: { behaves: () => takes, comes: 'tls', shows: 'expired' },
  stranger: { behaves: () => takes, comes: 'tls', shows: 'of another name' },
  'self-signed': { behaves: () => takes, comes: 'tls', shows: 'by nobody known' },
} as const satisfies Record<string, Manner>;

export type Way = keyof typeof ways;

export const mannerOf = (way: Way): Manner => ways[way];

/** Whether it lets whoever sends wait for as long as anyone waits: then its deliveries wait for each other, too. */
export const keepsWaiting = (way: Way): boolean => way === 'hangs' || way.startsWith('drips');

/** `/takes/1`: the first step of a path at the sink says how it is received there. */
export const wayOf = (path: string): Way => path.split('/')[1] as Way;
