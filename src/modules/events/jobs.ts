import type { Schedule } from '#platform/jobs/job.ts';
import { makeEventDays } from './commands.ts';

/** Keeps a week of partitions ahead of the clock. */
export const eventSchedules: readonly Schedule[] = [
  { name: 'events.make_days', cron: '7 * * * *', run: (service) => makeEventDays(service) },
];
