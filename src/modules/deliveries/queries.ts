import { sql } from 'kysely';
import type { Context } from '#platform/context.ts';

/** An event as far as it matters who is told of it. */
export interface Told {
  readonly id: string;
  readonly type: string;
  readonly branch_id: string | null;
  readonly calling_dealer_id: string;
}

/** Queues a delivery for every endpoint that asks for an event and may be told of it, in one statement. */
export async function queueDeliveries(tx: Context, events: readonly Told[]): Promise<void> {
  const { dealer, now } = tx;
  const rows = JSON.stringify(events.map(({ id, type, branch_id, calling_dealer_id }) => ({ id, type, branch_id, calling_dealer_id })));
  await sql`
    insert into delivery (dealer_id, id, endpoint_id, event_id, event_at, next_at)
    select w.dealer_id, delivery_id(e.id, w.id), w.id, e.id, ${now}::timestamptz, ${now}::timestamptz
    from jsonb_to_recordset(${rows}::jsonb) as e(id uuid, type text, branch_id uuid, calling_dealer_id uuid)
    join webhook_endpoint w on w.calling_dealer_id = e.calling_dealer_id
    where w.dealer_id = ${dealer.id}::uuid and w.enabled and e.type = any(w.readable_types)
      and w.events && array['*', e.type, split_part(e.type, '.', 1) || '.*']
      and (w.all_branches or e.branch_id is null or e.branch_id = any(w.branch_ids))`.execute(tx.db);
}
