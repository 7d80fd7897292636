import assert from 'node:assert/strict';
import type { Dealer } from './dealers.ts';
import { newDealers } from './dealers.ts';
import type { Ground } from './ground.ts';
import { compare } from './load.ts';
import type { Asked } from './probe.ts';
import { probe, send } from './probe.ts';
import { vehicleNumber } from './stock.ts';
import { ms, print, whole } from './table.ts';

const stock = 300;

/** What an assistant asks through a tool, next to the operation that reads the same. */
export async function measureMcp(ground: Ground): Promise<void> {
  const [dealer] = (await newDealers(ground.service, 1)) as [Dealer];
  let id = '';
  for (let n = 0; n < stock; n++) {
    const created = await send(ground, dealer, { method: 'POST', path: '/v1/vehicles', body: JSON.stringify(vehicleNumber(n)) });
    id = JSON.parse(created).data.id;
  }
  const [{ make }] = JSON.parse(await send(ground, dealer, { method: 'GET', path: '/v1/vehicles?limit=1' })).data;
  const asked: Record<string, [tool: Asked, operation: string]> = {
    'search_vehicles, 20 of them': [call('search_vehicles', {}), '/v1/vehicles?limit=20'],
    'search_vehicles by make, 20 of them': [call('search_vehicles', { make }), `/v1/vehicles?limit=20&make=${encodeURIComponent(make)}`],
    get_vehicle: [call('get_vehicle', { id }), `/v1/vehicles/${id}`],
  };

  const url = await ground.startApi();
  const authorization = `Bearer ${dealer.key}`;
  const rows: string[][] = [];
  for (const [name, [tool, path]] of Object.entries(asked)) {
    const shown = JSON.parse(await send(ground, dealer, tool)).result.structuredContent;
    const { data } = JSON.parse(await send(ground, dealer, { method: 'GET', path }));
    assert.deepEqual(idsOf(shown.vehicles ?? shown), idsOf(data), 'Both read the same vehicles.');

    const { cost, body } = await probe(ground, dealer, () => tool);
    const other = await probe(ground, dealer, () => ({ method: 'GET', path }));
    const headers = { authorization, 'content-type': 'application/json', 'mcp-protocol-version': '2025-06-18' };
    const [ours, theirs] = await compare(
      { url, shot: { method: 'POST', path: tool.path, body: tool.body!, headers } },
      { url, shot: { method: 'GET', path, headers: { authorization } } },
    );
    rows.push([
      name,
      ...[ours, theirs].flatMap(({ perSecond, p50, p99 }) => [whole(perSecond), ms(p50), ms(p99)]),
      `${Math.round((100 * ours.perSecond) / theirs.perSecond)} %`,
      `${kibibytes(body)} / ${kibibytes(other.body)}`,
      `${cost.statements.length} / ${other.cost.statements.length}`,
      `${cost.roundTrips} / ${other.cost.roundTrips}`,
    ]);
  }
  const headings = ['', 'tool req/s', 'p50 ms', 'p99 ms', 'REST req/s', 'p50 ms', 'p99 ms', 'tool/REST', 'KiB', 'SQL', 'round trips'];
  print('Tools of the MCP endpoint, next to the operations they equal', headings, rows);
  console.log(
    '\nA tool answers its object twice, as text and as it is, and a list in brief; each of the last three columns is tool / REST.',
  );
}

const call = (name: string, input: object): Asked => ({
  method: 'POST',
  path: '/v1/mcp',
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: input } }),
});

const idsOf = (shown: unknown): string[] => [shown].flat().map((record) => (record as { id: string }).id);

const kibibytes = (text: string): string => (Buffer.byteLength(text) / 1024).toFixed(1);
