import type { Expression, SqlBool } from 'kysely';
import { sql } from 'kysely';
import type { Context } from '#platform/context.ts';
import type { Page, PageQuery } from '#platform/contract.ts';
import type { Instant } from '#platform/dates.ts';
import { readPage } from '#platform/db/pages.ts';
import { uuidv7, uuidv7Millis } from '#platform/secrets.ts';
import type { DeliveryError, Outcome } from './settle-queries.ts';

// The delivery log: a row for each attempt, kept for 30 days. Its order is that of the commits, endpoint by endpoint.

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
  readonly request_headers: Readonly<Record<string, string>>;
  readonly request_body: string;
  readonly response_body: string | null;
  readonly error: DeliveryError | null;
  readonly duration_ms: number;
  readonly attempted_at: Instant;
  readonly next_attempt_at: Instant | null;
  readonly updated_at: Instant;
}

/** For how long the log is read. */
const keptDays = 30;

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
    .where(sql<SqlBool>`delivery_attempt.attempted_at >= ${ctx.now}::timestamptz - make_interval(days => ${keptDays}::integer)`)
    .$castTo<AttemptRow>();

interface Filters extends PageQuery {
  readonly success?: boolean | undefined;
  readonly type?: readonly string[] | undefined;
  readonly event_id?: readonly string[] | undefined;
  readonly delivery_id?: readonly string[] | undefined;
}

/** A page of the attempts at an endpoint. `types`: those that are shown, whatever was asked for; null: all. */
export const pageOfAttempts = <T>(
  ctx: Context,
  endpointId: string,
  { types, ...query }: Filters & { readonly types: readonly string[] | null },
  toWire: (row: AttemptRow) => T,
): Promise<Page<T>> =>
  readPage(ctx, {
    list: `deliveries:${endpointId}`,
    table: 'delivery_attempt',
    query,
    from: kept(ctx, endpointId),
    matching: [
      query.ids && within(query.ids),
      query.success !== undefined && sql<SqlBool>`success = ${query.success}`,
      types !== null && sql<SqlBool>`event_type = any(${types}::text[])`,
      query.event_id &&
        sql<SqlBool>`delivery_id = any(array(select delivery_id(e, ${endpointId}::uuid) from unnest(${query.event_id}::uuid[]) e))`,
      query.delivery_id && sql<SqlBool>`delivery_id = any(${query.delivery_id}::uuid[])`,
    ],
    toWire,
  });

/** One attempt at an endpoint. Its id says when it was made, and so in which day's part it lies. */
export const attemptById = (ctx: Context, endpointId: string, id: string): Promise<AttemptRow | undefined> =>
  kept(ctx, endpointId)
    .where('delivery_attempt.id', '=', id)
    .where(within([id]))
    .executeTakeFirst();

function within(ids: readonly string[]): Expression<SqlBool> {
  const times = ids.map(uuidv7Millis);
  const at = (millis: number) => sql`'epoch'::timestamptz + ${millis}::float8 * interval '1 millisecond'`;
  return sql<SqlBool>`delivery_attempt.attempted_at >= ${at(Math.min(...times))} and delivery_attempt.attempted_at < ${at(Math.max(...times) + 1)}`;
}

/** The id of an attempt made at a moment. */
export const attemptId = (at: Instant): string => uuidv7(at);

/** An attempt that somebody asked for and waited for. */
export interface NewAttempt {
  readonly endpointId: string;
  readonly event: { readonly id: string; readonly created_at: Instant; readonly type: string };
  readonly attemptedAt: Instant;
  readonly requestBody: string;
  readonly outcome: Outcome;
}

/** Writes such an attempt into the log, under the endpoint's row like every other. It changes nothing of how the endpoint fares. */
export async function insertAttempt(
  tx: Context,
  { endpointId, event, attemptedAt, requestBody, outcome }: NewAttempt,
): Promise<AttemptRow> {
  const { rows } = await sql<AttemptRow>`
    with health as (
      insert into endpoint_health as h (dealer_id, endpoint_id, last_attempt_at, logged_at)
      values (${tx.dealer.id}::uuid, ${endpointId}::uuid, ${attemptedAt}::timestamptz, ${clockOf(tx)})
      on conflict (dealer_id, endpoint_id) do update set
        last_attempt_at = greatest(h.last_attempt_at, excluded.last_attempt_at),
        logged_at = greatest(${clockOf(tx)}, h.logged_at + interval '1 microsecond')
      returning dealer_id, endpoint_id, logged_at
    )
    insert into delivery_attempt (dealer_id, attempted_at, id, endpoint_id, delivery_id, event_id, event_at, event_type, attempt, manual,
      success, response_status, request_headers, request_body, response_body, error, duration_ms, updated_at)
    select h.dealer_id, ${attemptedAt}::timestamptz, ${attemptId(attemptedAt)}::uuid, h.endpoint_id,
      delivery_id(${event.id}::uuid, h.endpoint_id), ${event.id}::uuid, ${event.created_at}::timestamptz, ${event.type}::text, 1, true,
      ${outcome.success}::boolean, ${outcome.responseStatus}::smallint, ${JSON.stringify(outcome.requestHeaders)}::json, ${requestBody}::text,
      ${outcome.responseBody}::text, ${outcome.error}::delivery_error, ${outcome.durationMs}::integer, h.logged_at
    from health h
    returning *`.execute(tx.db);
  return rows[0]!;
}

const clockOf = ({ service }: Context) => sql`coalesce(${service.clock()}::timestamptz, clock_timestamp())`;

/** The last attempt at an endpoint that failed. */
export const lastFailureOf = (ctx: Context, endpointId: string): Promise<AttemptRow | undefined> =>
  kept(ctx, endpointId)
    .where('delivery_attempt.success', '=', false)
    .where('delivery_attempt.manual', '=', false)
    .orderBy('delivery_attempt.updated_at', 'desc')
    .orderBy('delivery_attempt.id', 'desc')
    .limit(1)
    .executeTakeFirst();
