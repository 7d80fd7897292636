import type { Expression, SqlBool } from 'kysely';
import { sql } from 'kysely';
import type { Context } from '#platform/context.ts';
import type { Page, PageQuery } from '#platform/contract.ts';
import type { Instant } from '#platform/dates.ts';
import type { Connection } from '#platform/db/connect.ts';
import { byOccurrence, readPage } from '#platform/db/pages.ts';
import { uuidv7Millis } from '#platform/secrets.ts';

/** An event as it happens. */
export interface EventRow {
  readonly id: string;
  readonly sequence: number;
  readonly type: string;
  readonly resource_id: string;
  readonly branch_id: string | null;
  readonly data: string;
  readonly actor: Actor;
  readonly calling_dealer_id: string;
  readonly request_id: string | null;
}

export interface Actor {
  readonly kind: 'key' | 'oauth_app' | 'user' | 'system' | 'website';
  readonly id: string | null;
  readonly name: string | null;
}

/** The columns of which an event is made as it is read and delivered. */
export const storedEventColumns = [
  'id',
  'type',
  'created_at',
  'sequence',
  'branch_id',
  'data',
  'actor',
  'calling_dealer_id',
  'request_id',
] as const;

export type StoredEvent = Omit<EventRow, 'resource_id'> & { readonly created_at: Instant };

/** Which types a reader is shown, and which of them in the sandbox only of its own dealership. */
export interface Shown {
  readonly types: readonly string[];
  readonly own: readonly string[];
}

/** For how long an event is read. */
const keptDays = 30;

/** The events of these types that exist for this caller: of its branches, or of none. */
function visible(ctx: Context, { types, own }: Shown) {
  const { branches, callingDealerId } = ctx.caller;
  let events = ctx.db
    .selectFrom('event')
    .select(storedEventColumns.map((column) => `event.${column}` as const))
    .where('event.dealer_id', '=', ctx.dealer.id)
    .where(sql<SqlBool>`event.created_at >= ${ctx.now}::timestamptz - make_interval(days => ${keptDays}::integer)`)
    .where(sql<SqlBool>`event.type = any(${types}::text[])`);
  if (branches !== 'all') events = events.where(sql<SqlBool>`(event.branch_id is null or event.branch_id = any(${branches}::uuid[]))`);
  if (ctx.dealer.isSandbox)
    events = events.where(sql<SqlBool>`(event.calling_dealer_id = ${callingDealerId}::uuid or event.type <> all(${own}::text[]))`);
  return events.$castTo<StoredEvent>();
}

/** One of them. Its id says when it happened, and so in which day's part it lies. */
export const visibleEvent = (ctx: Context, id: string, shown: Shown): Promise<StoredEvent | undefined> =>
  visible(ctx, shown)
    .where('event.id', '=', id)
    .where(within([id]))
    .executeTakeFirst();

interface Filters extends PageQuery {
  readonly branch_id?: readonly string[] | undefined;
  readonly object_id?: string | undefined;
  readonly delivery_success?: 'false' | undefined;
}

/** A page of them, in the order in which they happened. */
export const pageOfEvents = <T>(ctx: Context, query: Filters, shown: Shown, toWire: (row: StoredEvent) => T): Promise<Page<T>> =>
  readPage(ctx, {
    list: 'events',
    table: 'event',
    query,
    order: byOccurrence,
    from: visible(ctx, shown),
    matching: [
      query.ids && within(query.ids),
      query.branch_id && sql<SqlBool>`event.branch_id = any(${query.branch_id}::uuid[])`,
      query.object_id !== undefined && sql<SqlBool>`event.resource_id = ${query.object_id}::uuid`,
      query.delivery_success && undelivered(ctx),
    ],
    toWire,
  });

/** From the first to the last millisecond in which one of these ids was made. Reckoned there, as an id may name any year. */
function within(ids: readonly string[]): Expression<SqlBool> {
  const times = ids.map(uuidv7Millis);
  const at = (millis: number) => sql`'epoch'::timestamptz + ${millis}::float8 * interval '1 millisecond'`;
  return sql<SqlBool>`event.created_at >= ${at(Math.min(...times))} and event.created_at < ${at(Math.max(...times) + 1)}`;
}

/**
 * Of which a delivery to an endpoint of the calling dealership waits or was tried, and no attempt at that endpoint has succeeded.
 * Whether the caller could see the endpoint does not matter: it is told of events it reads anyway, and of no endpoint.
 */
const undelivered = ({ dealer, caller }: Context): Expression<SqlBool> => sql<SqlBool>`
  (event.created_at, event.id) in (
    with unsettled as materialized (
      select d.event_at, d.event_id, d.endpoint_id, d.id as delivery_id from delivery d where d.dealer_id = ${dealer.id}::uuid
      union
      select a.event_at, a.event_id, a.endpoint_id, a.delivery_id from delivery_attempt a where a.dealer_id = ${dealer.id}::uuid and not a.success
    ), owed as materialized (
      select u.event_at, u.event_id
      from unsettled u
      join webhook_endpoint w on w.dealer_id = ${dealer.id}::uuid and w.id = u.endpoint_id and w.calling_dealer_id = ${caller.callingDealerId}::uuid
      where not exists (
        select from delivery_attempt s
        where s.dealer_id = ${dealer.id}::uuid and s.delivery_id = u.delivery_id and s.success and s.attempted_at >= u.event_at)
    )
    select event_at, event_id from owed)`;

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

/** How many deliveries still wait of what happened between two moments, over all dealers. */
export async function deliveriesOf(connection: Connection, from: Instant, to: Instant): Promise<number> {
  const { rows } = await connection.query('select count(*) as waiting from delivery where event_at >= $1 and event_at < $2', [from, to]);
  return rows[0].waiting;
}
