import type { Handler, Schedule } from '#platform/jobs/job.ts';
import { runs } from '#platform/jobs/job.ts';
import { sweepBatches, writeBatch, writeRemaining } from './batch.ts';

export const vehicleJobs: readonly Handler[] = [runs(writeBatch, (ctx, { batchId }) => writeRemaining(ctx, batchId))];

export const vehicleSchedules: readonly Schedule[] = [{ name: 'vehicles.sweep_batches', cron: '20 2 * * *', run: sweepBatches }];
