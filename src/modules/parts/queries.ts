import type { Selectable, SqlBool } from 'kysely';
import { sql } from 'kysely';
import type { Context } from '#platform/context.ts';
import type { Page } from '#platform/contract.ts';
import { readPage } from '#platform/db/pages.ts';
import { andWithin, keeperOf } from '#platform/db/records.ts';
import type { DB } from '#platform/db/schema.ts';
import { uuidv7 } from '#platform/secrets.ts';
import type { Balance, Moved, PartListQuery, VatRate } from './contract.ts';

/** A part as it is kept; amounts in minor units. */
export type PartRow = Omit<Selectable<DB['part']>, 'vat_code'> & { vat_code: VatRate };

/** What a branch has of a part. `issued` is what jobs were given and have not given back. */
export interface BranchStock extends Omit<Balance, 'part_id'> {
  readonly issued: number;
}

export type PartWithStock = PartRow & { stock: BranchStock[] };

/** By branch, as far as the caller may see it. */
const stockOf = ({ caller }: Context) => sql<BranchStock[]>`(
  select coalesce(json_agg(json_build_object('branch_id', s.branch_id, 'on_hand', s.on_hand, 'reserved', s.reserved, 'issued', (
      select coalesce(-sum(m.on_hand), 0) from stock_movement m
      where m.dealer_id = s.dealer_id and m.part_id = s.part_id and m.branch_id = s.branch_id and m.cause_kind = 'job_card'))
    order by s.branch_id), '[]')
  from part_stock s where s.dealer_id = part.dealer_id and s.part_id = part.id${andWithin(caller.branches, 's.branch_id')})`;

const parts = (ctx: Context) =>
  ctx.db.selectFrom('part').selectAll('part').select(stockOf(ctx).as('stock')).where('part.dealer_id', '=', ctx.dealer.id);

export const partById = (ctx: Context, id: string): Promise<PartWithStock | undefined> =>
  parts(ctx).where('part.id', '=', id).$castTo<PartWithStock>().executeTakeFirst();

/** A page of the parts the dealership keeps. */
export const pageOfParts = (ctx: Context, query: PartListQuery): Promise<Page<PartWithStock>> =>
  readPage(ctx, {
    list: 'parts',
    table: 'part',
    query,
    from: parts(ctx).$castTo<PartWithStock>(),
    matching: [query.q !== undefined && named(query.q)],
    toWire: (part) => part,
  });

/** `_` and `%` mean themselves. */
function named(q: string) {
  const text = q.replaceAll(/[\\%_]/g, '\\$&');
  return sql<SqlBool>`(part.part_number like ${`${text.toUpperCase()}%`} or part.description ilike ${`%${text}%`})`;
}

/** Who goes by a part number. */
export async function idOfNumber(ctx: Context, partNumber: string): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    select id from part where dealer_id = ${ctx.dealer.id}::uuid and part_number = ${partNumber}::text`.execute(ctx.db);
  return rows[0]?.id;
}

/** A part as a line takes it over. */
export type PartOfLine = Pick<PartRow, 'id' | 'part_number' | 'description' | 'unit_price' | 'vat_code'>;

/** The parts that go by these numbers, by their numbers. */
export async function partsNumbered(ctx: Context, numbers: readonly string[]): Promise<Map<string, PartOfLine>> {
  if (numbers.length === 0) return new Map();
  const { rows } = await sql<PartOfLine>`
    select id, part_number, description, unit_price, vat_code from part
    where dealer_id = ${ctx.dealer.id}::uuid and part_number = any(${numbers}::text[])`.execute(ctx.db);
  return new Map(rows.map((part) => [part.part_number, part]));
}

/** The names of parts by their ids, those that are not there left out. */
export async function namesOfParts(ctx: Context, ids: readonly string[]): Promise<Map<string, string>> {
  const { rows } = await sql<{ id: string; name: string }>`
    select id, part_number || ' (' || description || ')' as name from part
    where dealer_id = ${ctx.dealer.id}::uuid and id = any(${ids}::uuid[]) order by part_number`.execute(ctx.db);
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** What lies on the shelves of these branches of these parts. */
export async function balancesOf(ctx: Context, partIds: readonly string[], branchIds: readonly string[]): Promise<Balance[]> {
  const { rows } = await sql<Balance>`
    select branch_id, part_id, on_hand, reserved from part_stock
    where dealer_id = ${ctx.dealer.id}::uuid and part_id = any(${partIds}::uuid[]) and branch_id = any(${branchIds}::uuid[])`.execute(
    ctx.db,
  );
  return rows;
}

// ---- Writing ----

/** A part of which nothing is known yet; names every column. */
export const blankPart: PartRow = {
  dealer_id: '',
  id: '',
  part_number: '',
  description: '',
  unit_price: 0,
  unit_cost: 0,
  vat_code: 'STANDARD',
  created_at: '',
  updated_at: '',
};

export const saveParts = keeperOf<PartRow>({ table: 'part', blank: blankPart, fixed: ['dealer_id', 'id', 'created_at'] });

/** Why stock moved. */
export interface Cause {
  readonly kind: 'job_card' | 'invoice' | 'delivery' | 'stocktake';
  readonly id: string;
  readonly note: string | null;
}

/** Writes down movements, each with its cause, and the balances they have led to. */
export async function saveMoved(
  tx: Context,
  { movements, balances }: Moved,
  { kind: cause_kind, id: cause_id, note }: Cause,
): Promise<void> {
  if (movements.length === 0) return;
  const why = { dealer_id: tx.dealer.id, cause_kind, cause_id, note, at: tx.now };
  const rows = movements.map((movement) => ({ id: uuidv7(tx.now), ...movement, ...why }));
  const stock = balances.map((balance) => ({ dealer_id: tx.dealer.id, ...balance }));
  await Promise.all([
    sql`insert into stock_movement select * from json_populate_recordset(null::stock_movement, ${JSON.stringify(rows)}::json)`.execute(
      tx.db,
    ),
    sql`insert into part_stock select * from json_populate_recordset(null::part_stock, ${JSON.stringify(stock)}::json)
      on conflict (dealer_id, part_id, branch_id) do update set on_hand = excluded.on_hand, reserved = excluded.reserved`.execute(tx.db),
  ]);
}
