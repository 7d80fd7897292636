import type { Instant } from '#platform/dates.ts';
import { toMillis } from '#platform/dates.ts';

/** After each attempt that failed, the seconds until the next: 1 and 5 and 30 minutes, 2, 6, 12 and 24 hours. */
export const retryDelays = [60, 300, 1_800, 7_200, 21_600, 43_200, 86_400] as const;

/** How long after the end of an attempt the next one follows; null when it was the last. */
export const delayAfter = (attempt: number): number | null => retryDelays[attempt - 1] ?? null;

/** How many attempts may be under way at once, over all processes. What fails or is slow gets half of a dealer's, so that the rest goes on. */
export const caps = { perEndpoint: 4, perDealer: 16, perDealerTroubled: 8 } as const;

/** The entries of a subscription that mean a type: all, its family, the type itself. */
export const entriesFor = (type: string): string[] => ['*', `${type.slice(0, type.lastIndexOf('.'))}.*`, type];

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
