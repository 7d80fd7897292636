import pg from 'pg';
import type { Dealer } from './dealers.ts';
import type { Ground } from './ground.ts';
import type { Statement } from './statements.ts';

export interface StatementCost {
  readonly hit: number;
  readonly read: number;
  readonly execution: number;
  /** The way to the rows: an index, or several. */
  readonly plan: string;
}

/** What a statement of the API's costs: as its role, within its transaction, prepared and used often enough to have its lasting plan. */
export async function explain(ground: Ground, dealer: Dealer, { sql, values }: Statement, table: string): Promise<StatementCost> {
  const client = new pg.Client({ connectionString: ground.databaseUrl });
  await client.connect();
  try {
    await client.query(`begin read only; select set_config('forecourt.dealer_id', '${dealer.id}', true)`);
    await client.query(`prepare page as ${sql}`);
    const execute = `execute page (${values.map(literal).join(', ')})`;
    for (let use = 0; use < 6; use++) await client.query(execute);
    const { rows } = await client.query(`explain (analyze, buffers, format json) ${execute}`);
    const [{ Plan: plan, 'Execution Time': execution }] = rows[0]['QUERY PLAN'];
    return { hit: plan['Shared Hit Blocks'], read: plan['Shared Read Blocks'], execution, plan: wayTo(table, plan) };
  } finally {
    await client.end();
  }
}

function literal(value: unknown): string {
  if (value === null) return 'null';
  return pg.escapeLiteral(Array.isArray(value) ? `{${value.map((each) => JSON.stringify(each)).join(',')}}` : String(value));
}

interface Plan {
  readonly 'Index Name'?: string;
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly Plans?: readonly Plan[];
}

function wayTo(table: string, plan: Plan): string {
  if (plan['Relation Name'] === table) return indexesOf(plan).join(' + ') || plan['Node Type'];
  return plan.Plans?.map((each) => wayTo(table, each)).find((name) => name !== '') ?? '';
}

const indexesOf = (plan: Plan): string[] => [...(plan['Index Name'] ? [plan['Index Name']] : []), ...(plan.Plans ?? []).flatMap(indexesOf)];
