import type { Expression } from 'kysely';
import { sql } from 'kysely';
import type { Context } from '#platform/context.ts';
import { andWithin } from '#platform/db/records.ts';
import type { Branches } from '#platform/reach.ts';
import type { Kind, Link, Summaries } from './contract.ts';

interface Source {
  readonly table: string;
  readonly fields: readonly string[];
}

/** Where each kind is kept, and what is shown of it. */
const sources: { readonly [K in Kind]: Source & { readonly fields: readonly (keyof Summaries[K])[] } } = {
  customer: { table: 'customer', fields: ['id', 'reference', 'display_name'] },
  vehicle: { table: 'vehicle', fields: ['id', 'stock_number', 'registration', 'make', 'model'] },
  enquiry: { table: 'enquiry', fields: ['id', 'reference', 'status'] },
  deal: { table: 'deal', fields: ['id', 'reference', 'status'] },
  appointment: { table: 'appointment', fields: ['id', 'type', 'status', 'starts_at'] },
  job_card: { table: 'job_card', fields: ['id', 'number', 'status'] },
  invoice: { table: 'invoice', fields: ['id', 'number', 'status'] },
  staff: { table: 'staff', fields: ['id', 'name'] },
};

/** Staff and invoices are never deleted. */
const alive = (kind: Kind) => (kind === 'staff' || kind === 'invoice' ? sql`` : sql` and x.deleted_at is null`);

/** In JSON a moment is as the wire shows it. */
const valueIn = (field: string) => (field.endsWith('_at') ? `to_char(x.${field}, 'YYYY-MM-DD"T"HH24:MI:SS"Z"')` : `x.${field}`);

const shown = ({ fields }: Source) => sql.raw(`json_build_object(${fields.map((field) => `'${field}', ${valueIn(field)}`).join(', ')})`);

/** What a row shows of the record that one of its columns names, or a look-up of its own, as far as the caller may see it. */
export function summaryOf<K extends Kind>(kind: K, table: string, column: string | Expression<string | null>, branches: Branches) {
  const within = kind === 'staff' ? sql`` : andWithin(branches, 'x.branch_id');
  return sql<Summaries[K] | null>`(
    select ${shown(sources[kind])} from ${sql.table(sources[kind].table)} x
    where x.dealer_id = ${sql.ref(`${table}.dealer_id`)} and x.id = ${typeof column === 'string' ? sql.ref(`${table}.${column}`) : column}${alive(kind)}${within})`;
}

/** A record that was named, with what is shown of it. */
interface FoundRow {
  readonly id: string;
  readonly kind: Kind;
  readonly shown: Summaries[Kind];
  /** Null of staff. */
  readonly branch_id: string | null;
  /** Of staff: whether and where they work. */
  readonly works: { readonly status: string; readonly all_branches: boolean; readonly branch_ids: readonly string[] } | null;
}

export type Found = ReadonlyMap<string, FoundRow>;

/** The records that are named, wherever in the dealership they lie, by id. */
export async function findLinks(ctx: Context, links: readonly Link[]): Promise<Found> {
  const kinds = [...new Set(links.map(({ kind }) => kind))];
  if (kinds.length === 0) return new Map();
  const selects = kinds.map((kind) => {
    const ids = links.filter((link) => link.kind === kind).map(({ id }) => id);
    const about =
      kind === 'staff'
        ? sql`null::uuid as branch_id, json_build_object('status', x.status, 'all_branches', x.all_branches, 'branch_ids', x.branch_ids) as works`
        : sql`x.branch_id, null::json as works`;
    return sql`select x.id, ${kind}::text as kind, ${shown(sources[kind])} as shown, ${about} from ${sql.table(sources[kind].table)} x
      where x.dealer_id = ${ctx.dealer.id}::uuid and x.id = any(${ids}::uuid[])${alive(kind)}`;
  });
  const { rows } = await sql<FoundRow>`${sql.join(selects, sql` union all `)}`.execute(ctx.db);
  return new Map(rows.map((row) => [row.id, row]));
}
