import type { BareAnswer } from './bare.ts';
import type { Dealer } from './dealers.ts';
import { newDealers, readerBy } from './dealers.ts';
import type { Ground } from './ground.ts';
import { compare } from './load.ts';
import type { Cost } from './probe.ts';
import { probe, send } from './probe.ts';
import { sameAnswer } from './same.ts';
import { vehicleNumber } from './stock.ts';
import { comparisonHeadings, comparisonRow, print } from './table.ts';

const stock = 300;

/** One vehicle, a page of 25, a page of 100. */
export async function measureReads(ground: Ground): Promise<void> {
  const [dealer] = (await newDealers(ground.service, 1)) as [Dealer];
  let id = '';
  for (let n = 0; n < stock; n++) {
    const created = await send(ground, dealer, { method: 'POST', path: '/v1/vehicles', body: JSON.stringify(vehicleNumber(n)) });
    id = JSON.parse(created).data.id;
  }
  const paths = { 'one vehicle': `/v1/vehicles/${id}`, 'a page of 25': '/v1/vehicles?limit=25', 'a page of 100': '/v1/vehicles?limit=100' };

  const api = await ground.startApi();
  const seen: { name: string; path: string; cost: Cost; answer: BareAnswer }[] = [];
  for (const [name, path] of Object.entries(paths)) {
    const { cost, body, statement } = await probe(ground, dealer, () => ({ method: 'GET', path }));
    seen.push({
      name,
      path,
      cost,
      answer: { method: 'GET', path, statement: statement('select vehicle'), shows: 'vehicle', meta: JSON.parse(body).meta },
    });
  }
  const bare = await ground.startBare({ reader: readerBy(dealer), answers: seen.map(({ answer }) => answer) });

  const headers = { authorization: `Bearer ${dealer.key}` };
  const rows: string[][] = [];
  let size = '';
  for (const { name, path, cost } of seen) {
    size += `${name} ${((await sameAnswer(api, bare, path, headers)) / 1024).toFixed(1)} KiB, `;
    const [figures, others] = await compare(
      { url: api, shot: { method: 'GET', path, headers } },
      { url: bare, shot: { method: 'GET', path } },
    );
    rows.push(comparisonRow(name, figures, others, cost));
  }
  print('Reads', comparisonHeadings, rows);
  console.log(`\nAnswers: ${size.slice(0, -2)}. SQL of each: ${seen[0]!.cost.statements.join(' · ')}.`);
}
