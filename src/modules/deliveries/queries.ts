import type { RawBuilder } from 'kysely';
import { sql } from 'kysely';
import type { Context } from '#platform/context.ts';
import type { Instant } from '#platform/dates.ts';
import type { Branches } from '#platform/reach.ts';
import type { Service } from '#platform/service.ts';

/** An event as far as it matters who is told of it, with the entries of a subscription that mean it. */
export interface Told {
  readonly id: string;
  readonly type: string;
  readonly entries: readonly string[];
  readonly branch_id: string | null;
  readonly calling_dealer_id: string;
}

/**
 * A delivery for every endpoint that asks for an event and may be told of it. In the sandbox those of whoever did it are told, and so
 * nobody of what the product itself does there. Returns how many.
 */
export const insertDeliveries = (tx: Context, events: readonly Told[]): Promise<number> =>
  queue(
    tx,
    sql`select w.dealer_id, delivery_id(e.id, w.id), false, w.id, e.id, ${tx.now}::timestamptz, ${tx.now}::timestamptz
    from webhook_endpoint w
    join json_to_recordset(${JSON.stringify(events)}::json) as e(id uuid, type text, entries text[], branch_id uuid, calling_dealer_id uuid)
      on w.calling_dealer_id = e.calling_dealer_id and w.events && e.entries and e.type = any(w.readable_types)
      and (w.all_branches or e.branch_id is null or e.branch_id = any(w.branch_ids))
    where w.dealer_id = ${tx.dealer.id}::uuid and w.enabled`,
  );

/** One attempt each, beside whatever is pending; what waits already waits once. */
export const insertManual = (tx: Context, endpointId: string, events: readonly { id: string; created_at: Instant }[]): Promise<number> =>
  queue(
    tx,
    sql`select ${tx.dealer.id}::uuid, delivery_id(e.id, ${endpointId}::uuid), true, ${endpointId}::uuid, e.id, e.created_at, ${tx.now}::timestamptz
    from json_to_recordset(${JSON.stringify(events)}::json) as e(id uuid, created_at timestamptz)`,
  );

/** Queues them but for those that are queued. How an endpoint fares has a row before anything is sent, under which all that follows is written. */
async function queue(tx: Context, deliveries: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    with queued as (
      insert into delivery (dealer_id, id, manual, endpoint_id, event_id, event_at, next_at) ${deliveries}
      on conflict do nothing returning dealer_id, endpoint_id
    ), known as (
      insert into endpoint_health (dealer_id, endpoint_id) select distinct q.dealer_id, q.endpoint_id from queued q
      where not exists (select from endpoint_health h where h.dealer_id = q.dealer_id and h.endpoint_id = q.endpoint_id)
      on conflict do nothing
    )
    select count(*)::int as count from queued`.execute(tx.db);
  return rows[0]!.count;
}

/** Which past events a replay means. */
export interface Selection {
  readonly since: Instant;
  readonly until: Instant | null;
  readonly types: readonly string[];
  /** Those alone of which no attempt at this endpoint has succeeded, be it that none was made. */
  readonly onlyFailed: boolean;
  readonly branches: Branches;
}

/** Deliveries of past events, as if they happened now; those that are pending are left. Returns how many. */
export async function insertReplayed(tx: Context, endpointId: string, selection: Selection): Promise<number> {
  const { since, until, types, onlyFailed, branches } = selection;
  // Many are compared with many, which the planner does not expect of days it has not counted yet.
  await sql`select set_config('enable_nestloop', 'off', true)`.execute(tx.db);
  const queued = await queue(
    tx,
    sql`select e.dealer_id, delivery_id(e.id, w.id), false, w.id, e.id, e.created_at, ${tx.now}::timestamptz
    from webhook_endpoint w
    join event e on e.dealer_id = w.dealer_id and e.calling_dealer_id = w.calling_dealer_id
    where w.dealer_id = ${tx.dealer.id}::uuid and w.id = ${endpointId}::uuid
      and e.created_at >= greatest(${since}::timestamptz, ${tx.now}::timestamptz - interval '30 days')
      and e.created_at <= coalesce(${until}::timestamptz, 'infinity') and e.type = any(${types}::text[])
      ${branches === 'all' ? sql`` : sql`and (e.branch_id is null or e.branch_id = any(${branches}::uuid[]))`}
      ${onlyFailed ? notDelivered : sql``}
    order by e.sequence`,
  );
  await sql`select set_config('enable_nestloop', 'on', true)`.execute(tx.db);
  return queued;
}

const notDelivered = sql`and not exists (
  select from delivery_attempt a where a.dealer_id = e.dealer_id and a.delivery_id = delivery_id(e.id, w.id) and a.success)`;

/**
 * Nothing that is pending goes out any more but events of the types that are kept; what is under way ends without settling anything.
 * The health comes first, as everywhere.
 */
export async function deletePending(tx: Context, endpointIds: readonly string[], kept: readonly string[] = []): Promise<void> {
  const isKept = sql`exists (select from event e
      where e.dealer_id = d.dealer_id and e.created_at = d.event_at and e.id = d.event_id and e.type = any(${kept}::text[]))`;
  await sql`
    with health as materialized (
      select endpoint_id from endpoint_health
      where dealer_id = ${tx.dealer.id}::uuid and endpoint_id = any(${endpointIds}::uuid[]) order by endpoint_id for update
    )
    delete from delivery d
    where d.dealer_id = ${tx.dealer.id}::uuid and d.endpoint_id = any(${endpointIds}::uuid[]) and (select count(*) from health) >= 0
      ${kept.length > 0 ? sql`and not ${isKept}` : sql``}`.execute(tx.db);
}

// ---- How endpoints fare ----

export interface Health {
  readonly endpoint_id: string;
  readonly failing_since: Instant | null;
  readonly last_failure_at: Instant | null;
  readonly last_success_at: Instant | null;
  readonly last_attempt_at: Instant | null;
  /** Mails that were sent about a failure, and since when that one lasted. */
  readonly notices: number;
  readonly told_since: Instant | null;
}

const healthColumns = [
  'endpoint_id',
  'failing_since',
  'last_failure_at',
  'last_success_at',
  'last_attempt_at',
  'notices',
  'told_since',
] as const;

/** How endpoints fare; of one to which nothing was ever sent there is nothing to say. */
export const healthOf = (ctx: Context, endpointIds: readonly string[]): Promise<Health[]> =>
  ctx.db
    .selectFrom('endpoint_health')
    .select(healthColumns)
    .where('dealer_id', '=', ctx.dealer.id)
    .where('endpoint_id', '=', sql<string>`any(${endpointIds}::uuid[])`)
    .execute();

/** The same of one, which nobody else changes until the transaction ends. */
export const holdHealth = (tx: Context, endpointId: string): Promise<Health | undefined> =>
  tx.db
    .selectFrom('endpoint_health')
    .select(healthColumns)
    .where('dealer_id', '=', tx.dealer.id)
    .where('endpoint_id', '=', endpointId)
    .forUpdate()
    .executeTakeFirst();

/** Notes how many mails an endpoint's dealer was sent, and about the failure since when; 0 and null: none that is not over. */
export async function saveNotices(tx: Context, endpointId: string, notices: number, toldSince: Instant | null): Promise<void> {
  await tx.db
    .updateTable('endpoint_health')
    .set({ notices, told_since: toldSince })
    .where('dealer_id', '=', tx.dealer.id)
    .where('endpoint_id', '=', endpointId)
    .execute();
}

export async function clearFailures(tx: Context, endpointIds: readonly string[]): Promise<void> {
  await sql`
    update endpoint_health h set failing_since = null, notices = 0, told_since = null
    from (select dealer_id, endpoint_id from endpoint_health
          where dealer_id = ${tx.dealer.id}::uuid and endpoint_id = any(${endpointIds}::uuid[]) order by endpoint_id for update) t
    where h.dealer_id = t.dealer_id and h.endpoint_id = t.endpoint_id`.execute(tx.db);
}

/** Forgets how endpoints fared that are gone. */
export async function deleteLeftOver({ pools }: Service): Promise<void> {
  await pools.doors.query(
    `delete from endpoint_health h
     where not exists (select from webhook_endpoint w where w.dealer_id = h.dealer_id and w.id = h.endpoint_id)`,
  );
}
