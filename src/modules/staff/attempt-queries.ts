import { prepared } from '#platform/db/connect.ts';
import type { Service } from '#platform/service.ts';

/** Something that is counted, and how much of it there may be in a quarter of an hour. */
export interface Count {
  readonly subject: string;
  readonly allowed: number;
}

// In the order of their subjects, so that two such statements cannot wait for each other.
const upsert = (from: string) => `
  insert into allowance as w (subject, used, allowed, ends)
  select a.subject, 1, a.allowed, (select now from clock) + interval '15 minutes' from ${from} order by a.subject
  on conflict (subject) do update set
    used = case when w.ends <= (select now from clock) then 0 else least(w.used, w.allowed) end + 1,
    allowed = excluded.allowed,
    ends = case when w.ends <= (select now from clock) then excluded.ends else w.ends end
  returning used > allowed as exceeded, ceil(extract(epoch from ends - (select now from clock)))::int as wait`;

const count = prepared(`
  with clock as materialized (select coalesce($5::timestamptz, clock_timestamp()) as now),
  narrow as (${upsert('unnest($1::text[], $2::int[]) as a (subject, allowed)')}),
  wide as (${upsert('unnest($3::text[], $4::int[]) as a (subject, allowed) where not (select bool_or(exceeded) from narrow)')})
  select max(wait) filter (where exceeded) as wait from (select * from narrow union all select * from wide) as counted`);

/** Counts the narrow ones, and the wide where none of the narrow is used up. Null, or the seconds until one that is used up begins anew. */
export async function countAttempt(
  { pools, clock }: Service,
  { narrow, wide }: { readonly narrow: readonly Count[]; readonly wide: readonly Count[] },
): Promise<number | null> {
  const columns = (counts: readonly Count[]) => [counts.map(({ subject }) => subject), counts.map(({ allowed }) => allowed)];
  const { rows } = await pools.doors.query({ ...count, values: [...columns(narrow), ...columns(wide), clock()] });
  return rows[0].wait;
}

const lessOne = prepared(`
  with mine as (select subject from allowance where subject = any($1) order by subject for update)
  update allowance a set used = greatest(a.used - 1, 0) from mine where a.subject = mine.subject`);

/** Takes one of each back. */
export async function takeBack({ pools }: Service, counts: readonly Count[]): Promise<void> {
  await pools.doors.query({ ...lessOne, values: [counts.map(({ subject }) => subject)] });
}
