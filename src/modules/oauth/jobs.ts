import type { Handler, Schedule } from '#platform/jobs/job.ts';
import { runs } from '#platform/jobs/job.ts';
import { silence, silenceApp } from './connections.ts';
import { sweepTokens } from './token-queries.ts';

export const oauthJobs: readonly Handler[] = [runs(silenceApp, (ctx, { authorisationId }) => silence(ctx, authorisationId))];

export const oauthSchedules: readonly Schedule[] = [{ name: 'oauth.sweep', cron: '23 2 * * *', run: sweepTokens }];
