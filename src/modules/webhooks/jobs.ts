import type { Handler, Schedule } from '#platform/jobs/job.ts';
import { runs } from '#platform/jobs/job.ts';
import type { ContextOf } from './delinquency.ts';
import { lookAfterAll } from './delinquency.ts';
import { mailManagers, tellManagers } from './notices.ts';

export const webhookJobs: readonly Handler[] = [runs(tellManagers, mailManagers)];

/** Every five minutes, so that what only the time brings comes within minutes: mails of endpoints to which nothing is sent, their end. */
export const webhookSchedules = (contextOf: ContextOf): readonly Schedule[] => [
  { name: 'webhooks.look_after', cron: '*/5 * * * *', run: (service) => lookAfterAll(service, contextOf) },
];
