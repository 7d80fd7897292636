import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { dealership } from '../support/dealership.ts';
import { fixtures, mcpServer } from '../support/mcp-server.ts';
import { inspector, passingFolder, redocly } from './outsiders.ts';

/** The inspector with a key, at an endpoint. */
const inspecting =
  (url: string, key: string | null) =>
  (...args: string[]) =>
    inspector(`${url}/v1/mcp`, '--transport', 'http', '--header', `Authorization: Bearer ${key}`, '--format', 'json', '--quiet', ...args);

test('the inspector finds nothing in the tools that a host of any kind could not read', async (t) => {
  const { api } = await dealership();
  const inspect = inspecting((await mcpServer(t)).url, api.key);
  const { status, out } = await inspect('--method', 'tools/list', '--strict');
  assert.equal(status, 0, out);
  assert.match(out, /update_vehicle_price/);
});

test('it calls a tool, and tells a refusal from an answer', async (t) => {
  const { api } = await dealership();
  const inspect = inspecting((await mcpServer(t)).url, api.key);
  const call = (name: string, ...args: string[]) => inspect('--method', 'tools/call', '--tool-name', name, ...args);
  const found = await call('search_vehicles', '--tool-arg', 'status=FOR_SALE');
  assert.equal(found.status, 0, found.out);
  const refused = await call('get_vehicle', '--tool-arg', 'registration=AB12CDE');
  assert.equal(refused.status, 5, refused.out);
  assert.match(refused.out, /not_found/);
});

test('redocly writes down what tools there are, and sees when they change', async (t) => {
  const { api } = await dealership();
  const file = join(passingFolder(t), 'tools.yaml');
  const ask = (url: string, ...args: string[]) =>
    redocly('introspect-mcp', `${url}/v1/mcp`, '-H', `Authorization: Bearer ${api.key}`, '-o', file, ...args);
  const ours = (await mcpServer(t)).url;
  const more = (await mcpServer(t, { moreTools: fixtures.slice(0, 1) })).url;
  const written = await ask(ours);
  assert.equal(written.status, 0, written.out);
  assert.match(readFileSync(file, 'utf8'), /update_vehicle_price/);
  assert.equal((await ask(ours, '--check')).status, 0);
  assert.equal((await ask(more, '--check')).status, 1);
});
