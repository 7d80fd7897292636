import type { Context, Dealer } from '#platform/context.ts';
import type { Instant } from '#platform/dates.ts';
import { prepared } from '#platform/db/connect.ts';
import type { Service } from '#platform/service.ts';
import type { Role } from './contract.ts';
import { sessionHours } from './contract.ts';

// Asked and written before it is known who asks, hence the doors.

/** A member of staff as the sign-in needs them. */
export interface Member {
  readonly dealer_id: string;
  readonly id: string;
  readonly is_active: boolean;
  readonly password_hash: string | null;
}

const named = prepared(`
  select s.dealer_id, s.id, s.status = 'active' as is_active, s.password_hash
    from dealer d join staff s on s.dealer_id = d.id and s.email = $2 and s.status <> 'deleted'
   where d.code = $1 and not d.is_sandbox`);

/** Who has this e-mail address at the dealership with this code. */
export async function memberNamed({ pools }: Service, dealerCode: string, email: string): Promise<Member | undefined> {
  const { rows } = await pools.doors.query({ ...named, values: [dealerCode, email] });
  return rows[0];
}

/** A session as it is now, with whose it is. */
export interface SessionRow {
  readonly id: string;
  readonly now: Instant;
  readonly proved_at: Instant;
  readonly is_stale: boolean;
  readonly staff_id: string;
  readonly name: string;
  readonly email: string;
  readonly role: Role;
  readonly granted: string[];
  readonly withheld: string[];
  readonly all_branches: boolean;
  readonly branch_ids: string[];
  readonly password_hash: string | null;
  readonly plan: 'FREE' | 'STANDARD' | 'PROFESSIONAL';
  readonly dealer_name: string;
  readonly dealer: Dealer;
}

const clock = (parameter: string) => `clock as materialized (select coalesce(${parameter}::timestamptz, clock_timestamp()) as now)`;
const isAlive = `s.expires_at > clock.now and s.seen_at > clock.now - interval '${sessionHours.unused} hours'`;

const find = prepared(`
  with ${clock('$2')}
  select s.id, clock.now, s.proved_at, s.seen_at < clock.now - interval '1 minute' as is_stale,
         u.id as staff_id, u.name, u.email, u.role, u.granted, u.withheld, u.all_branches, u.branch_ids, u.password_hash,
         d.plan, d.name as dealer_name, d.id as dealer_id, d.code, d.currency, d.country, d.time_zone, d.is_sandbox
    from staff_session s
    cross join clock
    join staff u on u.dealer_id = s.dealer_id and u.id = s.staff_id and u.status = 'active'
    join dealer d on d.id = s.dealer_id
   where s.hash = $1 and ${isAlive}`);

/** The session of this token, while it lasts and whoever it is of works here. */
export async function sessionWith(service: Service, hash: Buffer): Promise<SessionRow | undefined> {
  const { rows } = await service.pools.doors.query({ ...find, values: [hash, service.clock()] });
  if (!rows[0]) return undefined;
  const { dealer_id: id, code, currency, country, time_zone: timeZone, is_sandbox: isSandbox, ...session } = rows[0];
  return { ...session, dealer: { id, code, currency, country, timeZone, isSandbox } };
}

// Held against a change of the password or a ban that is under way: either is seen here, or sees the session and ends it.
const open = prepared(`
  with ${clock('$6')}
  insert into staff_session (dealer_id, id, staff_id, hash, proved_at, seen_at, expires_at, created_at)
  select u.dealer_id, $3, u.id, $4, clock.now, clock.now, clock.now + interval '${sessionHours.atMost} hours', clock.now
    from staff u cross join clock
   where u.dealer_id = $1 and u.id = $2 and u.status = 'active' and u.password_hash = $5
     for share of u`);

interface NewSession {
  readonly id: string;
  readonly hash: Buffer;
  /** The password that was given, as it is kept. */
  readonly passwordHash: string;
}

/** Opens a session, unless the member of staff was banned or their password changed meanwhile. */
export async function insertSession(service: Service, member: Member, { id, hash, passwordHash }: NewSession): Promise<boolean> {
  const values = [member.dealer_id, member.id, id, hash, passwordHash, service.clock()];
  const { rowCount } = await service.pools.doors.query({ ...open, values });
  return rowCount === 1;
}

const renew = prepared(`
  with ${clock('$3')}
  update staff_session s set hash = $2, proved_at = clock.now, seen_at = clock.now from clock where s.hash = $1`);

/** Gives a session another token, as its member of staff proved who they are. */
export async function renewSession(service: Service, hash: Buffer, next: Buffer): Promise<boolean> {
  const { rowCount } = await service.pools.doors.query({ ...renew, values: [hash, next, service.clock()] });
  return rowCount === 1;
}

const touch = prepared('update staff_session set seen_at = $3 where dealer_id = $1 and id = $2 and seen_at < $3');

/** Notes that a session is used. */
export async function touchSession({ pools }: Service, dealerId: string, id: string, now: Instant): Promise<void> {
  await pools.doors.query({ ...touch, values: [dealerId, id, now] });
}

/** Ends the session of this token. */
export async function deleteSession({ pools }: Service, hash: Buffer): Promise<void> {
  await pools.doors.query({ ...prepared('delete from staff_session where hash = $1'), values: [hash] });
}

/** Ends all sessions of a member of staff. */
export async function deleteSessionsOf(tx: Context, staffId: string): Promise<void> {
  await tx.db.deleteFrom('staff_session').where('dealer_id', '=', tx.dealer.id).where('staff_id', '=', staffId).execute();
}

const upgrade = prepared('update staff set password_hash = $4 where dealer_id = $1 and id = $2 and password_hash = $3');

/** Keeps the same password at another cost. */
export async function replaceHash({ pools }: Service, member: Member, kept: string, next: string): Promise<void> {
  await pools.doors.query({ ...upgrade, values: [member.dealer_id, member.id, kept, next] });
}

const sweep = prepared(`
  with ${clock('$1')}
  delete from staff_session s using clock where not (${isAlive})`);

/** Deletes the sessions that time has ended. */
export async function deleteOldSessions(service: Service): Promise<void> {
  await service.pools.doors.query({ ...sweep, values: [service.clock()] });
}
