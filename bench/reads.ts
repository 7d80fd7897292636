import assert from 'node:assert/strict';
import { readerOf } from '#platform/context.ts';
import type { BareAnswer } from './bare.ts';
import type { Dealer } from './dealers.ts';
import { newDealers } from './dealers.ts';
import type { Ground } from './ground.ts';
import { compare } from './load.ts';
import type { Cost } from './probe.ts';
import { probe, send } from './probe.ts';
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
    seen.push({ name, path, cost, answer: { method: 'GET', path, statement: statement('select vehicle'), meta: JSON.parse(body).meta } });
  }
  const { now: _now, ...reader } = readerOf({ ...dealer.ctx, caller: { ...dealer.ctx.caller, kind: 'secret' } });
  const bare = await ground.startBare({ reader, answers: seen.map(({ answer }) => answer) });

  const headers = { authorization: `Bearer ${dealer.key}` };
  const rows: string[][] = [];
  let size = '';
  for (const { name, path, cost } of seen) {
    const [ours, theirs] = await Promise.all([read(api + path, headers), read(bare + path)]);
    assert.deepEqual(JSON.parse(ours), JSON.parse(theirs), 'The bare server writes the same answer.');
    assert.equal(ours.length, theirs.length);
    size += `${name} ${(ours.length / 1024).toFixed(1)} KiB, `;
    const [figures, others] = await compare(
      { url: api, shot: { method: 'GET', path, headers } },
      { url: bare, shot: { method: 'GET', path } },
    );
    rows.push(comparisonRow(name, figures, others, cost));
  }
  print('Reads', comparisonHeadings, rows);
  console.log(`\nAnswers: ${size.slice(0, -2)}. SQL of each: ${seen[0]!.cost.statements.join(' · ')}.`);
}

async function read(url: string, headers: Record<string, string> = {}): Promise<string> {
  const response = await fetch(url, { headers });
  assert.equal(response.status, 200, url);
  return response.text();
}
