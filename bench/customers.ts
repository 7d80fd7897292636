import pg from 'pg';
import type { BareAnswer } from './bare.ts';
import type { Crowd } from './crowd.ts';
import { crowd } from './crowd.ts';
import type { Dealer } from './dealers.ts';
import { newDealers, readerBy } from './dealers.ts';
import { explain } from './explain.ts';
import type { Ground } from './ground.ts';
import { compare, inTurn, measure } from './load.ts';
import { customerNumber } from './people.ts';
import type { SentFor } from './probe.ts';
import { probe, sentFor } from './probe.ts';
import { sameAnswer } from './same.ts';
import { comparisonHeadings, comparisonRow, ms, print, whole } from './table.ts';

const sizes = [10_000, 1_000_000];
const dealerCount = 100;
/** How many customers are looked for, each picked at random. */
const sought = 500;

/** Customers found by phone and by e-mail, as many of them as there may be: over all dealers, and at the one that has most. */
export async function measureCustomers(ground: Ground): Promise<void> {
  const dealers = await newDealers(ground.service, dealerCount);
  const admin = new pg.Client({ connectionString: ground.adminUrl });
  await admin.connect();
  try {
    const growTo = await crowd(ground, admin, dealers, customers);
    const api = await ground.startApi();
    const loaded: string[][] = [];
    const single: string[][] = [];
    let seconds = 0;
    for (const size of sizes) {
      seconds = await growTo(size);
      const groups: Group[] = [];
      for (const by of ['phone', 'email'] as const) {
        groups.push(await lookups(ground, admin, dealers, by, 'any dealer'));
        groups.push(await lookups(ground, admin, dealers.slice(0, 1), by, 'the largest'));
      }
      const bare = await ground.startBare({ reader: readerBy(dealers[0]!), answers: groups.flatMap(({ all }) => all.map(toAnswer)) });
      for (const { name, all } of groups) {
        const one = all.at(-1)!;
        const row = `${whole(size)}, ${name}`;
        await sameAnswer(api, bare, one.path, headersOf(one));
        const ours = inTurn(all);
        const theirs = inTurn(all);
        const shot = () => toShot(ours());
        const [figures, others] = await compare(
          { url: api, shot },
          { url: bare, shot: () => ({ method: 'GET', path: theirs().path, headers: {} }) },
        );
        const { cost } = await probe(ground, one.dealer, () => ({ method: 'GET', path: one.path }));
        loaded.push(comparisonRow(row, figures, others, cost));

        const { p50, p99 } = await measure({ url: api, shot }, 3, 1);
        const { hit, read, execution, plan } = await explain(ground, one.dealer, one.sent.statement(select), 'customer');
        single.push([row, ms(p50), ms(p99), `${hit + read}`, `${read}`, ms(execution), plan]);
      }
    }
    const { rows } = await admin.query(
      `select (select count(*)::int from customer where dealer_id = $1) as most,
        pg_size_pretty(pg_table_size('customer')) as rows, pg_size_pretty(pg_indexes_size('customer')) as indexes`,
      [dealers[0]!.id],
    );
    print(`Customers found, of ${dealerCount} dealers, ${sought} looked for in turn`, comparisonHeadings, loaded);
    print('The same, one request at a time', ['', 'p50 ms', 'p99 ms', 'buffers', 'of them read', 'statement ms', 'by'], single);
    console.log(
      `\nThe largest dealer has ${whole(rows[0].most)} in the end. The last ${whole(sizes.at(-1)! - sizes.at(-2)!)} were made in ${seconds.toFixed(0)} s: ${rows[0].rows} of customers and ${rows[0].indexes} of indexes, shared buffers 256 MB.`,
    );
  } finally {
    await admin.end();
  }
}

// ---- The rows ----

/** An eighth of all are the first dealer's. */
const whose = 'case when n % 8 = 0 then 1 else 1 + n % cardinality($1) end';

const customers: Crowd = {
  table: 'customer',
  first: { method: 'POST', path: '/v1/customers', body: JSON.stringify(customerNumber(1)) },
  differing: {
    dealer_id: `($1::uuid[])[${whose}]`,
    branch_id: `($2::uuid[])[${whose}]`,
    id: 'uuidv7()',
    reference: "'CUS-' || lpad(n::text, 6, '0')",
    last_name: 'substr(md5(n::text), 1, 7)',
    display_name: "'Dr Alex ' || substr(md5(n::text), 1, 7)",
    last_name_key: 'substr(md5(n::text), 1, 7)',
    full_name_key: "'alex ' || substr(md5(n::text), 1, 7)",
    email: "substr(md5(n::text), 1, 7) || '.' || n || '@customer.example'",
    // Mixed as numbers are, and none twice: the factor shares no divisor with the numbers there are.
    mobile: "'+447' || lpad((n::bigint * 618033989 % 1000000000)::text, 9, '0')",
    phone: "case when n % 3 = 0 then '+4420' || lpad((n::bigint * 61803399 % 100000000)::text, 8, '0') end",
    created_at: 'at',
    updated_at: 'at',
  },
};

// ---- The look-ups ----

/** One customer looked for, and what the API sends for it. */
interface Lookup {
  readonly dealer: Dealer;
  readonly path: string;
  readonly sent: SentFor;
}

interface Group {
  readonly name: string;
  readonly all: readonly Lookup[];
}

const select = 'select customer';

async function lookups(ground: Ground, admin: pg.Client, dealers: readonly Dealer[], by: 'phone' | 'email', who: string): Promise<Group> {
  const all: Lookup[] = [];
  const each = sought / dealers.length;
  for (const dealer of dealers) {
    const { rows } = await admin.query('select mobile as phone, email from customer where dealer_id = $1 order by md5(id::text) limit $2', [
      dealer.id,
      each,
    ]);
    for (const row of rows) {
      const path = `/v1/customers?${new URLSearchParams({ [by]: row[by] })}`;
      all.push({ dealer, path, sent: await sentFor(ground, dealer, { method: 'GET', path }) });
    }
  }
  return { name: `by ${by}, ${who}`, all };
}

const toAnswer = ({ path, sent }: Lookup): BareAnswer => ({
  method: 'GET',
  path,
  statement: sent.statement(select),
  shows: 'customer',
  meta: JSON.parse(sent.body).meta,
});

const headersOf = ({ dealer }: Lookup) => ({ authorization: `Bearer ${dealer.key}` });
const toShot = (lookup: Lookup) => ({ method: 'GET' as const, path: lookup.path, headers: headersOf(lookup) });
