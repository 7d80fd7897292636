import { sql } from 'kysely';
import type { Context } from '#platform/context.ts';
import type { Instant } from '#platform/dates.ts';
import type { Service } from '#platform/service.ts';

export interface EventRow {
  readonly id: string;
  readonly sequence: number;
  readonly type: string;
  readonly resource_id: string;
  readonly branch_id: string | null;
  readonly data: string;
  readonly actor: object;
  readonly calling_dealer_id: string;
  readonly request_id: string | null;
}

/** Writes all that happened in a transaction in one statement. */
export async function insertEvents(tx: Context, rows: readonly EventRow[]): Promise<void> {
  await sql`
    insert into event (dealer_id, created_at, id, sequence, type, resource_id, branch_id, data, actor, calling_dealer_id, request_id)
    select ${tx.dealer.id}::uuid, ${tx.now}::timestamptz, e.id, e.sequence, e.type, e.resource_id, e.branch_id, e.data, e.actor, e.calling_dealer_id, e.request_id
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as e(
      id uuid, sequence bigint, type text, resource_id uuid, branch_id uuid, data text, actor jsonb, calling_dealer_id uuid, request_id text)`.execute(
    tx.db,
  );
}

/** Outside the transaction that asks: what is made here must stay even if that one is undone. */
export async function makeDay({ pools }: Service, day: string): Promise<void> {
  await pools.doors.query("select partition_day('event', $1::date)", [day]);
}

export async function timeNow({ pools }: Service): Promise<Instant> {
  const { rows } = await pools.doors.query('select now() as now');
  return rows[0].now;
}
