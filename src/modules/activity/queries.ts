import { sql } from 'kysely';
import type { Context } from '#platform/context.ts';
import type { Instant } from '#platform/dates.ts';

export interface ActivityRow {
  readonly id: string;
  readonly at: Instant;
  readonly action: string;
  readonly record_type: string;
  readonly record_id: string;
  readonly fields: readonly string[];
  readonly caller_kind: string;
  readonly caller_id: string | null;
  readonly owner_id: string | null;
  readonly calling_dealer_id: string;
  readonly request_id: string | null;
}

/** Writes all that a transaction did in one statement. */
export async function insertActivity(tx: Context, rows: readonly ActivityRow[]): Promise<void> {
  await sql`
    insert into activity (dealer_id, id, at, action, record_type, record_id, fields, caller_kind, caller_id, owner_id, calling_dealer_id, request_id)
    select ${tx.dealer.id}::uuid, a.id, a.at, a.action, a.record_type, a.record_id, a.fields, a.caller_kind, a.caller_id, a.owner_id, a.calling_dealer_id, a.request_id
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as a(
      id uuid, at timestamptz, action text, record_type text, record_id uuid, fields text[],
      caller_kind text, caller_id uuid, owner_id uuid, calling_dealer_id uuid, request_id text)`.execute(tx.db);
}
