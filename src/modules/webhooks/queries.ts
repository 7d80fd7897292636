import type { Selectable, SqlBool } from 'kysely';
import { sql } from 'kysely';
import type { StoredEvent } from '#modules/events/index.ts';
import { storedEventColumns } from '#modules/events/index.ts';
import type { Context } from '#platform/context.ts';
import type { Page } from '#platform/contract.ts';
import type { Instant } from '#platform/dates.ts';
import { readPage } from '#platform/db/pages.ts';
import type { DB } from '#platform/db/schema.ts';
import type { Branches } from '#platform/reach.ts';
import type { Creator, DisabledReason, EndpointListQuery } from './contract.ts';

/** An endpoint as it is kept. */
export type EndpointRow = Omit<Selectable<DB['webhook_endpoint']>, 'created_by'> & { created_by: Creator };

/** With how its deliveries fare. */
export type ShownRow = EndpointRow & Record<'failing_since' | 'last_success_at' | 'last_attempt_at', Instant | null>;

/** The endpoints of a dealership; in the sandbox those of the calling one. */
const endpoints = (ctx: Context) =>
  ctx.db
    .selectFrom('webhook_endpoint')
    .where('webhook_endpoint.dealer_id', '=', ctx.dealer.id)
    .where('webhook_endpoint.calling_dealer_id', '=', ctx.caller.callingDealerId);

/** Those of them that receive nothing from beyond the caller's branches; for an app those it made with this authorisation, as they end with it. */
function visible(ctx: Context) {
  const { branches, kind, id } = ctx.caller;
  const shown = endpoints(ctx)
    .$if(kind === 'oauth' && id !== null, (of) => of.where(madeWith(id ?? '')))
    .leftJoin('endpoint_health as health', (join) =>
      join.onRef('health.dealer_id', '=', 'webhook_endpoint.dealer_id').onRef('health.endpoint_id', '=', 'webhook_endpoint.id'),
    )
    .selectAll('webhook_endpoint')
    .select(['health.failing_since', 'health.last_success_at', 'health.last_attempt_at'])
    .$castTo<ShownRow>();
  if (branches === 'all') return shown;
  return shown.where(sql<SqlBool>`(not webhook_endpoint.all_branches and webhook_endpoint.branch_ids <@ ${branches}::uuid[])`);
}

const madeWith = (authorisationId: string) =>
  sql<SqlBool>`created_by @> ${JSON.stringify({ kind: 'oauth_app', id: authorisationId })}::jsonb`;

/** An endpoint that exists for this caller. */
export const visibleEndpoint = (ctx: Context, id: string): Promise<ShownRow | undefined> =>
  visible(ctx).where('webhook_endpoint.id', '=', id).executeTakeFirst();

export const pageOfEndpoints = <T>(ctx: Context, query: EndpointListQuery, toWire: (row: ShownRow) => T): Promise<Page<T>> =>
  readPage(ctx, {
    list: 'webhook_endpoints',
    table: 'webhook_endpoint',
    query,
    from: visible(ctx),
    matching: [
      query.enabled !== undefined && sql<SqlBool>`webhook_endpoint.enabled = ${query.enabled}`,
      query.branch_id && sql<SqlBool>`(webhook_endpoint.all_branches or webhook_endpoint.branch_ids && ${query.branch_id}::uuid[])`,
    ],
    toWire,
  });

/** The plan of whose endpoints they are, as it stands in this turn. */
export async function callingPlan(tx: Context): Promise<string> {
  const { plan } = await tx.db.selectFrom('dealer').select('plan').where('id', '=', tx.caller.callingDealerId).executeTakeFirstOrThrow();
  return plan;
}

/** How many the dealership has, disabled ones too. */
export async function countEndpoints(ctx: Context): Promise<number> {
  const { count } = await endpoints(ctx)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

/** Those of the dealership that are enabled, or that are disabled for a reason. */
export async function idsOf(tx: Context, which: 'enabled' | DisabledReason): Promise<string[]> {
  const found = await endpoints(tx)
    .select('webhook_endpoint.id')
    .where(which === 'enabled' ? sql<SqlBool>`enabled` : sql<SqlBool>`disabled_reason = ${which}::webhook_disabled_reason`)
    .execute();
  return found.map(({ id }) => id);
}

/** Those an app made with an authorisation. */
export async function idsMadeWith(tx: Context, authorisationId: string): Promise<string[]> {
  const found = await endpoints(tx).select('webhook_endpoint.id').where(madeWith(authorisationId)).execute();
  return found.map(({ id }) => id);
}

/** Whether an authorisation was revoked, by now. */
export async function isOver(tx: Context, authorisationId: string): Promise<boolean> {
  const found = await tx.db
    .selectFrom('oauth_authorisation')
    .select('revoked_at')
    .where('dealer_id', '=', tx.dealer.id)
    .where('id', '=', authorisationId)
    .executeTakeFirst();
  return found?.revoked_at !== null;
}

// ---- Writing ----

export async function insertEndpoint(tx: Context, row: EndpointRow): Promise<void> {
  await tx.db
    .insertInto('webhook_endpoint')
    .values({ ...row, created_by: JSON.stringify(row.created_by) })
    .execute();
}

type Changes = Partial<Omit<EndpointRow, 'dealer_id' | 'id' | 'calling_dealer_id' | 'created_by' | 'created_at' | 'updated_at'>>;

export async function saveEndpoint(tx: Context, id: string, changes: Changes): Promise<void> {
  await tx.db
    .updateTable('webhook_endpoint')
    .set({ ...changes, updated_at: tx.now })
    .where('dealer_id', '=', tx.dealer.id)
    .where('id', '=', id)
    .execute();
}

export async function deleteEndpoint(tx: Context, id: string): Promise<void> {
  await tx.db.deleteFrom('webhook_endpoint').where('dealer_id', '=', tx.dealer.id).where('id', '=', id).execute();
}

/** Disables those of them that are enabled, and says which they were. The end of an app is for good, whatever they were disabled for before. */
export async function disableAll(tx: Context, ids: readonly string[], reason: DisabledReason): Promise<string[]> {
  const disabled = await tx.db
    .updateTable('webhook_endpoint')
    .set({ enabled: false, disabled_reason: reason, disabled_at: tx.now, updated_at: tx.now })
    .where('dealer_id', '=', tx.dealer.id)
    .where('id', '=', sql<string>`any(${ids}::uuid[])`)
    .where(reason === 'app_revoked' ? sql<SqlBool>`disabled_reason is distinct from 'app_revoked'` : sql<SqlBool>`enabled`)
    .returning('id')
    .execute();
  return disabled.map(({ id }) => id);
}

export async function enableAll(tx: Context, ids: readonly string[]): Promise<void> {
  await tx.db
    .updateTable('webhook_endpoint')
    .set({ enabled: true, disabled_reason: null, disabled_at: null, updated_at: tx.now })
    .where('dealer_id', '=', tx.dealer.id)
    .where('id', '=', sql<string>`any(${ids}::uuid[])`)
    .execute();
}

// ---- Events ----

/** The ping that was told of an endpoint in the turn of this time, as it is stored. */
export const pingOf = (ctx: Context, endpointId: string, at: Instant): Promise<StoredEvent> =>
  ctx.db
    .selectFrom('event')
    .select(storedEventColumns.map((column) => `event.${column}` as const))
    .where('event.dealer_id', '=', ctx.dealer.id)
    .where('event.created_at', '=', at)
    .where('event.type', '=', 'ping')
    .where('event.resource_id', '=', endpointId)
    .$castTo<StoredEvent>()
    .executeTakeFirstOrThrow();

/** What one event at one endpoint is called. */
export async function deliveryIdOf(ctx: Context, eventId: string, endpointId: string): Promise<string> {
  const { rows } = await sql<{ id: string }>`select delivery_id(${eventId}::uuid, ${endpointId}::uuid) as id`.execute(ctx.db);
  return rows[0]!.id;
}

interface Sought {
  readonly since: Instant;
  readonly until: Instant;
  readonly types: readonly string[];
  readonly branches: Branches;
}

/** How many events of these types and branches there were in a time, counted no further than to one more than `most`. */
export async function countEvents(ctx: Context, { since, until, types, branches }: Sought, most: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from (
      select from event e
      where e.dealer_id = ${ctx.dealer.id}::uuid and e.created_at >= ${since}::timestamptz and e.created_at <= ${until}::timestamptz
        and e.type = any(${types}::text[])
        ${branches === 'all' ? sql`` : sql`and (e.branch_id is null or e.branch_id = any(${branches}::uuid[]))`}
        ${ctx.dealer.isSandbox ? sql`and e.calling_dealer_id = ${ctx.caller.callingDealerId}::uuid` : sql``}
      limit ${most + 1}) found`.execute(ctx.db);
  return rows[0]!.count;
}
