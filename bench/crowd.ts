import type pg from 'pg';
import type { Dealer } from './dealers.ts';
import type { Ground } from './ground.ts';
import type { Asked } from './probe.ts';
import { send } from './probe.ts';

/** A table that is to hold many rows, all like one that came in by the front door. */
export interface Crowd {
  readonly table: string;
  readonly first: Asked;
  /** The columns that differ from row to row, by expressions over its number `n`, its time `at`, and the dealers $1 with their branches $2. */
  readonly differing: Readonly<Record<string, string>>;
}

/** Adds rows until there are so many, the dealers' mixed as they would come in. Returns the seconds it took. */
export type Grow = (size: number) => Promise<number>;

export async function crowd(
  ground: Ground,
  admin: pg.Client,
  dealers: readonly Dealer[],
  { table, first, differing }: Crowd,
): Promise<Grow> {
  await send(ground, dealers[0]!, first);
  await admin.query(`create temp table pattern as select * from ${table}`);
  await admin.query(`delete from ${table}`);
  const copies = await copiesSql(admin, table, differing);
  let made = 0;
  return async (size) => {
    const startedAt = performance.now();
    await admin.query(copies, [dealers.map(({ id }) => id), dealers.map(({ branchId }) => branchId), made, size - 1]);
    await admin.query(`analyze ${table}`);
    made = size;
    return (performance.now() - startedAt) / 1000;
  };
}

/** Every column as in the pattern, but for what must differ. */
async function copiesSql(admin: pg.Client, table: string, differing: Crowd['differing']): Promise<string> {
  const { rows } = await admin.query(
    "select column_name from information_schema.columns where table_name = $1 and is_generated = 'NEVER' order by ordinal_position",
    [table],
  );
  const columns = rows.map(({ column_name: name }) => name as string);
  return `insert into ${table} (${columns.join(', ')})
    select ${columns.map((column) => differing[column] ?? `p.${column}`).join(', ')}
      from pattern p, generate_series($3::int, $4::int) n, lateral (select timestamptz '2025-01-01' + n * interval '1 ms' as at)`;
}
