import { runs } from '#platform/jobs/job.ts';
import { followInSandbox, followPlanInSandbox } from './sandbox-plan.ts';

export const dealerJobs = [runs(followPlanInSandbox, (ctx) => followInSandbox(ctx))];
