import { prepared } from '../db/connect.ts';
import type { Service } from '../service.ts';

/** Where a call stands in its minute. */
export interface Counted {
  readonly exceeded: boolean;
  /** Whole seconds until the window ends. */
  readonly resetSeconds: number;
}

/** Counts a call that comes without a key on what its subject may make in a minute. */
export type Counter = (subject: string) => Promise<Counted>;

// As requests with a key are counted: a window is 60 s from its first call, and what was refused does not lengthen it.
const countAll = prepared(`
  with clock as materialized (select coalesce($4::timestamptz, clock_timestamp()) as now),
  asked as (select * from unnest($1::int[], $2::text[]) as a (n, subject)),
  counted as (
    insert into allowance as w (subject, used, allowed, ends)
    select subject, count(*), $3, (select now from clock) + interval '60 seconds' from asked group by subject order by subject
    on conflict (subject) do update set
      used = case when w.ends <= (select now from clock) then 0 else least(w.used, w.allowed) end + excluded.used,
      allowed = excluded.allowed,
      ends = case when w.ends <= (select now from clock) then excluded.ends else w.ends end
    returning subject, used, ends
  )
  select c.used - count(*) over (partition by a.subject) + row_number() over (partition by a.subject order by a.n) > $3 as exceeded,
         greatest(1, ceil(extract(epoch from c.ends - clock.now)))::int as reset_seconds
    from asked a join counted c on c.subject = a.subject cross join clock
   order by a.n`);

interface Waiting {
  readonly subject: string;
  readonly resolve: (counted: Counted) => void;
  readonly reject: (error: unknown) => void;
}

/** In one statement. */
const most = 256;

/** Those that come while a statement is under way share the next one, so that many cost the database what few do. */
export function counter({ pools, clock }: Service, perMinute: number): Counter {
  const waiting: Waiting[] = [];
  let busy = false;

  const count = async (batch: readonly Waiting[]) => {
    try {
      const values = [batch.map((_, n) => n), batch.map(({ subject }) => subject), perMinute, clock()];
      const { rows } = await pools.doors.query({ ...countAll, values });
      batch.forEach(({ resolve }, i) => void resolve({ exceeded: rows[i].exceeded, resetSeconds: rows[i].reset_seconds }));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  };

  const next = () => {
    busy = waiting.length > 0;
    if (busy) void count(waiting.splice(0, most)).finally(() => setImmediate(next));
  };

  return (subject) =>
    new Promise((resolve, reject) => {
      waiting.push({ subject, resolve, reject });
      if (busy) return;
      busy = true;
      setImmediate(next);
    });
}
