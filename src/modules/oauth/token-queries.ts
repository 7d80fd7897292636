import type { Instant } from '#platform/dates.ts';
import { prepared } from '#platform/db/connect.ts';
import { scopedQuery } from '#platform/db/scoped-query.ts';
import type { Service } from '#platform/service.ts';
import { accessTokenSeconds, keptDays, refreshTokenDays } from './contract.ts';

// Codes and tokens. What uses one and what issues the next is one statement: of many who come at once one finds it unused, and nobody
// ever holds a token that was issued halfway. They take no dealer's turn.

/** The hashes of the tokens that are issued when a code or refresh token is taken. */
export interface Issued {
  readonly access: Buffer;
  readonly refresh: Buffer;
}

const time = 'clock as materialized (select coalesce($1::timestamptz, clock_timestamp()) as now)';

/** A member of staff who may connect an app: they work here still, and the plan has it. */
const entitled = (row: string) => `d.id = ${row}.dealer_id and d.plan <> 'FREE' and u.dealer_id = d.id and u.status = 'active'`;

const issue = `
  access as (
    insert into oauth_access_token (hash, dealer_id, authorisation_id, scopes, created_at, expires_at)
    select $2, dealer_id, authorisation_id, scopes, now, now + interval '${accessTokenSeconds} seconds' from taken
  ),
  refresh as (
    insert into oauth_refresh_token (hash, dealer_id, authorisation_id, expires_at)
    select $3, dealer_id, authorisation_id, now + interval '${refreshTokenDays} days' from taken
  )
  select scopes from taken`;

const byCode = prepared(`
  with ${time},
  taken as (
    update oauth_code c set used_at = clock.now from clock, dealer d, staff u
     where c.hash = $4 and c.app_id = $5 and c.redirect_uri = $6 and c.challenge = $7
       and c.used_at is null and c.expires_at > clock.now and ${entitled('c')} and u.id = c.staff_id
    returning c.dealer_id, c.authorisation_id, c.app_id, c.staff_id, c.scopes, c.created_at, clock.now
  ),
  authorised as (
    insert into oauth_authorisation (dealer_id, id, app_id, staff_id, scopes, approved_at)
    select dealer_id, authorisation_id, app_id, staff_id, scopes, created_at from taken
  ),
  ${issue}`);

interface CodeUse {
  readonly hash: Buffer;
  readonly appId: string;
  readonly redirectUri: string;
  readonly challenge: string;
}

/** Exchanges a code for the first tokens of an authorisation. Returns their scopes, or nothing when the code was not taken. */
export const exchangeCode = (service: Service, { access, refresh }: Issued, code: CodeUse): Promise<string[] | undefined> =>
  take(service, byCode, [access, refresh, code.hash, code.appId, code.redirectUri, code.challenge]);

const byRefreshToken = prepared(`
  with ${time},
  taken as (
    update oauth_refresh_token r set used_at = clock.now from clock, oauth_authorisation g, dealer d, staff u
     where r.hash = $4 and g.dealer_id = r.dealer_id and g.id = r.authorisation_id and g.app_id = $5 and g.revoked_at is null
       and r.used_at is null and r.expires_at > clock.now and ($6::text[] is null or $6::text[] <@ g.scopes)
       and ${entitled('r')} and u.id = g.staff_id
    returning r.dealer_id, r.authorisation_id, coalesce($6::text[], g.scopes) as scopes, clock.now
  ),
  ${issue}`);

interface RefreshUse {
  readonly hash: Buffer;
  readonly appId: string;
  /** Null for all that was granted. */
  readonly scopes: readonly string[] | null;
}

/** Exchanges a refresh token for the next tokens, likewise. */
export const exchangeRefreshToken = (service: Service, { access, refresh }: Issued, token: RefreshUse): Promise<string[] | undefined> =>
  take(service, byRefreshToken, [access, refresh, token.hash, token.appId, token.scopes]);

async function take(service: Service, statement: ReturnType<typeof prepared>, values: unknown[]): Promise<string[] | undefined> {
  const [taken] = await everywhere<{ scopes: string[] }>(service, statement, values);
  return taken?.scopes;
}

// ---- What was not taken ----

/** A code or refresh token as it is kept, and what it belongs to. */
export interface KeptToken {
  readonly appId: string;
  readonly usedAt: Instant | null;
  readonly expired: boolean;
  /** Whether its authorisation is over. */
  readonly revoked: boolean;
  readonly dealerId: string;
  readonly authorisationId: string;
  /** What was granted. */
  readonly scopes: string[];
}

const keptCode = prepared(`
  with ${time}
  select c.dealer_id as "dealerId", c.authorisation_id as "authorisationId", c.app_id as "appId", c.scopes,
         c.used_at as "usedAt", c.expires_at <= clock.now as expired, g.revoked_at is not null as revoked
    from clock, oauth_code c left join oauth_authorisation g on g.dealer_id = c.dealer_id and g.id = c.authorisation_id
   where c.hash = $2`);

const keptRefreshToken = prepared(`
  with ${time}
  select r.dealer_id as "dealerId", r.authorisation_id as "authorisationId", g.app_id as "appId", g.scopes,
         r.used_at as "usedAt", r.expires_at <= clock.now as expired, g.revoked_at is not null as revoked
    from clock, oauth_refresh_token r join oauth_authorisation g on g.dealer_id = r.dealer_id and g.id = r.authorisation_id
   where r.hash = $2`);

export const codeAsKept = async (service: Service, hash: Buffer): Promise<KeptToken | undefined> =>
  (await everywhere<KeptToken>(service, keptCode, [hash]))[0];

export const refreshTokenAsKept = async (service: Service, hash: Buffer): Promise<KeptToken | undefined> =>
  (await everywhere<KeptToken>(service, keptRefreshToken, [hash]))[0];

// ---- Revocation, and the end ----

const endAccessToken = prepared(`
  with ${time}
  update oauth_access_token t set revoked_at = clock.now from clock, oauth_authorisation g
   where t.hash = $2 and t.revoked_at is null and g.dealer_id = t.dealer_id and g.id = t.authorisation_id and g.app_id = $3`);

/** Ends one access token of an app, if there is such a one. */
export async function revokeAccessToken(service: Service, hash: Buffer, appId: string): Promise<void> {
  await everywhere(service, endAccessToken, [hash, appId]);
}

// Few at a time, as an authorisation may have had a token for every hour of years.
const some = 20;

const sweepAuthorisations = prepared(`
  with ${time},
  over as (
    select g.dealer_id, g.id from oauth_authorisation g, clock
     where g.revoked_at < clock.now - interval '${keptDays} days' limit ${some}
  ),
  access as (delete from oauth_access_token t using over where t.dealer_id = over.dealer_id and t.authorisation_id = over.id),
  refresh as (delete from oauth_refresh_token t using over where t.dealer_id = over.dealer_id and t.authorisation_id = over.id),
  code as (delete from oauth_code t using over where t.dealer_id = over.dealer_id and t.authorisation_id = over.id)
  delete from oauth_authorisation g using over where g.dealer_id = over.dealer_id and g.id = over.id returning g.id`);

const sweepCodes = prepared(`
  with ${time}
  delete from oauth_code c using clock where c.used_at is null and c.expires_at < clock.now - interval '1 day' returning c.dealer_id`);

/** Deletes what nobody can present any more with another effect than that of a text nobody ever issued. */
export async function sweepTokens(service: Service): Promise<void> {
  await everywhere(service, sweepCodes, []);
  for (let swept = some; swept === some; ) swept = (await everywhere(service, sweepAuthorisations, [])).length;
}

/** One statement over all dealers. The time is its first value. */
async function everywhere<R>(service: Service, statement: ReturnType<typeof prepared>, values: unknown[]): Promise<R[]> {
  const { rows } = await scopedQuery(service.pools.work, 'forecourt.scope', 'system', {
    ...statement,
    values: [service.clock(), ...values],
  });
  return rows;
}
