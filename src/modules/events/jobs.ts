import type { Schedule } from '#platform/jobs/job.ts';
import { dropOldEventDays, makeEventDays } from './commands.ts';

/** Keeps a week of days ahead of the clock, and none that nobody reads any more. */
export const eventSchedules: readonly Schedule[] = [
  { name: 'events.make_days', cron: '7 * * * *', run: (service) => makeEventDays(service) },
  { name: 'events.drop_days', cron: '37 * * * *', run: dropOldEventDays },
];
