import pg from 'pg';
import type { Crowd } from './crowd.ts';
import { crowd } from './crowd.ts';
import type { Dealer } from './dealers.ts';
import { newDealers } from './dealers.ts';
import { explain } from './explain.ts';
import type { Ground } from './ground.ts';
import { inTurn, measure } from './load.ts';
import { send, sentFor } from './probe.ts';
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
    const growTo = await crowd(ground, admin, dealers, stock);
    const api = await ground.startApi();
    const rows: string[][] = [];
    let seconds = 0;
    for (const size of sizes) {
      seconds = await growTo(size);
      const middles = new Map<Dealer, string>();
      for (const dealer of dealers) middles.set(dealer, await middleOf(ground, admin, dealer));
      for (const [place, pathOf] of [
        ['first page', () => first],
        ['middle', (dealer: Dealer) => middles.get(dealer)!],
      ] as const) {
        const dealerInTurn = inTurn(dealers);
        const { p50, p99 } = await measure({ url: api, shot: () => getting(dealerInTurn(), pathOf) }, 3, 1);
        const dealer = dealers[7]!;
        const { statement } = await sentFor(ground, dealer, { method: 'GET', path: pathOf(dealer) });
        const { hit, read, execution, plan } = await explain(ground, dealer, statement('select vehicle'), 'vehicle');
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

function getting(dealer: Dealer, pathOf: (dealer: Dealer) => string) {
  return { method: 'GET' as const, path: pathOf(dealer), headers: { authorization: `Bearer ${dealer.key}` } };
}

// ---- The rows ----

const { features: _features, ...vehicle } = vehicleNumber(1);

const stock: Crowd = {
  table: 'vehicle',
  first: { method: 'POST', path: '/v1/vehicles', body: JSON.stringify({ ...vehicle, description: vehicle.description.slice(0, 200) }) },
  differing: {
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
  },
};

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
