import { prepared } from '../db/connect.ts';
import type { Service } from '../service.ts';

/** Where a call stands in its minute. */
export interface Counted {
  readonly exceeded: boolean;
  /** Whole seconds until the window ends. */
  readonly resetSeconds: number;
}

// As requests with a key are counted: a window is 60 s from its first call, and what was refused does not lengthen it.
const count = prepared(`
  with clock as materialized (select coalesce($3::timestamptz, clock_timestamp()) as now),
  counted as (
    insert into allowance as w (subject, used, allowed, ends) select $1, 1, $2, now + interval '60 seconds' from clock
    on conflict (subject) do update set
      used = case when w.ends <= (select now from clock) then 0 else least(w.used, w.allowed) end + 1,
      allowed = excluded.allowed,
      ends = case when w.ends <= (select now from clock) then excluded.ends else w.ends end
    returning used, ends
  )
  select used > $2 as exceeded, greatest(1, ceil(extract(epoch from ends - now)))::int as reset_seconds from counted, clock`);

/** Counts a call that comes without a key on what its subject may make in a minute. */
export async function countCall({ pools, clock }: Service, subject: string, perMinute: number): Promise<Counted> {
  const { rows } = await pools.doors.query({ ...count, values: [subject, perMinute, clock()] });
  return { exceeded: rows[0].exceeded, resetSeconds: rows[0].reset_seconds };
}
