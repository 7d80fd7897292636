import type pg from 'pg';
import type { Role } from '#modules/staff/contract.ts';
import type { AppDetails, Context } from '#platform/context.ts';
import type { KeyKind, Scope } from '#platform/contract.ts';
import type { Instant } from '#platform/dates.ts';
import { prepared } from '#platform/db/connect.ts';

/** One request at the door. `lookup` and `hash` are null when no well-formed key was sent, `token` when no access token was. */
export interface Asked {
  readonly lookup: string | null;
  readonly hash: Buffer | null;
  readonly token: Buffer | null;
  readonly visitor: string;
}

/** What the identifying statement tells of one request. Everything but the allowance is null without a matching key. */
export interface Found {
  readonly n: number;
  readonly now: Instant;
  readonly allowed: number;
  /** Which request of its window this is, from 1. */
  readonly position: number;
  readonly reset_seconds: number;
  readonly key: FoundKey | null;
}

/** A key; or an authorisation, with what its access token adds. */
export interface FoundKey {
  readonly id: string;
  readonly lookup: string | null;
  readonly name: string;
  readonly kind: KeyKind;
  readonly app: AppDetails | null;
  readonly environment: 'live' | 'test';
  readonly scopes: string[];
  readonly all_branches: boolean;
  readonly branch_ids: string[];
  readonly ips: string[];
  readonly origins: string[];
  readonly expires_at: Instant | null;
  readonly created_at: Instant;
  readonly revoked: boolean;
  readonly expired: boolean;
  readonly keeper_active: boolean;
  readonly calling_dealer_id: string;
  readonly plan: 'FREE' | 'STANDARD' | 'PROFESSIONAL';
  readonly available: boolean;
  readonly owner_id: string;
  readonly owner_name: string;
  /** Null while there is no sandbox, or nobody to act as there. */
  readonly owner_role: Role | null;
  readonly owner_granted: string[];
  readonly owner_withheld: string[];
  readonly owner_all_branches: boolean;
  readonly owner_branch_ids: string[];
  readonly dealer_id: string;
  readonly dealer_code: string;
  readonly currency: string;
  readonly country: string;
  readonly time_zone: string;
  readonly is_sandbox: boolean;
}

/**
 * Who asks, and what is left of the allowance, for all requests that wait at the door: one statement.
 * A request whose secret matches counts on its key (a revoked or expired one too), one whose access token does on the authorisation,
 * so that a refresh brings no new allowance, any other on its address.
 * A window is 60 s from its first request; what it refused before does not count. The rows are taken in the order
 * of their subjects, so that two such statements cannot wait for each other.
 */
const identify = prepared(`
  with clock as materialized (select coalesce($6::timestamptz, clock_timestamp()) as now),
  asked as (
    select * from unnest($1::int[], $2::text[], $3::bytea[], $4::bytea[], $5::text[]) as a (n, lookup, hash, token, visitor)
  ),
  known as materialized (
    select a.n, s.lookup, coalesce(k.id, g.id) as id, coalesce(k.dealer_id, g.dealer_id) as dealer_id, coalesce(k.name, p.name) as name,
           case when g.id is null then k.kind::text else 'oauth' end as kind,
           case when g.id is null then k.environment else 'live' end as environment,
           coalesce(k.owner_id, g.staff_id) as owner_id, coalesce(k.scopes, t.scopes) as scopes,
           coalesce(k.all_branches, true) as all_branches, coalesce(k.branch_ids, '{}') as branch_ids,
           coalesce(k.ips, '{}') as ips, coalesce(k.origins, '{}') as origins,
           coalesce(k.expires_at, t.expires_at) as expires_at, coalesce(k.created_at, t.created_at) as created_at,
           coalesce(k.revoked_at, s.revoked_at, g.revoked_at, t.revoked_at, p.revoked_at) is not null as revoked,
           p.id as app_id, p.website_url, p.logo_url, g.approved_at, g.scopes as approved_scopes,
           coalesce('key:' || k.id, 'authorisation:' || g.id, 'ip:' || a.visitor) as subject,
           coalesce(k.rate_limit, case when g.id is not null or k.kind = 'secret' then 120 when k.kind = 'publishable' then 300 else 60 end) as allowed
      from asked a
      left join api_key_secret s on s.lookup = a.lookup and s.hash = a.hash
      left join api_key k on k.dealer_id = s.dealer_id and k.id = s.key_id
      left join oauth_access_token t on t.hash = a.token
      left join oauth_authorisation g on g.dealer_id = t.dealer_id and g.id = t.authorisation_id
      left join oauth_app p on p.id = g.app_id
  ),
  counted as (
    insert into allowance as w (subject, used, allowed, ends)
    select subject, count(*), max(allowed), (select now from clock) + interval '60 seconds' from known group by subject order by subject
    on conflict (subject) do update set
      used = case when w.ends <= (select now from clock) then 0 else least(w.used, w.allowed) end + excluded.used,
      allowed = excluded.allowed,
      ends = case when w.ends <= (select now from clock) then excluded.ends else w.ends end
    returning subject, used, ends
  )
  select q.n, clock.now, q.allowed,
         (c.used - count(*) over (partition by q.subject) + row_number() over (partition by q.subject order by q.n))::int as position,
         greatest(1, ceil(extract(epoch from c.ends - clock.now)))::int as reset_seconds,
         q.id as key_id, q.lookup, q.name, q.kind, q.environment, q.scopes, q.all_branches, q.branch_ids, q.ips, q.origins, q.expires_at, q.created_at,
         q.revoked, q.app_id, q.website_url, q.logo_url, q.approved_at, q.approved_scopes,
         coalesce(q.expires_at <= clock.now, false) as expired,
         keeper.status = 'active' as keeper_active,
         home.id as calling_dealer_id, home.plan,
         coalesce(dealer.available and owner.id is not null, false) as available,
         owner.id as owner_id, owner.name as owner_name, owner.role as owner_role, owner.granted as owner_granted,
         owner.withheld as owner_withheld, owner.all_branches as owner_all_branches, owner.branch_ids as owner_branch_ids,
         dealer.id as dealer_id, dealer.code as dealer_code, dealer.currency, dealer.country, dealer.time_zone, dealer.is_sandbox
    from known q
    cross join clock
    join counted c on c.subject = q.subject
    left join dealer home on home.id = q.dealer_id
    left join staff keeper on keeper.dealer_id = q.dealer_id and keeper.id = q.owner_id
    left join dealer on dealer.id = case q.environment when 'live' then q.dealer_id else (select id from dealer where is_sandbox) end
    left join staff owner on owner.dealer_id = dealer.id
          and owner.id = case q.environment when 'live' then q.owner_id else dealer.acts_as_id end
   order by q.n`);

/** Answers all of them at once, in the order they asked. */
export async function identifyAll(doors: pg.Pool, asked: readonly Asked[], clock: Instant | null): Promise<Found[]> {
  const columns = (['lookup', 'hash', 'token', 'visitor'] as const).map((column) => asked.map((one) => one[column]));
  const { rows } = await doors.query({ ...identify, values: [asked.map((_, n) => n), ...columns, clock] });
  return rows.map(({ n, now, allowed, position, reset_seconds, key_id, ...row }) => ({
    n,
    now,
    allowed,
    position,
    reset_seconds,
    key: key_id === null ? null : { id: key_id, ...row, app: appOf(row) },
  }));
}

/** Its columns; all are null of a key. */
interface AppRow {
  readonly app_id: string | null;
  readonly name: string;
  readonly website_url: string;
  readonly logo_url: string | null;
  readonly approved_at: Instant;
  readonly approved_scopes: Scope[];
}

const appOf = ({
  app_id: id,
  name,
  website_url: websiteUrl,
  logo_url: logoUrl,
  approved_at: authorisedAt,
  approved_scopes: scopes,
}: AppRow): FoundKey['app'] => (id === null ? null : { id, name, websiteUrl, logoUrl, authorisedAt, scopes });

/** A key, or an authorisation, as it was used last. */
export interface Used {
  readonly dealerId: string;
  readonly id: string;
  readonly at: Instant;
  readonly ip: string;
}

/** Notes when and from where keys were last used; neither a turn nor `updated_at` is touched. */
export const saveLastUsed = (doors: pg.Pool, used: readonly Used[]): Promise<void> =>
  saveUses(doors, 'update api_key k set last_used_at = u.at, last_used_ip = u.ip', used);

/** The same of authorisations. */
export const saveLastUsedByApps = (doors: pg.Pool, used: readonly Used[]): Promise<void> =>
  saveUses(doors, 'update oauth_authorisation k set last_used_at = u.at, last_used_ip = u.ip', used);

async function saveUses(doors: pg.Pool, update: string, used: readonly Used[]): Promise<void> {
  await doors.query(
    `${update}
       from unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::text[]) as u (dealer_id, id, at, ip)
      where k.dealer_id = u.dealer_id and k.id = u.id and coalesce(k.last_used_at < u.at, true)`,
    [used.map((u) => u.dealerId), used.map((u) => u.id), used.map((u) => u.at), used.map((u) => u.ip)],
  );
}

/** The dealership a key belongs to. */
export async function dealerOfKey(doors: pg.Pool, keyId: string): Promise<string | null> {
  const { rows } = await doors.query('select dealer_id from api_key where id = $1', [keyId]);
  return rows[0]?.dealer_id ?? null;
}

export const hasKeys = async (ctx: Context): Promise<boolean> =>
  (await ctx.db.selectFrom('api_key').select('id').where('dealer_id', '=', ctx.dealer.id).limit(1).executeTakeFirst()) !== undefined;

/** A key as it stands, held by the dealer's turn. */
export const keyById = (tx: Context, id: string) =>
  tx.db.selectFrom('api_key').selectAll().where('dealer_id', '=', tx.dealer.id).where('id', '=', id).executeTakeFirst();

export type KeyRow = NonNullable<Awaited<ReturnType<typeof keyById>>>;

/** The member of staff a key is to act as, with what decides about its scopes. */
export const staffById = (tx: Context, id: string) =>
  tx.db
    .selectFrom('staff')
    .select(['id', 'status', 'role', 'granted', 'withheld'])
    .where('dealer_id', '=', tx.dealer.id)
    .where('id', '=', id)
    .executeTakeFirst();

/** Which of these are no branches of the dealership. */
export async function unknownBranches(tx: Context, ids: readonly string[]): Promise<string[]> {
  const found = await tx.db.selectFrom('branch').select('id').where('dealer_id', '=', tx.dealer.id).where('id', 'in', ids).execute();
  return ids.filter((id) => !found.some((branch) => branch.id === id));
}

/** Which of these are no branches of the sandbox; its rows lie outside this dealer's sight, hence the door's connection. */
export async function unknownSandboxBranches(tx: Context, ids: readonly string[]): Promise<string[]> {
  const { rows } = await tx.service.pools.doors.query(
    'select b.id from branch b join dealer d on d.id = b.dealer_id where d.is_sandbox and b.id = any($1::uuid[])',
    [ids],
  );
  return ids.filter((id) => !rows.some((branch) => branch.id === id));
}

export async function insertKey(tx: Context, row: Omit<KeyRow, 'last_used_at' | 'last_used_ip'>): Promise<void> {
  await tx.db.insertInto('api_key').values(row).execute();
}

export async function updateKey(tx: Context, id: string, changes: Partial<Omit<KeyRow, 'id' | 'dealer_id'>>): Promise<void> {
  await tx.db
    .updateTable('api_key')
    .set({ ...changes, updated_at: tx.now })
    .where('dealer_id', '=', tx.dealer.id)
    .where('id', '=', id)
    .execute();
}

/** The new secret of a key; the ones before it end at once. */
export async function replaceSecret(tx: Context, keyId: string, lookup: string, hash: Buffer): Promise<void> {
  await tx.db
    .updateTable('api_key_secret')
    .set({ revoked_at: tx.now })
    .where('dealer_id', '=', tx.dealer.id)
    .where('key_id', '=', keyId)
    .where('revoked_at', 'is', null)
    .execute();
  await tx.db.insertInto('api_key_secret').values({ lookup, dealer_id: tx.dealer.id, key_id: keyId, hash, created_at: tx.now }).execute();
}
