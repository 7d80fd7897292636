import type { Handler } from '#platform/jobs/job.ts';
import { runs } from '#platform/jobs/job.ts';
import { mailManagers, tellManagers } from './notices.ts';

export const webhookJobs: readonly Handler[] = [runs(tellManagers, mailManagers)];
