import type { Instant } from '#platform/dates.ts';
import { alongIndexes } from '#platform/db/along-indexes.ts';
import type { Service } from '#platform/service.ts';

// Which of all that is due is sent next. Read with "The life of a delivery" of docs/architecture.md.

/** What a process asks for. */
export interface Ask {
  readonly ownerId: string;
  /** Places for first attempts at endpoints that fare well … */
  readonly places: number;
  /** … and for those that fail, and retries. */
  readonly troubledPlaces: number;
  /** Endpoints that let this process wait at the moment: they count as failing. */
  readonly slow: readonly string[];
  /** Deliveries that this process has in hand and no longer under way: their attempt ended, and is about to be written. */
  readonly ended: readonly { readonly id: string; readonly manual: boolean }[];
  /** Where the walk over the endpoints goes on; null: at the beginning. */
  readonly from: string | null;
  /** Endpoints with nothing but retries, too: there are many that wait for hours, so they are visited less often. */
  readonly retries: boolean;
}

interface Caps {
  readonly perEndpoint: number;
  readonly perDealer: number;
  readonly perDealerTroubled: number;
  /** So many of a dealer's places go to those that fail and to retries before anything else, when such wait. */
  readonly keptForTroubled: number;
}

/** A delivery in hand, with all that is needed to send it. */
export interface Claimed {
  readonly dealer_id: string;
  readonly id: string;
  readonly manual: boolean;
  readonly endpoint_id: string;
  readonly event_id: string;
  readonly event_at: Instant;
  readonly attempt: number;
  /** Tells this claim from others of the same delivery. */
  readonly lease_until: Instant;
  readonly troubled: boolean;
  readonly url: string;
  readonly endpoint_dealer_id: string;
  readonly secret_enc: Buffer;
  /** Of a secret that was rolled, as long as it still signs. */
  readonly old_secret_enc: Buffer | null;
  readonly type: string;
  readonly sequence: number;
  readonly branch_id: string | null;
  readonly data: string;
  readonly actor: object;
  readonly calling_dealer_id: string;
  readonly request_id: string | null;
}

export interface Claim {
  readonly now: Instant;
  readonly taken: readonly Claimed[];
  /** Where the next one goes on; null when the walk came to its end. */
  readonly next: string | null;
}

/** An owner that lived sends within 10 s; one that does not has had 10 s more. */
export const leaseSeconds = 20;

/** Endpoints that one claim visits: some more than it can take from. The next goes on where it stopped, so many endpoints make a round longer, not a claim. */
const visitsFor = (places: number): number => Math.min(Math.max(2 * places, 64), 512);

const zero = '00000000-0000-0000-0000-000000000000';

/** Takes what is sent next, fairly over endpoints and dealers, never more of one than the caps allow. */
export async function claim(service: Service, ask: Ask, caps: Caps): Promise<Claim> {
  const visits = visitsFor(ask.places + ask.troubledPlaces);
  const rows = await alongIndexes<Claimed & { now: Instant; steps: number; last: string | null }>(
    service,
    ask.retries ? claimAny : claimFresh,
    [
      ask.ownerId,
      service.clock(),
      ask.places,
      ask.troubledPlaces,
      ask.slow,
      ask.from ?? zero,
      caps.perEndpoint,
      caps.perDealer,
      caps.perDealerTroubled,
      visits,
      ask.ended.filter(({ manual }) => !manual).map(({ id }) => id),
      ask.ended.filter(({ manual }) => manual).map(({ id }) => id),
      caps.keptForTroubled,
    ],
    'forecourt.claim',
  );
  const [{ now, steps, last }] = rows as [(typeof rows)[number]];
  return { now, taken: rows.filter(({ id }) => id !== null), next: steps < visits ? null : last };
}

/** One step of the walk: the first endpoint after another that has something waiting. */
const firstAfter = (endpoint: string, only: string) => `
  select d.dealer_id, d.endpoint_id from delivery d
  where d.state = 'due' ${only} and d.endpoint_id > ${endpoint}
  order by d.endpoint_id limit 1`;

/** It fails, or lets whoever asks wait. */
const isTroubled = (endpoint: string) => `(${endpoint}.endpoint_id = any($5::uuid[]) or exists (
      select from endpoint_health h
      where h.dealer_id = ${endpoint}.dealer_id and h.endpoint_id = ${endpoint}.endpoint_id and h.failing_since is not null))`;

/**
 * From endpoint to endpoint, up to as many of its rows as the cap allows in the order in which they fell due; of all of them those
 * first whose endpoint has fewest under way. What is under way is ranked before what waits, so every cap is a place in a row.
 * Claims come one after the other, hence the lock: each sees what those before it took, and the caps hold over all processes.
 * A row that somebody else holds at the moment, such as who cancels it, is passed over.
 */
const claimWhere = (only: string) => `
  with recursive moment as materialized (
    select clock_timestamp() as real, coalesce($2::timestamptz, clock_timestamp()) as now
  ), walk as (
    select f.dealer_id, f.endpoint_id, 1 as step from (${firstAfter('$6::uuid', only)}) f
    union all
    select n.dealer_id, n.endpoint_id, walk.step + 1 from walk cross join lateral (${firstAfter('walk.endpoint_id', only)}) n
    where walk.step < $10::int
  ), each as materialized (
    -- Of few endpoints as many rows as they may have, of many one will do: twice as many as there are places for, in all.
    select least($7::int, greatest(1, 2 * ($3::int + $4::int) / greatest(count(*), 1)))::int as rows from walk
  ), visited as materialized (
    select w.dealer_id, w.endpoint_id, ${isTroubled('w')} as troubled from walk w
  ), in_line as (
    select v.dealer_id, v.endpoint_id, true as waits, d.id, d.manual, d.next_at, v.troubled or d.attempt > 1 as troubled
    from visited v cross join lateral (
      select x.id, x.manual, x.attempt, x.next_at from delivery x
      where x.endpoint_id = v.endpoint_id and x.state = 'due' and x.next_at <= (select now from moment)
      order by x.next_at, x.id limit (select rows from each)) d
    union all
    select d.dealer_id, d.endpoint_id, false, d.id, d.manual, d.next_at, d.attempt > 1 or ${isTroubled('d')}
    from delivery d
    where d.state = 'sending' and d.lease_until > (select real from moment)
      and not (d.lease_owner = $1::uuid and d.id = any(case when d.manual then $12::uuid[] else $11::uuid[] end))
  ), placed as (
    select *, row_number() over (partition by endpoint_id order by waits, next_at, id) as place from in_line
  ), counted as (
    select *, row_number() over (partition by dealer_id, troubled order by waits, place, next_at) as of_troubled
    from placed where place <= $7::int or not waits
  ), ranked as (
    -- Some in trouble before what is calm, or a dealer with enough that is new would never see a retry; the others after it.
    select *, row_number() over (partition by dealer_id
      order by waits, case when not troubled then 1 when of_troubled <= $13::int then 0 else 2 end, place, next_at) as of_dealer
    from counted
  ), chosen as (
    (select dealer_id, id, manual, troubled from ranked where waits and not troubled and of_dealer <= $8::int
     order by place, next_at limit $3::int)
    union all
    (select dealer_id, id, manual, troubled from ranked where waits and troubled and of_dealer <= $8::int and of_troubled <= $9::int
     order by place, next_at limit $4::int)
  ), held as materialized (
    select c.troubled, d.* from chosen c cross join lateral (
      select x.dealer_id, x.id, x.manual, x.endpoint_id, x.event_id, x.event_at, x.attempt, x.next_at from delivery x
      where x.dealer_id = c.dealer_id and x.id = c.id and x.manual = c.manual and x.state = 'due'
      for update skip locked) d
  ), letters as materialized (
    select h.*, (select real from moment) + interval '${leaseSeconds} seconds' as lease_until, w.url, w.calling_dealer_id as endpoint_dealer_id, w.secret_enc,
      case when w.old_secret_until > (select now from moment) then w.old_secret_enc end as old_secret_enc,
      e.type, e.sequence, e.branch_id, e.data, e.actor, e.calling_dealer_id, e.request_id,
      w.url is not null and e.type is not null as whole
    from held h
    left join lateral (
      select * from webhook_endpoint x where x.dealer_id = h.dealer_id and x.id = h.endpoint_id limit 1) w on true
    left join lateral (
      select * from event x where x.dealer_id = h.dealer_id and x.created_at = h.event_at and x.id >= h.event_id and x.id <= h.event_id
      order by x.dealer_id, x.created_at, x.id limit 1) e on true
  ), taken as (
    update delivery d set state = 'sending', lease_owner = $1::uuid, lease_until = l.lease_until
    from letters l where d.dealer_id = l.dealer_id and d.id = l.id and d.manual = l.manual and l.whole
  ), orphaned as (
    delete from delivery d using letters l where d.dealer_id = l.dealer_id and d.id = l.id and d.manual = l.manual and not l.whole
  ), known as (
    insert into endpoint_health (dealer_id, endpoint_id) select distinct l.dealer_id, l.endpoint_id from letters l
    where l.whole and not exists (
      select from endpoint_health h where h.dealer_id = l.dealer_id and h.endpoint_id = l.endpoint_id)
    on conflict do nothing
  )
  select m.now, (select count(*)::int from walk) as steps, (select endpoint_id from walk order by step desc limit 1) as last, l.*
  from moment m left join letters l on l.whole`;

const claimFresh = claimWhere('and d.attempt = 1');
const claimAny = claimWhere('');

/**
 * Hands back what the owners of these leases did not end: they died, and the same attempt is made again. Says how many, and whether it
 * looked: not right after a start of the database. Most of the time a look at the leases of the last minute is enough, however many dead entries an old snapshot keeps before them.
 */
export async function resumeOverdue(service: Service, which: 'all' | 'of the last minute'): Promise<Resumed> {
  const [resumed] = await alongIndexes<Resumed>(service, resumeStatement, [which === 'all' ? null : '1 minute']);
  return resumed as Resumed;
}

interface Resumed {
  readonly count: number;
  readonly looked: boolean;
}

const resumeStatement = `
  with moment as materialized (
    select clock_timestamp() as now, coalesce(clock_timestamp() - $1::interval, '-infinity') as since,
      -- After a restart of the database those that live come first, to tell what they could not.
      clock_timestamp() > pg_postmaster_start_time() + interval '5 seconds' as looks
  ), overdue as materialized (
    select x.dealer_id, x.id, x.manual from delivery x
    where x.state = 'sending' and x.lease_until < (select now from moment) and x.lease_until > (select since from moment)
      and (select looks from moment)
    for update skip locked
  ), resumed as (
    update delivery d set state = 'due', lease_owner = null, lease_until = null
    from overdue o where d.dealer_id = o.dealer_id and d.id = o.id and d.manual = o.manual
    returning d.id
  )
  select (select count(*)::int from resumed) as count, looks as looked from moment`;

/** Puts off what its owner could not attempt: the same attempt is due again after a while. */
export async function putOff(
  { pools, clock }: Service,
  ownerId: string,
  { dealer_id, id, manual, lease_until }: Pick<Claimed, 'dealer_id' | 'id' | 'manual' | 'lease_until'>,
  seconds: number,
): Promise<void> {
  await pools.doors.query(
    `update delivery set state = 'due', lease_owner = null, lease_until = null,
       next_at = coalesce($1::timestamptz, clock_timestamp()) + make_interval(secs => $2)
     where dealer_id = $3 and id = $4 and manual = $5 and state = 'sending' and lease_owner = $6 and lease_until = $7`,
    [clock(), seconds, dealer_id, id, manual, ownerId, lease_until],
  );
}

/** Gives back what one process has in hand. */
export async function handBack({ pools }: Service, ownerId: string): Promise<void> {
  await pools.doors.query(
    `update delivery set state = 'due', lease_owner = null, lease_until = null where state = 'sending' and lease_owner = $1`,
    [ownerId],
  );
}

/** How much is due at this moment, whatever keeps it from being sent, and for how many seconds the oldest of it. */
export async function backlog({ pools, clock }: Service): Promise<{ due: number; oldestSeconds: number }> {
  const { rows } = await pools.doors.query(
    `select count(d.id)::int as due, coalesce(extract(epoch from t.now - min(d.next_at)), 0)::float as oldest
     from (select coalesce($1::timestamptz, clock_timestamp()) as now) t
     left join delivery d on d.state = 'due' and d.next_at <= t.now group by t.now`,
    [clock()],
  );
  return { due: rows[0].due, oldestSeconds: rows[0].oldest };
}
