import type { Handler, Schedule } from '#platform/jobs/job.ts';
import { runs } from '#platform/jobs/job.ts';
import { endOverdue, silence, silenceApp } from './connections.ts';
import { sweepTokens } from './token-queries.ts';

export const oauthJobs: readonly Handler[] = [runs(silenceApp, (ctx, { authorisationId }) => silence(ctx, authorisationId))];

export const oauthSchedules: readonly Schedule[] = [
  // Often, since what an app set up delivers until then.
  { name: 'oauth.end_overdue', cron: '13 * * * *', run: endOverdue },
  { name: 'oauth.sweep', cron: '23 2 * * *', run: sweepTokens },
];
