import pg from 'pg';
import type { Dealer } from './dealers.ts';
import { newDealers } from './dealers.ts';
import type { Ground } from './ground.ts';
import { measure } from './load.ts';
import { probe, send } from './probe.ts';
import { vehicleNumber } from './stock.ts';
import { ms, print, whole } from './table.ts';

const sizes = [1_000, 10_000, 100_000, 1_000_000];
const dealerCount = 100;
const first = '/v1/vehicles?limit=25';

/** What a page of 25 costs as stock grows, at the beginning of a list and in its middle. */
export async function measureGrowth(ground: Ground): Promise<void> {
  const dealers = await newDealers(ground.service, dealerCount);
  const admin = new pg.Client({ connectionString: ground.adminUrl });
  await admin.connect();
  try {
    await growTo(ground, admin, dealers, sizes[0]!);
    const api = await ground.startApi();
    const rows: string[][] = [];
    let seconds = 0;
    for (const size of sizes) {
      seconds = await growTo(ground, admin, dealers, size);
      const middles = new Map<Dealer, string>();
      for (const dealer of dealers) middles.set(dealer, await middleOf(ground, admin, dealer));
      for (const [place, pathOf] of [
        ['first page', () => first],
        ['middle', (dealer: Dealer) => middles.get(dealer)!],
      ] as const) {
        const { p50, p99 } = await measure({ url: api, shot: anyOf(dealers, pathOf) }, 3, 1);
        const { hit, read, execution, plan } = await explain(ground, dealers[7]!, pathOf(dealers[7]!));
        rows.push([`${whole(size)}, ${place}`, ms(p50), ms(p99), `${hit + read}`, `${read}`, ms(execution), plan]);
      }
    }
    const headings = [`vehicles of ${dealerCount} dealers`, 'p50 ms', 'p99 ms', 'buffers', 'of them read', 'statement ms', 'by'];
    print('Growth: a page of 25, one request at a time, over all dealers', headings, rows);
    const { rows: sized } = await admin.query(
      "select pg_size_pretty(pg_table_size('vehicle')) as rows, pg_size_pretty(pg_indexes_size('vehicle')) as indexes",
    );
    console.log(
      `\nThe last ${whole(sizes.at(-1)! - sizes.at(-2)!)} were made in ${seconds.toFixed(0)} s: ${sized[0].rows} of vehicles and ${sized[0].indexes} of indexes, shared buffers 256 MB.`,
    );
  } finally {
    await admin.end();
  }
}

function anyOf(dealers: readonly Dealer[], pathOf: (dealer: Dealer) => string) {
  let turn = 0;
  return () => {
    const dealer = dealers[turn++ % dealers.length]!;
    return { method: 'GET' as const, path: pathOf(dealer), headers: { authorization: `Bearer ${dealer.key}` } };
  };
}

// ---- The rows ----

const made = new WeakMap<Ground, number>();

/** Adds vehicles until there are this many, the dealers' mixed as they would come in. Returns the seconds it took. */
async function growTo(ground: Ground, admin: pg.Client, dealers: readonly Dealer[], size: number): Promise<number> {
  const from = made.get(ground) ?? 0;
  if (from === size) return 0;
  if (from === 0) await makePattern(ground, admin, dealers[0]!);
  const startedAt = performance.now();
  await admin.query(await copiesSql(admin), [dealers.map(({ id }) => id), dealers.map(({ branchId }) => branchId), from, size - 1]);
  await admin.query('analyze vehicle');
  made.set(ground, size);
  return (performance.now() - startedAt) / 1000;
}

/** One vehicle by the front door, then taken out of the stock: what all the others are copied from. */
async function makePattern(ground: Ground, admin: pg.Client, dealer: Dealer): Promise<void> {
  const { features: _features, ...vehicle } = vehicleNumber(1);
  const body = JSON.stringify({ ...vehicle, description: vehicle.description.slice(0, 200) });
  await send(ground, dealer, { method: 'POST', path: '/v1/vehicles', body });
  await admin.query('create temp table pattern as select * from vehicle');
  await admin.query('delete from vehicle');
}

/** Every column as in the pattern, but for what must differ. */
async function copiesSql(admin: pg.Client): Promise<string> {
  const differing: Record<string, string> = {
    dealer_id: '($1::uuid[])[1 + n % cardinality($1)]',
    created_for_dealer_id: '($1::uuid[])[1 + n % cardinality($1)]',
    branch_id: '($2::uuid[])[1 + n % cardinality($2)]',
    id: 'uuidv7()',
    external_id: "'row-' || n",
    stock_number: 'n::text',
    registration: 'upper(substr(md5(n::text), 1, 7))',
    mileage: 'n % 90000',
    asking_price: '500000 + n % 2400000',
    status_changed_at: 'at',
    created_at: 'at',
    updated_at: 'at',
  };
  const { rows } = await admin.query(
    "select column_name from information_schema.columns where table_name = 'vehicle' order by ordinal_position",
  );
  const columns = rows.map(({ column_name: name }) => name as string);
  return `insert into vehicle (${columns.join(', ')})
    select ${columns.map((column) => differing[column] ?? `p.${column}`).join(', ')}
      from pattern p, generate_series($3::int, $4::int) n, lateral (select timestamptz '2025-01-01' + n * interval '1 ms' as at)`;
}

// ---- The middle of a list ----

/** A page in the middle of a dealer's list, by a cursor like the API's own, without walking there. */
async function middleOf(ground: Ground, admin: pg.Client, dealer: Dealer): Promise<string> {
  const page = JSON.parse(await send(ground, dealer, { method: 'GET', path: '/v1/vehicles?limit=1' }));
  const [sealed = ''] = page.meta.resume_cursor.split('.');
  const [version, dealerId, list, filters] = JSON.parse(Buffer.from(sealed, 'base64url').toString());
  const { rows } = await admin.query(
    `select to_char(updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at, id from vehicle where dealer_id = $1
      order by updated_at, id offset (select count(*) / 2 from vehicle where dealer_id = $1) limit 1`,
    [dealer.id],
  );
  const content = JSON.stringify([version, dealerId, list, filters, rows[0].at, rows[0].id]);
  const cursor = `${Buffer.from(content).toString('base64url')}.${ground.service.keyring.sign('cursor', content).toString('base64url')}`;
  return `${first}&cursor=${cursor}`;
}

// ---- What the statement costs ----

interface PageCost {
  readonly hit: number;
  readonly read: number;
  readonly execution: number;
  readonly plan: string;
}

/** The API's own statement, as its role, within its transaction, prepared and used often enough to have its lasting plan. */
async function explain(ground: Ground, dealer: Dealer, path: string): Promise<PageCost> {
  const { sql, values } = (await probe(ground, dealer, () => ({ method: 'GET', path }))).statement('select vehicle');
  const client = new pg.Client({ connectionString: ground.databaseUrl });
  await client.connect();
  try {
    await client.query(`begin read only; select set_config('forecourt.dealer_id', '${dealer.id}', true)`);
    await client.query(`prepare page as ${sql}`);
    const execute = `execute page (${values.map(literal).join(', ')})`;
    for (let use = 0; use < 6; use++) await client.query(execute);
    const { rows } = await client.query(`explain (analyze, buffers, format json) ${execute}`);
    const [{ Plan: plan, 'Execution Time': execution }] = rows[0]['QUERY PLAN'];
    return { hit: plan['Shared Hit Blocks'], read: plan['Shared Read Blocks'], execution, plan: indexOf(plan) };
  } finally {
    await client.end();
  }
}

const literal = (value: unknown): string => (value === null ? 'null' : pg.escapeLiteral(String(value)));

interface Plan {
  readonly 'Index Name'?: string;
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly Plans?: readonly Plan[];
}

/** The way to the vehicles. */
function indexOf(plan: Plan): string {
  if (plan['Relation Name'] === 'vehicle') return plan['Index Name'] ?? plan['Node Type'];
  return plan.Plans?.map(indexOf).find((name) => name !== '') ?? '';
}
