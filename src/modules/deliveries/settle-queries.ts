import type { Instant } from '#platform/dates.ts';
import { alongIndexes } from '#platform/db/along-indexes.ts';
import { textArray } from '#platform/db/text-array.ts';
import type { Service } from '#platform/service.ts';

// What came of attempts, written for many at once.

/** Why an attempt failed. */
export type DeliveryError = 'dns' | 'connect' | 'tls' | 'timeout' | 'blocked_address' | 'redirect' | 'status';

/** What came of one. */
export interface Outcome {
  readonly success: boolean;
  readonly responseStatus: number | null;
  readonly requestHeaders: Readonly<Record<string, string>>;
  /** Its first 10 KiB, as text that can be stored. */
  readonly responseBody: string | null;
  readonly error: DeliveryError | null;
  readonly durationMs: number;
}

/** An attempt that has ended, as it is written down: the names are those of the columns. */
export interface Ended {
  readonly attempt_id: string;
  readonly dealer_id: string;
  readonly id: string;
  readonly manual: boolean;
  readonly endpoint_id: string;
  readonly event_id: string;
  readonly event_at: Instant;
  readonly event_type: string;
  readonly attempt: number;
  /** Of the claim it was made under. */
  readonly lease_until: Instant;
  readonly attempted_at: Instant;
  /** How long ago it ended, when this is sent. */
  readonly ended_ms_ago: number;
  readonly success: boolean;
  readonly response_status: number | null;
  readonly request_headers: Readonly<Record<string, string>>;
  readonly request_body: string;
  readonly response_body: string | null;
  readonly error: DeliveryError | null;
  readonly duration_ms: number;
  /** After how many seconds the next one follows; null: there is none. */
  readonly delay_seconds: number | null;
}

/** An endpoint of a dealer. */
export interface EndpointRef {
  readonly dealer_id: string;
  readonly endpoint_id: string;
}

export interface Settled {
  /** The attempts that are written. The others are not yet, as somebody holds the health of their endpoint. */
  readonly written: ReadonlySet<string>;
  /** Endpoints whose dealer may have to be told something, or that have to be disabled. */
  readonly lookAt: readonly EndpointRef[];
}

/**
 * Writes down what came of attempts, and settles their deliveries: those that ended go, the others wait for their next attempt.
 * An attempt whose lease another has taken over is written down and settles nothing. Said twice, it is as if said once.
 *
 * Whoever changes how an endpoint fares holds its row of `endpoint_health` first and rows of `delivery` after, in one order: here,
 * and where deliveries are cancelled. Its log has its times under that row too, so they are in the order of the commits.
 */
export async function settle(
  service: Service,
  ownerId: string,
  attempts: readonly Ended[],
  mailHours: readonly number[],
): Promise<Settled> {
  const rows = await alongIndexes<{ written: string[]; look_at: EndpointRef[] }>(service, settleStatement, [
    ownerId,
    service.clock(),
    JSON.stringify(attempts.map(({ request_body: _, ...rest }) => rest)),
    mailHours,
    textArray(attempts.map(({ request_body: body }) => body)),
  ]);
  const [{ written, look_at: lookAt }] = rows as [(typeof rows)[number]];
  return { written: new Set(written), lookAt };
}

const columns = `attempt_id uuid, dealer_id uuid, id uuid, manual boolean, endpoint_id uuid, event_id uuid, event_at timestamptz,
  event_type text, attempt smallint, lease_until timestamptz, attempted_at timestamptz, ended_ms_ago float, success boolean, response_status smallint,
  request_headers json, response_body text, error delivery_error, duration_ms integer, delay_seconds integer`;

const names = columns.replaceAll(/(\w+) \w+/g, '$1');

/** Fewer mails were sent about its failure than are due, or it recovered from one of which mails were sent. */
const needsALook = (clock: string, mailHours: string) => `case when h.failing_since is null then h.notices > 0
        else (case when h.told_since = h.failing_since then h.notices else 0 end) < (
          select count(*) from unnest(${mailHours}::int[]) hours
          where h.failing_since <= coalesce(${clock}::timestamptz, clock_timestamp()) - make_interval(hours => hours)) end`;

const settleStatement = `
  with told as materialized (
    select a.*, coalesce($2::timestamptz, clock_timestamp() - make_interval(secs => a.ended_ms_ago / 1000)) as ended_at
    from rows from (json_to_recordset($3::json) as (${columns}), unnest($5::text[])) as a(${names}, request_body)
    order by a.endpoint_id, a.id, a.manual
  ), each as materialized (
    select t.*, e.failing_since, e.last_success_at, m.id is not null as applies,
      greatest(coalesce($2::timestamptz, clock_timestamp()), e.logged_at + interval '1 microsecond') as logged_at,
      case when m.id is not null then t.ended_at + make_interval(secs => t.delay_seconds) end as next_at
    from told t
    left join lateral (
      select x.endpoint_id, x.failing_since, x.last_success_at, x.logged_at from endpoint_health x
      where x.dealer_id = t.dealer_id and x.endpoint_id = t.endpoint_id
      for update skip locked) e on true
    left join lateral (
      select x.id from delivery x
      where x.dealer_id = t.dealer_id and x.id = t.id and x.manual = t.manual and x.endpoint_id = e.endpoint_id
        and x.state = 'sending' and x.lease_owner = $1::uuid and x.lease_until = t.lease_until
      for update) m on true
    -- One without that row is gone, and all that waited for it: what came of the last attempt is written down alone.
    where e.endpoint_id is not null or not exists (
      select from endpoint_health x where x.dealer_id = t.dealer_id and x.endpoint_id = t.endpoint_id)
  ), over as (
    delete from delivery d using each t
    where d.dealer_id = t.dealer_id and d.id = t.id and d.manual = t.manual and t.applies and t.delay_seconds is null
  ), again as (
    update delivery d
    set state = 'due', attempt = d.attempt + 1, next_at = t.next_at, lease_owner = null, lease_until = null
    from each t
    where d.dealer_id = t.dealer_id and d.id = t.id and d.manual = t.manual and t.applies and t.delay_seconds is not null
  ), logged as (
    insert into delivery_attempt (dealer_id, attempted_at, id, endpoint_id, delivery_id, event_id, event_at, event_type, attempt, manual,
      success, response_status, request_headers, request_body, response_body, error, duration_ms, next_attempt_at, updated_at)
    select dealer_id, attempted_at, attempt_id, endpoint_id, id, event_id, event_at, event_type, attempt, manual,
      success, response_status, request_headers, request_body, response_body, error, duration_ms, next_at, logged_at
    from each
    on conflict do nothing
  ), counted as (
    select *, applies and not manual and success as is_success, applies and not manual and not success as is_failure,
      max(ended_at) filter (where applies and not manual and success) over (partition by dealer_id, endpoint_id) as succeeded_at
    from each
  ), fared as (
    select dealer_id, endpoint_id, failing_since, succeeded_at,
      max(logged_at) as logged_at, max(attempted_at) as attempted_at, max(ended_at) filter (where is_failure) as last_failed_at,
      -- The first after whatever success there was.
      min(ended_at) filter (where is_failure and ended_at >= coalesce(last_success_at, '-infinity')
        and ended_at > coalesce(succeeded_at, '-infinity')) as failed_at
    from counted group by 1, 2, 3, 4
  ), health as (
    update endpoint_health h set
      failing_since = coalesce(case when f.succeeded_at >= f.failing_since then null else f.failing_since end, f.failed_at),
      last_success_at = greatest(h.last_success_at, f.succeeded_at),
      last_failure_at = greatest(h.last_failure_at, f.last_failed_at),
      last_attempt_at = greatest(h.last_attempt_at, f.attempted_at),
      logged_at = f.logged_at
    from fared f where h.dealer_id = f.dealer_id and h.endpoint_id = f.endpoint_id
    returning h.*
  )
  select
    array(select attempt_id from each) as written,
    coalesce((select json_agg(json_build_object('dealer_id', h.dealer_id, 'endpoint_id', h.endpoint_id)) from health h
      where ${needsALook('$2', '$4')}), '[]') as look_at`;

/** The same of all that are enabled, for what follows from the time alone. */
export async function endpointsInNeed({ pools, clock }: Service, mailHours: readonly number[]): Promise<EndpointRef[]> {
  const { rows } = await pools.doors.query(
    `select h.dealer_id, h.endpoint_id from endpoint_health h
     join webhook_endpoint w on w.dealer_id = h.dealer_id and w.id = h.endpoint_id and w.enabled
     where (h.failing_since is not null or h.notices > 0) and ${needsALook('$1', '$2')}
     order by h.failing_since`,
    [clock(), mailHours],
  );
  return rows;
}
