import type { Instant } from '../dates.ts';
import { fromMillis, toMillis } from '../dates.ts';
import type { Service } from '../service.ts';
import type { Connection } from './connect.ts';

// Tables kept in parts, one for each day in UTC: made ahead, so that no write ever has to, and dropped whole, so that nothing is deleted row by row.

/** A table kept by days. */
export interface DailyTable {
  readonly table: string;
  /** For how many days after its end a day stays. */
  readonly keptDays: number;
  /** How many rows elsewhere still refer to what happened between two moments; such a day stays. */
  readonly heldBy?: (connection: Connection, from: Instant, to: Instant) => Promise<number>;
}

/** Has the part of a day be there. Whoever writes asks, should nobody have made it ahead. */
export async function haveDay(service: Service, table: string, at: Instant): Promise<void> {
  const known = knownOf(service, table);
  const day = at.slice(0, 10);
  if (known.has(day)) return;
  // Not in the transaction that asks: what is made here stays even if that one is undone.
  await service.pools.doors.query('select partition_day($1, $2::date)', [table, day]);
  known.add(day);
}

/** Makes today's part and those of the days ahead. Whether that went well or not, too few of them are told to the operator. */
export async function makeDays(service: Service, { table }: DailyTable, daysAhead = 7): Promise<void> {
  const today = toMillis(await timeOf(service));
  try {
    for (let day = 0; day <= daysAhead; day++) await haveDay(service, table, fromMillis(today + day * dayMs));
  } finally {
    const ahead = (await partsOf(service.pools.doors, table)).filter(({ from }) => toMillis(from) > today).length;
    if (ahead < fewestAhead) service.log.error({ table, days: ahead }, 'few days are made ahead');
  }
}

/**
 * Drops the days that ended long enough ago. Nobody who reads or writes the table waits for this, and this waits for them a moment
 * only: a day that is still in use is dropped the next time. One at a time; whoever comes meanwhile finds nothing to do.
 */
export async function dropOldDays(service: Service, daily: DailyTable): Promise<void> {
  const oldest = fromMillis(toMillis(await timeOf(service)) - daily.keptDays * dayMs);
  const connection = await service.pools.doors.connect();
  let broken: Error | undefined;
  try {
    const { rows } = await connection.query('select pg_try_advisory_lock(hashtextextended($1, 0)) as mine', [lockOf(daily)]);
    if (rows[0].mine) await dropThose(service, connection, daily, oldest);
  } catch (error) {
    broken = error as Error; // Closed rather than given back: its lock and its setting go with it.
    throw error;
  } finally {
    await connection.query('select pg_advisory_unlock_all()').catch(() => undefined);
    await connection.query('reset lock_timeout').catch(() => undefined);
    connection.release(broken);
  }
}

const dayMs = 86_400_000;
const fewestAhead = 3;

/** How long a step waits for those who use a table, and how often it is tried. */
const patience = { time: '500ms', times: 4 };

const lockOf = ({ table }: DailyTable): string => `drop days of ${table}`;

async function dropThose(service: Service, connection: Connection, { table, heldBy }: DailyTable, oldest: Instant): Promise<void> {
  await connection.query(`set lock_timeout = '${patience.time}'`);
  for (const { name, from, to } of await partsOf(connection, table)) {
    if (to > oldest) continue;
    const held = (await heldBy?.(connection, from, to)) ?? 0;
    if (held > 0) {
      service.log.error({ table, day: name, held }, 'an old day is still referred to');
      continue;
    }
    if (!(await isDropped(connection, table, name))) {
      service.log.info({ table, day: name }, 'an old day is in use and stays for now');
      return;
    }
    knownOf(service, table).delete(from.slice(0, 10));
    service.log.info({ table, day: name }, 'an old day was dropped');
  }
}

/** Takes a day out of its table and drops it, step by step: one that was left half way, by a crash or for want of a lock, goes on from there. */
async function isDropped(connection: Connection, table: string, name: string): Promise<boolean> {
  for (let time = 1; time <= patience.times; ) {
    const part = (await partsOf(connection, table)).find((one) => one.name === name);
    if (!part) return true;
    // Each outside a transaction, which the concurrent way asks for.
    if (!(await gotItsLocks(connection, nextStep[part.state](table, name)))) time++;
  }
  return false;
}

const nextStep = {
  apart: (_table: string, name: string) => `drop table ${name}`,
  leaving: (table: string, name: string) => `alter table ${table} detach partition ${name} finalize`,
  in: (table: string, name: string) => `alter table ${table} detach partition ${name} concurrently`,
} as const;

const lockNotAvailable = '55P03';

const gotItsLocks = (connection: Connection, statement: string): Promise<boolean> =>
  connection.query(statement).then(
    () => true,
    (error: { code?: string }) => {
      if (error.code === lockNotAvailable) return false;
      throw error;
    },
  );

interface Part {
  readonly name: string;
  readonly from: Instant;
  readonly to: Instant;
  /** In its table, on its way out of it, or left behind between that and being dropped. */
  readonly state: 'in' | 'leaving' | 'apart';
}

/** The days of a table, those first that are on their way out, then the oldest. */
async function partsOf(asked: Pick<Connection, 'query'>, table: string): Promise<Part[]> {
  const { rows } = await asked.query({
    text: `
      select c.relname as name, day::timestamptz as "from", day::timestamptz + interval '1 day' as "to",
        case when i.inhrelid is null then 'apart' when i.inhdetachpending then 'leaving' else 'in' end as state
      from pg_class c
      left join pg_inherits i on i.inhrelid = c.oid
      cross join lateral to_timestamp(right(c.relname, 8), 'YYYYMMDD') as day
      where c.relnamespace = (select relnamespace from pg_class where oid = $1::regclass) and c.relkind = 'r' and c.relname ~ $2
      order by i.inhdetachpending desc nulls last, day`,
    values: [table, `^${table}_[0-9]{8}$`],
  });
  return rows;
}

/** The days this process knows to be there, per database and table. */
const knownDays = new WeakMap<object, Map<string, Set<string>>>();

function knownOf({ pools }: Service, table: string): Set<string> {
  const ofDatabase = knownDays.get(pools) ?? new Map<string, Set<string>>();
  knownDays.set(pools, ofDatabase);
  const known = ofDatabase.get(table) ?? new Set<string>();
  ofDatabase.set(table, known);
  return known;
}

async function timeOf({ clock, pools }: Service): Promise<Instant> {
  const set = clock();
  if (set !== null) return set;
  const { rows } = await pools.doors.query('select now() as now');
  return rows[0].now;
}
