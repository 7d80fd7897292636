import type { Instant } from '#platform/dates.ts';
import { toMillis } from '#platform/dates.ts';

/** After each attempt that failed, the seconds until the next: 1 and 5 and 30 minutes, 2, 6, 12 and 24 hours. */
export const retryDelays = [60, 300, 1_800, 7_200, 21_600, 43_200, 86_400] as const;

/** How long after the end of an attempt the next one follows; null when it was the last. */
export const delayAfter = (attempt: number): number | null => retryDelays[attempt - 1] ?? null;

/** How many attempts may be under way at once, over all processes. What fails or is slow gets half of that, so that the rest goes on. */
export const caps = { perEndpoint: 4, perEndpointTroubled: 2, perDealer: 16, perDealerTroubled: 8 } as const;

/** The entries of a subscription that mean a type: all, its family, the type itself. */
export const entriesFor = (type: string): string[] => [
  '*',
  type,
  ...(type.includes('.') ? [`${type.slice(0, type.lastIndexOf('.'))}.*`] : []),
];

const hourMs = 3_600_000;

/** After how many hours without a success its dealer is told … */
export const noticeHours = [1, 24, 48] as const;

/** … and an endpoint is disabled. */
export const disabledAfterHours = 72;

/** Whether every automatic delivery of an endpoint has failed for three days. */
export const isDelinquent = (failingSince: Instant, now: Instant): boolean => hoursOf(failingSince, now) >= disabledAfterHours;

/** How many of the mails about a failure are due by now. */
export const noticesDue = (failingSince: Instant, now: Instant): number =>
  noticeHours.filter((hours) => hoursOf(failingSince, now) >= hours).length;

const hoursOf = (since: Instant, now: Instant): number => (toMillis(now) - toMillis(since)) / hourMs;

/** Of the attempts a process makes at once, how many more it may begin: `calm` first ones where all is well, `troubled` all others. */
export function placesLeft(
  most: number,
  { calm, troubled }: { calm: number; troubled: number },
): { places: number; troubledPlaces: number } {
  const half = Math.floor(most / 2);
  const kept = Math.floor(most / 8);
  return {
    // Those in trouble never take more than half from the others, not even when all of them fell into it at once.
    places: clamp(Math.min(most - calm - clamp(troubled, kept, half), 2 * most - calm - troubled)),
    troubledPlaces: clamp(Math.min(half - troubled, most - calm - troubled)),
  };
}

const clamp = (value: number, least = 0, most = Number.POSITIVE_INFINITY): number => Math.min(Math.max(value, least), most);
