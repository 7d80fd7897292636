import type { Expression, SelectQueryBuilder, SqlBool } from 'kysely';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { Page, PageQuery } from '../contract.ts';
import type { Instant } from '../dates.ts';
import { parseInstant } from '../dates.ts';
import { invalid } from '../errors.ts';
import { sha256 } from '../secrets.ts';
import { readSigned, signText } from '../signed-text.ts';
import type { DB } from './schema.ts';

/** In which order a list goes on: by a time of its rows, and by what tells apart those of the same time. */
export interface Order {
  readonly time: string;
  readonly tie: string;
  readonly type: 'uuid' | 'bigint';
  /** Comes before all there is. */
  readonly first: string;
  /** Its table is kept in parts, by days of that time. */
  readonly byDay?: true;
}

const byChange: Order = { time: 'updated_at', tie: 'id', type: 'uuid', first: '00000000-0000-0000-0000-000000000000' };

/** As it happened: the order of events. */
export const byOccurrence: Order = { time: 'created_at', tie: 'sequence', type: 'bigint', first: '0', byDay: true };

/** A list that is paged by its order. */
export interface Listing<TB extends keyof DB, R, T> {
  /** Its name; a cursor is good for this list alone. */
  readonly list: string;
  readonly table: TB & string;
  readonly query: PageQuery;
  /** By `(updated_at, id)` unless said. */
  readonly order?: Order;
  /** The rows within the caller's reach, tombstones among them. */
  // biome-ignore lint/suspicious/noExplicitAny: the joined tables do not matter here
  readonly from: SelectQueryBuilder<any, any, R>;
  /** Which of them are tombstones; absent where nothing can be deleted. */
  readonly gone?: Expression<SqlBool>;
  /** The list's own filters, those not asked for left out. Tombstones pass them all. */
  readonly matching: readonly (Expression<SqlBool> | undefined | false)[];
  readonly toWire: (row: R) => T;
}

/** Reads one page: rows in the order of the list, after the cursor. */
export async function readPage<TB extends keyof DB, R extends object, T>(ctx: Context, listing: Listing<TB, R, T>): Promise<Page<T>> {
  const { list, table, query, gone, matching, order = byChange } = listing;
  const filters = filterHash(query);
  const after = query.cursor === undefined ? { at: start, tie: order.first } : openCursor(ctx, list, filters, query.cursor);
  const column = (name: string) => sql.ref(`${table}.${name}`);

  const common = [
    query.updated_since && sql<SqlBool>`${column('updated_at')} >= ${parseInstant(query.updated_since)}::timestamptz`,
    query.updated_before && sql<SqlBool>`${column('updated_at')} < ${parseInstant(query.updated_before)}::timestamptz`,
    query.ids && sql<SqlBool>`${column('id')} = any(${query.ids}::uuid[])`,
    query.cursor !== undefined &&
      sql<SqlBool>`(${column(order.time)}, ${column(order.tie)}) > (${after.at}::timestamptz, ${after.tie}::${sql.raw(order.type)})`,
    // Which days are needed is read off a plain comparison alone: 32 buffers instead of 118 for a page from half a day ago.
    query.cursor !== undefined && order.byDay && sql<SqlBool>`${column(order.time)} >= ${after.at}::timestamptz`,
  ].filter((condition) => condition !== undefined && condition !== false && condition !== '');
  const own = [
    query.created_since && sql<SqlBool>`${column('created_at')} >= ${parseInstant(query.created_since)}::timestamptz`,
    query.created_before && sql<SqlBool>`${column('created_at')} < ${parseInstant(query.created_before)}::timestamptz`,
    ...matching,
  ].filter((condition) => condition !== undefined && condition !== false && condition !== '');

  let rows = listing.from;
  for (const condition of common) rows = rows.where(condition);
  if (gone && query.include_deleted) {
    if (own.length > 0) rows = rows.where(({ or, and }) => or([gone, and(own)]));
  } else {
    if (gone) rows = rows.where(({ not }) => not(gone));
    for (const condition of own) rows = rows.where(condition);
  }

  const found = await rows
    .orderBy(column(order.time))
    .orderBy(column(order.tie))
    .limit(query.limit + 1)
    .execute();
  const shown = found.slice(0, query.limit);
  const last = shown.at(-1);
  const behind = sealCursor(ctx, list, filters, last ? positionOf(last, order) : after);
  const hasMore = found.length > query.limit;
  return {
    data: shown.map(listing.toWire),
    meta: { next_cursor: hasMore ? behind : null, has_more: hasMore, resume_cursor: behind },
  };
}

interface Position {
  readonly at: Instant;
  readonly tie: string | number;
}

const start: Instant = '0001-01-01T00:00:00.000000Z';
const version = 1;

function positionOf(row: object, { time, tie }: Order): Position {
  const columns = row as Record<string, string>;
  return { at: columns[time]!, tie: columns[tie]! };
}

function filterHash({ limit: _limit, cursor: _cursor, ...filters }: PageQuery): string {
  const named = Object.entries(filters)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return sha256(JSON.stringify(named)).toString('base64url').slice(0, 12);
}

function sealCursor(ctx: Context, list: string, filters: string, position: Position): string {
  const content = JSON.stringify([version, ctx.dealer.id, list, filters, position.at, position.tie]);
  return signText(ctx.service.keyring, 'cursor', content);
}

function openCursor(ctx: Context, list: string, filters: string, cursor: string): Position {
  const text = readSigned(ctx.service.keyring, 'cursor', cursor);
  if (text === null) throw invalid('cursor', 'Not a cursor of this list, or it was altered.');
  const [itsVersion, dealerId, itsList, itsFilters, at, tie] = JSON.parse(text);
  if (itsVersion !== version || dealerId !== ctx.dealer.id || itsList !== list) throw invalid('cursor', 'Not a cursor of this list.');
  if (itsFilters !== filters) throw invalid('cursor', 'This cursor belongs to the same list with other filters.');
  return { at, tie };
}
