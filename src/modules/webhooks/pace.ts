import { setTimeout as delay } from 'node:timers/promises';
import type { Ask, Claim } from '#modules/deliveries/index.ts';

/** When the next claim is made, and where it begins. */
export interface Pace {
  /** Waits until it is time. */
  next(): Promise<void>;
  step(): Pick<Ask, 'retries' | 'from'>;
  /** What the claim brought, and how long it took; null: no place was free for one. */
  took(claim: Claim | null, ms: number): void;
  /** There may be something new. */
  wake(): void;
  /** There is room again, if anything waits for it. */
  wakeIfBusy(): void;
}

/** Looked for so often while there is something to do and a second after, and ever more seldom when there is not. */
const busyMs = 20;
const idleMs = 250;
const busyForMs = 1_000;
/** Between two claims: as long as the last one took, so that claiming is never the most of the work, within these bounds; longer where many are to be had at once. */
const gapMs = { least: 1, many: 12, most: 20 };
const many = 32;
/** Endpoints that have nothing but retries are visited so often. */
const retriesEveryMs = 250;

export function pace(): Pace {
  let woken = false;
  let tell: () => void = () => undefined;
  let busyUntil = 0;
  let pauseMs = busyMs;
  let ended = 0;
  let gap = gapMs.least;

  /** Two walks over the endpoints, each going on where it stopped: to those with something new, and now and then to all. */
  const from = { fresh: null as string | null, any: null as string | null };
  let step: keyof typeof from = 'fresh';
  let roundEnded = 0;
  /** The walk is not back at its beginning: it goes on at once. */
  let isUnderWay = false;

  const wake = () => {
    woken = true;
    tell();
  };
  const isBusy = () => performance.now() < busyUntil;

  return {
    async next() {
      await delay(Math.max(0, ended + gap - performance.now()));
      pauseMs = isBusy() ? busyMs : Math.min(pauseMs * 1.5, idleMs);
      if (!woken && !isUnderWay) {
        await new Promise<void>((resolve) => {
          const over = setTimeout(resolve, pauseMs);
          tell = () => {
            clearTimeout(over);
            resolve();
          };
        });
      }
      woken = false;
    },
    step() {
      const isDue = from.any !== null || performance.now() - roundEnded >= retriesEveryMs;
      step = isDue && !(step === 'any' && from.any !== null) ? 'any' : 'fresh';
      return { retries: step === 'any', from: from[step] };
    },
    took(claim, ms) {
      ended = performance.now();
      gap = Math.min(Math.max(ms, (claim?.taken.length ?? many) < many ? gapMs.least : gapMs.many), gapMs.most);
      isUnderWay = false;
      if (claim === null) return;
      isUnderWay = claim.next !== null || from[step] !== null;
      from[step] = claim.next;
      if (step === 'any' && claim.next === null) roundEnded = ended;
      if (claim.taken.length > 0) busyUntil = ended + busyForMs;
    },
    wake() {
      busyUntil = performance.now() + busyForMs;
      wake();
    },
    wakeIfBusy() {
      if (isBusy()) wake();
    },
  };
}
