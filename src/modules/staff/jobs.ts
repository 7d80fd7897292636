import type { Schedule } from '#platform/jobs/job.ts';
import { deleteOldSessions } from './session-queries.ts';

/** Sessions that time has ended go. */
export const staffSchedules: readonly Schedule[] = [{ name: 'sessions.sweep', cron: '17 * * * *', run: deleteOldSessions }];
