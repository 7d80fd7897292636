import type { SqlBool } from 'kysely';
import { sql } from 'kysely';
import type { KnownScope } from '#modules/staff/contract.ts';
import type { Context } from '#platform/context.ts';
import type { Instant } from '#platform/dates.ts';
import { prepared } from '#platform/db/connect.ts';
import { acrossDealers } from '#platform/db/queries.ts';
import type { Service } from '#platform/service.ts';

// ---- Apps ----

/** An app that may connect, and the time at which it was looked up. */
export interface AppRow {
  readonly id: string;
  readonly secret_hash: Buffer;
  readonly name: string;
  readonly website_url: string;
  readonly logo_url: string | null;
  readonly redirect_uris: string[];
  readonly scopes: KnownScope[];
  readonly now: Instant;
}

const appBy = (column: 'client_id' | 'id') =>
  prepared(`
    select id, secret_hash, name, website_url, logo_url, redirect_uris, scopes, coalesce($2::timestamptz, clock_timestamp()) as now
      from oauth_app where ${column} = $1 and revoked_at is null`);

const [byClientId, byId] = [appBy('client_id'), appBy('id')];

export const appByClientId = (service: Service, clientId: string): Promise<AppRow | undefined> => findApp(service, byClientId, clientId);
export const appById = (service: Service, id: string): Promise<AppRow | undefined> => findApp(service, byId, id);

async function findApp({ pools, clock }: Service, statement: ReturnType<typeof prepared>, by: string): Promise<AppRow | undefined> {
  const { rows } = await pools.work.query({ ...statement, values: [by, clock()] });
  return rows[0];
}

export interface NewAppRow {
  readonly id: string;
  readonly client_id: string;
  readonly secret_hash: Buffer;
  readonly name: string;
  readonly website_url: string;
  readonly logo_url: string | null;
  readonly redirect_uris: string[];
  readonly scopes: string[];
  readonly created_at: Instant;
}

export async function insertApp(service: Service, row: NewAppRow): Promise<void> {
  await acrossDealers(service.pools.work).insertInto('oauth_app').values(row).execute();
}

/** Ends an app, once; its id, or nothing when there is none. */
export async function endApp(service: Service, clientId: string): Promise<string | undefined> {
  const ended = await acrossDealers(service.pools.work)
    .updateTable('oauth_app')
    .set({ revoked_at: sql<Instant>`coalesce(revoked_at, ${timeOf(service)})` })
    .where('client_id', '=', clientId)
    .returning('id')
    .executeTakeFirst();
  return ended?.id;
}

/** An authorisation that is to be ended. */
export interface Ending {
  readonly dealer_id: string;
  readonly id: string;
  readonly by: End;
}

/** Those of all dealers that are over and were not ended: their app was, or the last refresh token expired. Of one app where it is named. */
export const overdue = (service: Service, appId?: string): Promise<Ending[]> =>
  acrossDealers(service.pools.work)
    .selectFrom('oauth_authorisation as g')
    .innerJoin('oauth_app as p', 'p.id', 'g.app_id')
    .select(['g.dealer_id', 'g.id', sql<End>`case when p.revoked_at is null then 'expired' else 'operator' end`.as('by')])
    .where('g.revoked_at', 'is', null)
    .where(({ or, eb, not }) => or([eb('p.revoked_at', 'is not', null), not(refreshable(service))]))
    .$if(appId !== undefined, (of) => of.where('p.id', '=', appId ?? ''))
    .execute();

// ---- Authorisations ----

/** The plan of the dealership, as it stands now. */
export async function planOf(ctx: Context): Promise<string> {
  const { plan } = await ctx.db.selectFrom('dealer').select('plan').where('id', '=', ctx.dealer.id).executeTakeFirstOrThrow();
  return plan;
}

interface NewCode {
  readonly hash: Buffer;
  readonly app_id: string;
  readonly staff_id: string;
  readonly scopes: string[];
  readonly redirect_uri: string;
  readonly challenge: string;
  readonly created_at: Instant;
  readonly expires_at: Instant;
  readonly authorisation_id: string;
}

export async function insertCode(tx: Context, row: NewCode): Promise<void> {
  await tx.db
    .insertInto('oauth_code')
    .values({ dealer_id: tx.dealer.id, ...row })
    .execute();
}

/** What a member of staff who works here may do. */
export const standingOf = (ctx: Context, staffId: string) =>
  ctx.db
    .selectFrom('staff')
    .select(['role', 'granted', 'withheld'])
    .where('dealer_id', '=', ctx.dealer.id)
    .where('id', '=', staffId)
    .where('status', '=', 'active')
    .executeTakeFirst();

/** What the dealership is connected to: neither revoked nor left unused until its last refresh token expired. The newest first. */
export const connections = (ctx: Context) =>
  ctx.db
    .selectFrom('oauth_authorisation as g')
    .innerJoin('oauth_app as p', 'p.id', 'g.app_id')
    .innerJoin('staff as u', (join) => join.onRef('u.dealer_id', '=', 'g.dealer_id').onRef('u.id', '=', 'g.staff_id'))
    .select(['g.id', 'g.scopes', 'g.approved_at', 'g.last_used_at', 'p.name', 'p.website_url', 'u.id as staff_id', 'u.name as staff_name'])
    .where('g.dealer_id', '=', ctx.dealer.id)
    .where('g.revoked_at', 'is', null)
    .where('p.revoked_at', 'is', null)
    .where(refreshable(ctx.service))
    .orderBy('g.approved_at', 'desc')
    .orderBy('g.id')
    .execute();

/** Whether the last refresh token of an authorisation `g` has not expired; those before it were used. */
const refreshable = (service: Service) =>
  sql<SqlBool>`exists (select from oauth_refresh_token r where r.dealer_id = g.dealer_id and r.authorisation_id = g.id and r.expires_at > ${timeOf(service)})`;

export const authorisationById = (ctx: Context, id: string) =>
  ctx.db
    .selectFrom('oauth_authorisation')
    .select(['id', 'revoked_at'])
    .where('dealer_id', '=', ctx.dealer.id)
    .where('id', '=', id)
    .executeTakeFirst();

export type End = 'reuse' | 'app' | 'dealer' | 'operator' | 'expired';

/** Ends an authorisation with all its codes and tokens; whether it was not over yet. */
export async function endAuthorisation(tx: Context, id: string, by: End): Promise<boolean> {
  const ended = await tx.db
    .updateTable('oauth_authorisation')
    .set({ revoked_at: timeOf(tx.service), revoked_by: by })
    .where('dealer_id', '=', tx.dealer.id)
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .returning('id')
    .executeTakeFirst();
  return ended !== undefined;
}

/** No turn is taken here, so the time is that of the statement. */
const timeOf = ({ clock }: Service) => sql<Instant>`coalesce(${clock()}::timestamptz, clock_timestamp())`;
