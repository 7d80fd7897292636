import type { Expression, SelectQueryBuilder, SqlBool } from 'kysely';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { Page, PageQuery } from '../contract.ts';
import type { Instant } from '../dates.ts';
import type { Branches } from '../reach.ts';
import { readPage } from './pages.ts';
import type { DB } from './schema.ts';
import { gather, inTransaction } from './transaction.ts';

// How the records of every resource are read and kept: rows of a dealership that lie at a branch, may have an external id, and leave a tombstone.

/** The tables of what lies at a branch. */
export type BranchTable = { [T in keyof DB]: DB[T] extends { branch_id: unknown } ? T : never }[keyof DB] & string;

/** The tables of such records. */
export type RecordTable = {
  [T in keyof DB]: DB[T] extends { branch_id: unknown; external_id: unknown; deleted_at: unknown } ? T : never;
}[keyof DB] &
  string;

/** The condition that a row lies within reach; nothing where all do. */
export const andWithin = (branches: Branches, column: string) =>
  branches === 'all' ? sql`` : sql` and ${sql.ref(column)} = any(${branches}::uuid[])`;

/** The rows of a table within the caller's reach, tombstones among them, with the name of their branch. */
export function rowsWithin<T extends BranchTable>(ctx: Context, table: T) {
  const { branches } = ctx.caller;
  // biome-ignore lint/suspicious/noExplicitAny: the type of a query over any table; the caller casts to its row
  const rows = (ctx.db.selectFrom(table) as SelectQueryBuilder<any, any, any>)
    .leftJoin('branch', (join) => join.onRef('branch.dealer_id', '=', `${table}.dealer_id`).onRef('branch.id', '=', `${table}.branch_id`))
    .selectAll(table)
    .select('branch.name as branch_name')
    .where(sql<boolean>`${sql.ref(`${table}.dealer_id`)} = ${ctx.dealer.id}`);
  return branches === 'all' ? rows : rows.where(sql<boolean>`${sql.ref(`${table}.branch_id`)} = any(${branches}::uuid[])`);
}

interface Records<T extends RecordTable, R, W> {
  /** Its name; a cursor is good for this list alone. */
  readonly list: string;
  readonly table: T;
  readonly query: PageQuery & { readonly branch_id?: readonly string[] | undefined; readonly external_id?: readonly string[] | undefined };
  // biome-ignore lint/suspicious/noExplicitAny: the joined tables do not matter here
  readonly from: SelectQueryBuilder<any, any, R>;
  /** Which of them are tombstones, if not those that were deleted. */
  readonly gone?: Expression<SqlBool>;
  /** The list's own filters, those not asked for left out. */
  readonly matching: readonly (Expression<SqlBool> | undefined | false)[];
  readonly toWire: (row: R) => W;
}

/** A page of such records. The branch and the external id hold for tombstones as well. */
export function pageOfRecords<T extends RecordTable, R extends { id: string; updated_at: Instant }, W>(
  ctx: Context,
  { query, from, gone, ...listing }: Records<T, R, W>,
): Promise<Page<W>> {
  const column = (name: string) => sql.ref(`${listing.table}.${name}`);
  let rows = from;
  if (query.branch_id) rows = rows.where(sql<boolean>`${column('branch_id')} = any(${query.branch_id}::uuid[])`);
  if (query.external_id) rows = rows.where(sql<boolean>`${column('external_id')} = any(${query.external_id}::text[])`);
  return readPage(ctx, { ...listing, query, from: rows, gone: gone ?? sql<SqlBool>`${column('deleted_at')} is not null` });
}

/** Who has an external id now, wherever in the dealership. */
export async function holderOf(ctx: Context, table: RecordTable, externalId: string | null | undefined): Promise<string | undefined> {
  if (typeof externalId !== 'string') return undefined;
  const { rows } = await sql<{ id: string }>`
    select id from ${sql.table(table)}
    where dealer_id = ${ctx.dealer.id}::uuid and external_id = ${externalId}::text and deleted_at is null`.execute(ctx.db);
  return rows[0]?.id;
}

interface Kept<R> {
  readonly table: keyof DB & string;
  /** A row of which nothing is known yet: it names every field. */
  readonly blank: R;
  /** The fields that come from other tables. */
  readonly elsewhere?: readonly (keyof R)[];
  /** The columns that never change once the row is there. */
  readonly fixed: readonly (keyof R)[];
}

/** Saves new and changed rows of a table alike, all in one statement. */
export function keeperOf<R extends object>({ table, blank, elsewhere = [], fixed }: Kept<R>) {
  const columns = (Object.keys(blank) as (keyof R & string)[]).filter((column) => !elsewhere.includes(column));
  const names = columns.join(', ');
  const changing = columns.filter((column) => !fixed.includes(column)).map((column) => `${column} = excluded.${column}`);
  const insert = sql.raw(`insert into ${table} (${names}) select ${names} from json_populate_recordset(null::${table}, `);
  const orUpdate = sql.raw(`) on conflict (dealer_id, id) do update set ${changing.join(', ')}`);
  return async (tx: Context, rows: readonly R[]): Promise<void> => {
    await sql`${insert}${JSON.stringify(rows)}::json${orUpdate}`.execute(tx.db);
  };
}

/** Moves the time of records that show something a write of others has changed: all of a table in one statement, with the events. */
export function stamperOf(table: RecordTable) {
  const stamp = async (tx: Context, ids: readonly string[]): Promise<void> => {
    await sql`
      update ${sql.table(table)} set updated_at = ${tx.now}::timestamptz
      where dealer_id = ${tx.dealer.id}::uuid and id = any(${ids}::uuid[]) and deleted_at is null and updated_at < ${tx.now}::timestamptz`.execute(
      tx.db,
    );
  };
  return (tx: Context, ids: readonly (string | null)[]): void => {
    for (const id of ids) if (id !== null) gather(tx, stamp, id);
  };
}

/** Removes every row of the dealership from these tables, without tombstones or events; nothing but the sandbox's reset may do that. */
export const erase = (ctx: Context, tables: readonly (keyof DB & string)[]): Promise<void> =>
  inTransaction(ctx, async (tx) => {
    if (!tx.dealer.isSandbox) throw new Error('Only the sandbox is ever emptied.');
    for (const table of tables) await sql`delete from ${sql.table(table)} where dealer_id = ${tx.dealer.id}::uuid`.execute(tx.db);
  });
