import type { Handler, Schedule } from '#platform/jobs/job.ts';
import { runs } from '#platform/jobs/job.ts';
import { sweepBatches, writeBatch, writeRemaining } from './batch.ts';
import { sweepPhotos } from './photo-files.ts';
import { importGallery, resumeImports } from './photo-import.ts';
import { importPhotos } from './photo-staging.ts';

export const vehicleJobs: readonly Handler[] = [
  runs(writeBatch, (ctx, { batchId }) => writeRemaining(ctx, batchId)),
  runs(importPhotos, (ctx, { importId }) => importGallery(ctx, importId)),
];

export const vehicleSchedules: readonly Schedule[] = [
  { name: 'vehicles.sweep_batches', cron: '20 2 * * *', run: sweepBatches },
  { name: 'vehicles.sweep_photos', cron: '40 * * * *', run: sweepPhotos },
  { name: 'vehicles.resume_imports', cron: '*/10 * * * *', run: resumeImports },
];
