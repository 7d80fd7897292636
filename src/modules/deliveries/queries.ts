import type { SqlBool } from 'kysely';
import { sql } from 'kysely';
import type { Context } from '#platform/context.ts';
import type { Page, PageQuery } from '#platform/contract.ts';
import type { Instant } from '#platform/dates.ts';
import { readPage } from '#platform/db/pages.ts';
import { uuidv7 } from '#platform/secrets.ts';

export type DeliveryError = 'dns' | 'connect' | 'tls' | 'timeout' | 'blocked_address' | 'redirect' | 'status';

/** One attempt as the log holds it. */
export interface AttemptRow {
  readonly id: string;
  readonly delivery_id: string;
  readonly event_id: string;
  readonly event_at: Instant;
  readonly event_type: string;
  readonly attempt: number;
  readonly manual: boolean;
  readonly success: boolean;
  readonly response_status: number | null;
  readonly request_headers: Record<string, string>;
  readonly request_body: string;
  readonly response_body: string | null;
  readonly error: DeliveryError | null;
  readonly duration_ms: number;
  readonly attempted_at: Instant;
  readonly next_attempt_at: Instant | null;
  readonly updated_at: Instant;
}

export interface NewAttempt {
  readonly endpointId: string;
  readonly event: { readonly id: string; readonly created_at: Instant; readonly type: string };
  readonly attemptedAt: Instant;
  readonly requestBody: string;
  readonly outcome: {
    readonly success: boolean;
    readonly responseStatus: number | null;
    readonly requestHeaders: Readonly<Record<string, string>>;
    readonly responseBody: string | null;
    readonly error: DeliveryError | null;
    readonly durationMs: number;
  };
}

/** Notes one attempt that was asked for. */
export async function recordAttempt(
  tx: Context,
  { endpointId, event, attemptedAt, requestBody, outcome }: NewAttempt,
): Promise<AttemptRow> {
  await tx.service.pools.doors.query("select partition_day('delivery_attempt', $1::date)", [attemptedAt.slice(0, 10)]);
  const row = await tx.db
    .insertInto('delivery_attempt')
    .values({
      dealer_id: tx.dealer.id,
      attempted_at: attemptedAt,
      id: uuidv7(attemptedAt),
      endpoint_id: endpointId,
      delivery_id: sql<string>`delivery_id(${event.id}::uuid, ${endpointId}::uuid)`,
      event_id: event.id,
      event_at: event.created_at,
      event_type: event.type,
      attempt: 1,
      manual: true,
      success: outcome.success,
      response_status: outcome.responseStatus,
      request_headers: JSON.stringify(outcome.requestHeaders),
      request_body: requestBody,
      response_body: outcome.responseBody,
      error: outcome.error,
      duration_ms: outcome.durationMs,
      next_attempt_at: null,
      updated_at: tx.now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  return row as unknown as AttemptRow;
}

/** Sends events once more, beside whatever is pending. */
export async function sendAgain(tx: Context, endpointId: string, events: readonly { id: string; created_at: Instant }[]): Promise<void> {
  await sql`
    insert into delivery (dealer_id, id, manual, endpoint_id, event_id, event_at, next_at)
    select ${tx.dealer.id}::uuid, delivery_id(e.id, ${endpointId}::uuid), true, ${endpointId}::uuid, e.id, e.created_at, ${tx.now}::timestamptz
    from jsonb_to_recordset(${JSON.stringify(events)}::jsonb) as e(id uuid, created_at timestamptz)
    on conflict do nothing`.execute(tx.db);
}

/** Which past events a replay means. */
export interface Selection {
  readonly since: Instant;
  readonly until: Instant | null;
  readonly types: readonly string[];
  readonly onlyFailed: boolean;
  readonly branches: 'all' | readonly string[];
}

/** Delivers past events like new ones; those that are pending are left. */
export async function replay(tx: Context, endpointId: string, { since, until, types, onlyFailed, branches }: Selection): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    insert into delivery (dealer_id, id, endpoint_id, event_id, event_at, next_at)
    select e.dealer_id, delivery_id(e.id, ${endpointId}::uuid), ${endpointId}::uuid, e.id, e.created_at, ${tx.now}::timestamptz
    from event e
    where e.dealer_id = ${tx.dealer.id}::uuid and e.created_at >= ${since}::timestamptz
      and e.created_at <= coalesce(${until}::timestamptz, 'infinity') and e.type = any(${types}::text[])
      and e.calling_dealer_id = ${tx.dealer.isSandbox ? sql`${tx.caller.callingDealerId}::uuid` : sql`e.calling_dealer_id`}
      ${branches === 'all' ? sql`` : sql`and (e.branch_id is null or e.branch_id = any(${branches}::uuid[]))`}
      ${
        onlyFailed
          ? sql`and not exists (select from delivery_attempt a
                where a.dealer_id = e.dealer_id and a.delivery_id = delivery_id(e.id, ${endpointId}::uuid) and a.success)`
          : sql``
      }
    on conflict do nothing`.execute(tx.db);
  return Number(numAffectedRows);
}

/** Nothing that is pending goes out any more. */
export async function cancelDeliveries(tx: Context, endpointIds: readonly string[]): Promise<void> {
  await sql`delete from delivery where dealer_id = ${tx.dealer.id}::uuid and endpoint_id = any(${endpointIds}::uuid[])`.execute(tx.db);
}

/** As if no delivery had failed. */
export async function forgetFailures(tx: Context, endpointIds: readonly string[]): Promise<void> {
  await sql`update endpoint_health set failing_since = null, notices = 0
    where dealer_id = ${tx.dealer.id}::uuid and endpoint_id = any(${endpointIds}::uuid[])`.execute(tx.db);
}

interface Filters extends PageQuery {
  readonly success?: boolean | undefined;
  readonly type?: readonly string[] | undefined;
  readonly event_id?: readonly string[] | undefined;
  readonly delivery_id?: readonly string[] | undefined;
}

const kept = (ctx: Context, endpointId: string) =>
  ctx.db
    .selectFrom(
      sql<AttemptRow & { dealer_id: string; endpoint_id: string }>`(select *, attempted_at as created_at from delivery_attempt)`.as(
        'delivery_attempt',
      ),
    )
    .selectAll()
    .where('delivery_attempt.dealer_id', '=', ctx.dealer.id)
    .where('delivery_attempt.endpoint_id', '=', endpointId)
    .where(sql<SqlBool>`delivery_attempt.attempted_at >= ${ctx.now}::timestamptz - interval '30 days'`)
    .$castTo<AttemptRow>();

/** A page of the attempts at an endpoint. */
export const pageOfAttempts = <T>(ctx: Context, endpointId: string, query: Filters, toWire: (row: AttemptRow) => T): Promise<Page<T>> =>
  readPage(ctx, {
    list: 'deliveries',
    table: 'delivery_attempt',
    query,
    from: kept(ctx, endpointId),
    matching: [
      query.success !== undefined && sql<SqlBool>`success = ${query.success}`,
      query.type && sql<SqlBool>`event_type = any(${query.type}::text[])`,
      query.event_id && sql<SqlBool>`event_id = any(${query.event_id}::uuid[])`,
      query.delivery_id && sql<SqlBool>`delivery_id = any(${query.delivery_id}::uuid[])`,
    ],
    toWire,
  });

export const attemptById = (ctx: Context, endpointId: string, id: string): Promise<AttemptRow | undefined> =>
  kept(ctx, endpointId).where('delivery_attempt.id', '=', id).executeTakeFirst();
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
