import { prepared } from '#platform/db/connect.ts';
import type { Service } from '#platform/service.ts';

/** Something that is counted, and how much of it there may be in a quarter of an hour. */
export interface Count {
  readonly subject: string;
  readonly allowed: number;
}

const counted = (subject: string, allowed: string, unless: string) => `
  insert into allowance as w (subject, used, allowed, ends)
  select ${subject}::text, 1, ${allowed}::int, now + interval '15 minutes' from clock where ${subject}::text is not null and not exists (${unless})
  on conflict (subject) do update set
    used = case when w.ends <= (select now from clock) then 0 else least(w.used, w.allowed) end + 1,
    allowed = excluded.allowed,
    ends = case when w.ends <= (select now from clock) then excluded.ends else w.ends end
  returning used > allowed as exceeded, ceil(extract(epoch from ends - (select now from clock)))::int as wait`;

const count = prepared(`
  with clock as materialized (select coalesce($7::timestamptz, clock_timestamp()) as now),
  one as (${counted('$1', '$2', 'select where false')}),
  two as (${counted('$3', '$4', 'select from one where exceeded')}),
  three as (${counted('$5', '$6', 'select from one where exceeded union all select from two where exceeded')})
  select max(wait) filter (where exceeded) as wait from (select * from one union all select * from two union all select * from three) as all_three`);

/** Counts up to three, one after the other, and none after one that is used up. Null, or the seconds until that one begins anew. */
export async function countAttempt({ pools, clock }: Service, counts: readonly Count[]): Promise<number | null> {
  const values = [0, 1, 2].flatMap((n) => [counts[n]?.subject ?? null, counts[n]?.allowed ?? null]);
  const { rows } = await pools.doors.query({ ...count, values: [...values, clock()] });
  return rows[0].wait;
}

// The rows are taken in the order in which they are counted, so that the two cannot wait for each other.
const lessOne = prepared(`
  with mine as (select subject from allowance where subject = any($1) order by array_position($1::text[], subject) for update)
  update allowance a set used = greatest(a.used - 1, 0) from mine where a.subject = mine.subject`);

/** Takes one of each back. */
export async function takeBack({ pools }: Service, counts: readonly Count[]): Promise<void> {
  await pools.doors.query({ ...lessOne, values: [counts.map(({ subject }) => subject)] });
}
