import { emit } from '#modules/events/index.ts';
import type { Context } from '#platform/context.ts';
import { toDateTime } from '#platform/dates.ts';
import type { BatchRow } from './batch-queries.ts';
import { completeBatch } from './batch-queries.ts';
import type { VehicleBatch } from './contract.ts';
import { vehicleBatchCompleted } from './contract.ts';

/** Completes the batch, once, when every item is final, and tells of it. For inside a transaction. */
export async function completeWhenFinal(tx: Context, batchId: string): Promise<BatchRow | undefined> {
  const batch = await completeBatch(tx, batchId);
  if (batch) emit(tx, vehicleBatchCompleted, toBatch(batch), { resourceId: batchId, branchId: null });
  return batch;
}

export function toBatch({ id, status, total, created, updated, failed, created_at, completed_at, updated_at }: BatchRow): VehicleBatch {
  return {
    id,
    status,
    total,
    created,
    updated,
    failed,
    pending: total - created - updated - failed,
    created_at: toDateTime(created_at),
    completed_at: toDateTime(completed_at),
    updated_at: toDateTime(updated_at),
  };
}
