import type { Context } from '#platform/context.ts';
import { gather } from '#platform/db/transaction.ts';
import { uuidv7 } from '#platform/secrets.ts';
import type { ActivityRow } from './queries.ts';
import { insertActivity } from './queries.ts';

export type Action = 'created' | 'updated' | 'deleted';

/** Notes who changed which fields of what, and with which key. Written with the change: both commit or neither does. */
export function recordActivity(tx: Context, action: Action, recordType: string, recordId: string, fields: readonly string[]): void {
  const { caller } = tx;
  gather<ActivityRow>(tx, insertActivity, {
    id: uuidv7(tx.now),
    at: tx.now,
    action,
    record_type: recordType,
    record_id: recordId,
    fields,
    caller_kind: caller.kind,
    caller_id: caller.id,
    owner_id: caller.owner?.id ?? null,
    calling_dealer_id: caller.callingDealerId,
    request_id: tx.requestId,
  });
}
