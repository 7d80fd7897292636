import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { register } from 'prom-client';
import { z } from 'zod';
import { setUser } from '#modules/staff/index.ts';
import { inTransaction, takeNumbers } from '#platform/db/transaction.ts';
import { Refusal } from '#platform/errors.ts';
import { createLog } from '#platform/log.ts';
import { adds, tool } from '#platform/mcp/tool.ts';
import { buildApi } from '../../src/app/api.ts';
import { speak } from '../support/api.ts';
import type { Dealership } from '../support/dealership.ts';
import { dealership } from '../support/dealership.ts';
import type { Mcp } from '../support/mcp.ts';
import { assistant } from '../support/mcp.ts';
import { sandbox } from '../support/sandbox.ts';
import { recordTraffic } from '../support/traffic.ts';

const versions = ['2025-06-18', '2025-03-26', '2024-11-05'];
let home: Dealership;
let mcp: Mcp;

before(async () => {
  home = await dealership();
  mcp = assistant(home.app, home.api.key);
});

const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
const initialize = (protocolVersion?: string) => ({
  jsonrpc: '2.0',
  id: 7,
  method: 'initialize',
  ...(protocolVersion && { params: { protocolVersion, capabilities: {}, clientInfo: { name: 'test', version: '1' } } }),
});

// ---- What each message gets ----

const fault = (code: number, id: unknown = null) => ({ status: 200, code, id });
const endless = `${'{"a":'.repeat(200)}1${'}'.repeat(200)}`;

for (const [what, body, { status, code, id }] of [
  ['bytes that are no JSON', '{"jsonrpc":', fault(-32700)],
  ['an empty body', '', fault(-32700)],
  ['bytes that are no UTF-8', Buffer.from([0x22, 0xff, 0x22]), fault(-32700)],
  ['null', 'null', fault(-32600)],
  ['a text', '"ping"', fault(-32600)],
  ['a number', '5', fault(-32600)],
  ['a batch', JSON.stringify([ping, ping]), fault(-32600)],
  ['a batch of one', JSON.stringify([ping]), fault(-32600)],
  ['a batch of none', '[]', fault(-32600)],
  ['an object of something else', '{}', fault(-32600)],
  ['jsonrpc 1.0', JSON.stringify({ ...ping, jsonrpc: '1.0' }), fault(-32600, 1)],
  ['no jsonrpc', '{"id":"a","method":"ping"}', fault(-32600, 'a')],
  ['no method', '{"jsonrpc":"2.0","id":1}', fault(-32600, 1)],
  ['a method that is a number', '{"jsonrpc":"2.0","id":1,"method":5}', fault(-32600, 1)],
  ['a notification whose method is a number', '{"jsonrpc":"2.0","method":5}', fault(-32600)],
  ['the id null', JSON.stringify({ ...ping, id: null }), fault(-32600)],
  ['an id that is an object', JSON.stringify({ ...ping, id: {} }), fault(-32600)],
  ['an id that is a list', JSON.stringify({ ...ping, id: [1] }), fault(-32600)],
  ['an id that is no whole number', JSON.stringify({ ...ping, id: 1.5 }), fault(-32600)],
  ['an id no number can hold exactly', '{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}', fault(-32600)],
  ['an id that is true', JSON.stringify({ ...ping, id: true }), fault(-32600)],
  ['params that are a list', JSON.stringify({ ...ping, params: [] }), fault(-32600, 1)],
  ['params that are null', JSON.stringify({ ...ping, params: null }), fault(-32600, 1)],
  ['params that are a text', JSON.stringify({ ...ping, params: 'x' }), fault(-32600, 1)],
  ['a response with a result and an error', '{"jsonrpc":"2.0","id":1,"result":{},"error":{}}', fault(-32600, 1)],
  ['nesting without end', `{"jsonrpc":"2.0","id":1,"method":"ping","params":${endless}}`, fault(-32600, 1)],
  ['a field named __proto__', '{"jsonrpc":"2.0","id":"a","method":"ping","params":{"__proto__":{}}}', fault(-32600, 'a')],
  ['an unknown method', JSON.stringify({ ...ping, method: 'resources/list' }), fault(-32601, 1)],
  ['the first method of later revisions', JSON.stringify({ ...ping, method: 'server/discover' }), fault(-32601, 1)],
  ['a method of the name of a member of all objects', JSON.stringify({ ...ping, method: 'constructor' }), fault(-32601, 1)],
  ['an unknown tool', JSON.stringify({ ...ping, method: 'tools/call', params: { name: 'sell_everything' } }), fault(-32602, 1)],
  ['a call of no tool', JSON.stringify({ ...ping, method: 'tools/call' }), fault(-32602, 1)],
  ['a call of a tool whose name is a number', JSON.stringify({ ...ping, method: 'tools/call', params: { name: 5 } }), fault(-32602, 1)],
  ['a cursor nobody gave', JSON.stringify({ ...ping, method: 'tools/list', params: { cursor: 'x' } }), fault(-32602, 1)],
] as const) {
  test(`${what} gets ${code} within a 200, and the id where it is one`, async () => {
    const { status: actual, body: answer, headers } = await mcp.raw(body);
    assert.equal(actual, status);
    assert.deepEqual(Object.keys(answer), ['jsonrpc', 'id', 'error']);
    assert.deepEqual([answer.jsonrpc, answer.id, answer.error.code], ['2.0', id, code]);
    assert.equal(typeof answer.error.message, 'string');
    assert.match(headers['content-type']!, /^application\/json/);
    assert.ok(headers['x-request-id']);
    assert.ok(headers['x-ratelimit-remaining']);
  });
}

for (const [what, message] of [
  ['a known notification', { jsonrpc: '2.0', method: 'notifications/initialized' }],
  ['an unknown notification', { jsonrpc: '2.0', method: 'notifications/of/nothing', params: {} }],
  ['a request without an id', { jsonrpc: '2.0', method: 'tools/list' }],
  ['a response', { jsonrpc: '2.0', id: 1, result: {} }],
  ['a response that is an error', { jsonrpc: '2.0', id: 'x', error: { code: 1, message: 'no' } }],
] as const) {
  test(`${what} is acknowledged with 202 and no body`, async () => {
    const { status, body, headers } = await mcp.send(message);
    assert.deepEqual([status, body], [202, null]);
    assert.equal(headers['content-type'], undefined);
    assert.ok(headers['x-request-id']);
    assert.ok(headers['x-ratelimit-remaining']);
  });
}

test('nesting without end is no matter in a message that is not answered', async () => {
  for (const message of [`{"jsonrpc":"2.0","method":"tools/call","params":${endless}}`, `{"jsonrpc":"2.0","id":1,"result":${endless}}`])
    assert.equal((await mcp.raw(message)).status, 202);
});

test('arguments nested without end, or with a field named __proto__, are for the tool to refuse, under a key and without', async () => {
  for (const headers of [{}, { 'idempotency-key': 'endless' }] as Record<string, string>[]) {
    for (const [input, field] of [
      [endless, 'arguments'],
      [`${'['.repeat(100_000)}${']'.repeat(100_000)}`, 'arguments'],
      ['{"__proto__":{}}', '__proto__'],
    ] as const) {
      const params = `{"name":"stock_summary","arguments":${input}}`;
      const { status, body } = await mcp.raw(`{"jsonrpc":"2.0","id":"x","method":"tools/call","params":${params}}`, headers);
      assert.deepEqual([status, body.id, body.result?.isError], [200, 'x', true], field);
      const { code, errors } = JSON.parse(body.result.content[0].text);
      assert.deepEqual([code, Object.keys(errors)], ['validation_failed', [field]]);
    }
  }
});

test('a message without an id is never executed, a call of a tool neither', async () => {
  const contact = { last_name: 'Rowan', email: 'silent@customer.example' };
  const { status } = await mcp.send({ jsonrpc: '2.0', method: 'tools/call', params: { name: 'create_enquiry', arguments: { contact } } });
  assert.equal(status, 202);
  assert.deepEqual(await home.api.get('/v1/enquiries?email=silent@customer.example').succeeds(), []);
});

test('the answer carries the id of the request, be it a text, a number, zero or negative', async () => {
  for (const id of ['a', '', 0, -5, 12_345]) {
    const { body } = await mcp.send({ ...ping, id });
    assert.deepEqual(body, { jsonrpc: '2.0', id, result: {} });
  }
});

// ---- Versions ----

test('the three versions are answered with themselves, any other and none with the current one', async () => {
  for (const version of versions) assert.equal((await mcp.send(initialize(version))).body.result.protocolVersion, version);
  for (const other of ['2025-11-25', '2026-07-28', '1.0', undefined])
    assert.equal((await mcp.send(initialize(other))).body.result.protocolVersion, '2025-06-18', other);
});

test('initialize says what is there: tools that do not change, who answers, and how to go about it', async () => {
  const { result } = (await mcp.send(initialize('2025-06-18'))).body;
  assert.deepEqual(Object.keys(result), ['protocolVersion', 'capabilities', 'serverInfo', 'instructions']);
  assert.deepEqual(result.capabilities, { tools: { listChanged: false } });
  assert.deepEqual([result.serverInfo.name, result.serverInfo.title], ['forecourt', 'Forecourt']);
  assert.match(result.serverInfo.version, /^\d+\.\d+\.\d+/);
  assert.match(result.instructions, /minor units of the dealership’s currency/);
  assert.match(result.instructions, /JPY has none/);
  assert.doesNotMatch(result.instructions, /pounds|pence/);
});

test('a version in the header that is not spoken is a 400 that names the three, whatever is asked once the version is agreed upon', async () => {
  for (const version of ['1999-01-01', '2025-11-25', '2026-07-28', '', '2025-06-18, 2025-06-18']) {
    for (const [message, id] of [[ping, 1] as const, [{ jsonrpc: '2.0', method: 'notifications/initialized' }, null] as const]) {
      const { status, body } = await mcp.send(message, { 'mcp-protocol-version': version });
      assert.deepEqual([status, body.id, body.error.code], [400, id, -32600], version);
      for (const spoken of versions) assert.ok(body.error.message.includes(spoken));
      assert.deepEqual(Object.keys(body), ['jsonrpc', 'id', 'error']);
    }
  }
  for (const version of versions) assert.equal((await mcp.send(ping, { 'mcp-protocol-version': version })).status, 200);
  const agreed = await mcp.send(initialize('2025-11-25'), { 'mcp-protocol-version': '2025-11-25' });
  assert.deepEqual([agreed.status, agreed.body.result.protocolVersion], [200, '2025-06-18']);
});

test('what is no message is told so before its version is looked at', async () => {
  assert.equal((await mcp.raw('{', { 'mcp-protocol-version': '1999-01-01' })).status, 200);
});

// ---- HTTP around it ----

test('whatever type is accepted or sent, and a session nobody began, make no difference', async () => {
  for (const headers of [
    { accept: 'application/json' },
    { accept: '*/*' },
    { accept: 'text/html' },
    { accept: 'application/json, text/event-stream' },
    { 'content-type': 'text/plain' },
    { 'content-type': 'application/json; charset=utf-8' },
    { 'mcp-session-id': '8f1f9a4e' },
  ] as Record<string, string>[]) {
    const { status, body, headers: answered } = await mcp.send(ping, headers);
    assert.deepEqual([status, body], [200, { jsonrpc: '2.0', id: 1, result: {} }]);
    assert.equal(answered['mcp-session-id'], undefined);
  }
});

test('a body that was packed is not unpacked', async () => {
  const { status, body } = await mcp.send(ping, { 'content-encoding': 'gzip' });
  assert.deepEqual([status, body.errors], [422, { body: ['Send the body without Content-Encoding.'] }]);
  assert.equal((await mcp.send(ping, { 'content-encoding': 'identity' })).status, 200);
});

test('any other method is 405 and is told what is taken, with a key and without', async () => {
  for (const method of ['GET', 'DELETE', 'PUT', 'PATCH'] as const) {
    for (const headers of [{ authorization: `Bearer ${home.api.key}`, accept: 'text/event-stream' }, {}]) {
      const { statusCode, headers: answered, payload } = await home.app.inject({ method, url: '/v1/mcp', headers });
      assert.deepEqual([statusCode, answered.allow, JSON.parse(payload).code], [405, 'POST, OPTIONS', 'method_not_allowed']);
    }
  }
});

test('a body beyond the limit of all JSON bodies is a 413 with the standard body', async () => {
  const { status, body, headers } = await mcp.raw(`"${'x'.repeat(10 * 1024 * 1024)}"`);
  assert.deepEqual([status, body.code, body.request_id], [413, 'body_too_large', headers['x-request-id']]);
});

test('a problem with the key is an HTTP status with the standard body, before the message is looked at', async () => {
  const { newKey, keys, ctx, app, apiWith, setPlan } = await dealership();
  const told = async (key: string | null, headers: Record<string, string> = {}) => {
    const { status, body } = await assistant(app, key).raw('no JSON', headers);
    assert.equal(body.success, false);
    return [status, body.code];
  };
  const revoked = await newKey();
  await keys.revoke(ctx, revoked.id);
  const publishable = await apiWith({ kind: 'publishable' });
  const listed = await newKey({ ips: ['203.0.113.0/24'] });
  const { key } = await newKey();
  assert.deepEqual(await told(null), [401, 'missing_api_key']);
  assert.deepEqual(await told('nobody'), [401, 'invalid_api_key']);
  assert.deepEqual(await told(revoked.key), [401, 'api_key_revoked']);
  assert.deepEqual(await told(publishable.key), [403, 'secret_key_required']);
  assert.deepEqual(await told(listed.key), [403, 'ip_not_allowed']);
  await setPlan('FREE');
  assert.deepEqual(await told(key), [403, 'plan_not_entitled']);
});

test('calls count against the limit of the key one for one, and beyond it are 429', async () => {
  const { app, newKey } = await dealership();
  const hasty = assistant(app, (await newKey({ rateLimit: 3 })).key);
  const left = [];
  for (const message of [initialize('2025-06-18'), { jsonrpc: '2.0', method: 'notifications/initialized' }, ping]) {
    left.push((await hasty.send(message)).headers['x-ratelimit-remaining']);
  }
  assert.deepEqual(left.map(Number), [2, 1, 0]);
  const { status, body, headers } = await hasty.send(ping);
  assert.deepEqual([status, body.code], [429, 'rate_limited']);
  assert.ok(Number(headers['retry-after']) >= 1);
});

test('a secret key with any Origin at all is refused, this server’s own, null and an empty one too', async () => {
  for (const origin of ['http://127.0.0.1:4000', 'https://elsewhere.example', 'null', '']) {
    const { status, body } = await mcp.send(ping, { origin });
    assert.deepEqual([status, body.code], [403, 'secret_key_in_browser'], origin);
  }
});

// ---- Which tools there are ----

const scopes: Record<string, string> = {
  search_vehicles: 'vehicles:read',
  get_vehicle: 'vehicles:read',
  update_vehicle_price: 'vehicles:write',
  stock_summary: 'vehicles:read',
  list_enquiries: 'enquiries:read',
  get_enquiry: 'enquiries:read',
  create_enquiry: 'enquiries:write',
  search_customers: 'customers:read',
  list_appointments: 'appointments:read',
  list_deals: 'sales:read',
};

test('a key of all scopes is told of every tool, in the same order each time, on one page', async () => {
  assert.deepEqual(await mcp.tools(), Object.keys(scopes));
  assert.equal((await mcp.result('tools/list')).nextCursor, undefined);
});

test('a tool is listed only when the key has its scope, and one that is not listed is as unknown as one that does not exist', async () => {
  const { app, newKey } = await dealership();
  for (const scope of new Set(Object.values(scopes))) {
    const narrow = assistant(app, (await newKey({ scopes: [scope as 'vehicles:read'], rateLimit: 1_000 })).key);
    const expected = Object.keys(scopes).filter((name) => scopes[name] === scope);
    assert.deepEqual(await narrow.tools(), expected);
    for (const name of Object.keys(scopes).filter((name) => !expected.includes(name))) {
      const { status, body } = await narrow.send({ ...ping, method: 'tools/call', params: { name, arguments: {} } });
      assert.deepEqual([status, body.error], [200, { code: -32602, message: `Unknown tool: ${name}` }]);
    }
  }
  assert.deepEqual(await assistant(app, (await newKey({ scopes: ['branches:read'] })).key).tools(), []);
});

test('a tool whose scope the owner has lost the permission for stays listed, and refuses', async () => {
  const { app, newKey, newUser, ctx } = await dealership();
  const owner = await newUser();
  const theirs = assistant(app, (await newKey({ ownerId: owner.id })).key);
  const before = await theirs.tools();
  await setUser(ctx, owner.email, { without: ['STOCK_VIEW'] });
  assert.deepEqual(await theirs.tools(), before);
  const { required } = await theirs.refuses('stock_summary', {}, 'scope_not_permitted_for_owner');
  assert.deepEqual(required, { scope: 'vehicles:read', permission: 'STOCK_VIEW' });
  await theirs.refuses('search_vehicles', { limit: 'what is wrong with it comes later' }, 'scope_not_permitted_for_owner');
  await theirs.call('list_deals');
});

test('a replay, too, needs the permission: lost it is refused, back it is told what came of the call', async () => {
  const { app, newKey, newUser, ctx } = await dealership();
  const owner = await newUser();
  const theirs = assistant(app, (await newKey({ ownerId: owner.id })).key);
  const call = (key: string) => theirs.send(lead('permitted@customer.example'), { 'idempotency-key': key });
  const codeIn = ({ body: { result } }: Awaited<ReturnType<typeof call>>) => result.isError && JSON.parse(result.content[0].text).code;
  const first = await call('before');
  assert.equal(codeIn(first), undefined);
  await setUser(ctx, owner.email, { without: ['ENQUIRIES_EDIT'] });
  for (const key of ['before', 'while it was lost']) {
    const refused = await call(key);
    assert.deepEqual(
      [refused.status, refused.headers['idempotent-replayed'], codeIn(refused)],
      [200, undefined, 'scope_not_permitted_for_owner'],
    );
  }
  await setUser(ctx, owner.email, { with: ['ENQUIRIES_EDIT'] });
  const again = await call('before');
  assert.deepEqual([again.headers['idempotent-replayed'], again.body], ['true', first.body]);
  const since = await call('while it was lost');
  assert.deepEqual([since.headers['idempotent-replayed'], codeIn(since)], [undefined, undefined]);
});

test('every tool has a title, words for a model, hints, and schemas of an object for what it takes and answers', async () => {
  const { tools } = await mcp.result('tools/list');
  for (const { name, title, description, inputSchema, outputSchema, annotations } of tools) {
    assert.ok(title && title === annotations.title, name);
    assert.ok(description.length > 80, name);
    for (const hint of ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'])
      assert.equal(typeof annotations[hint], 'boolean', `${name} ${hint}`);
    assert.equal(annotations.openWorldHint, false, name);
    assert.equal(annotations.readOnlyHint, !['update_vehicle_price', 'create_enquiry'].includes(name), name);
    assert.equal(annotations.destructiveHint, name === 'update_vehicle_price', name);
    assert.equal(annotations.idempotentHint, name !== 'create_enquiry', name);
    assert.deepEqual([inputSchema.type, inputSchema.additionalProperties, outputSchema.type], ['object', false, 'object'], name);
    assert.doesNotMatch(JSON.stringify(outputSchema), /"additionalProperties":false/, `${name} may gain fields`);
    assert.doesNotMatch(JSON.stringify([inputSchema, outputSchema]), /"\$(?:ref|defs|schema)"/, name);
    for (const keyword of ['allOf', 'anyOf', 'oneOf', 'not']) assert.ok(!(keyword in inputSchema), `${name} ${keyword}`);
  }
});

test('what is listed is the same for every dealership: nothing anybody typed in stands in it', async () => {
  const { app, api } = await dealership({ timeZone: 'Europe/Madrid' });
  const other = assistant(app, api.key);
  assert.deepEqual(await other.result('tools/list'), await mcp.result('tools/list'));
  assert.deepEqual((await other.send(initialize())).body, (await mcp.send(initialize())).body);
});

// ---- Once ----

const lead = (email: string) => ({
  jsonrpc: '2.0',
  id: 3,
  method: 'tools/call',
  params: { name: 'create_enquiry', arguments: { contact: { last_name: 'Rowan', email } } },
});

test('a call with an Idempotency-Key that is repeated gets the stored answer, and its work is not done twice', async () => {
  const headers = { 'idempotency-key': 'lead-1' };
  const first = await mcp.send(lead('once@customer.example'), headers);
  const second = await mcp.send(lead('once@customer.example'), headers);
  assert.equal(first.headers['idempotent-replayed'], undefined);
  assert.equal(second.headers['idempotent-replayed'], 'true');
  assert.deepEqual(second.body, first.body);
  assert.equal((await home.api.get('/v1/enquiries?email=once@customer.example').succeeds()).length, 1);
  const { status, body } = await mcp.send(lead('another@customer.example'), headers);
  assert.deepEqual([status, body.code], [409, 'idempotency_key_reused']);
});

test('the number a client gives a message, and what it says about it, make it no other: a repeat is answered with its own id', async () => {
  const headers = { 'idempotency-key': 'numbered' };
  const { params, ...message } = lead('numbered@customer.example');
  const first = await mcp.send({ ...message, params: { ...params, _meta: { progressToken: 3 } } }, headers);
  const second = await mcp.send({ ...message, params: { ...params, _meta: { progressToken: 4 } }, id: 'four' }, headers);
  assert.equal(second.headers['idempotent-replayed'], 'true');
  assert.deepEqual(second.body, { ...first.body, id: 'four' });
});

test('a refusal of a tool is stored as well, undone, and told again with the id of the request that asks', async () => {
  const headers = { 'idempotency-key': 'refused-1' };
  const message = { ...lead(''), params: { name: 'get_vehicle', arguments: { id: '00000000-0000-0000-0000-000000000000' } } };
  const [first, second] = [await mcp.send(message, headers), await mcp.send(message, headers)];
  const textOf = ({ body }: { body: { result: { content: { text: string }[] } } }) => JSON.parse(body.result.content[0]!.text);
  assert.equal(second.headers['idempotent-replayed'], 'true');
  for (const answer of [first, second]) {
    assert.equal(answer.body.result.isError, true);
    assert.equal(textOf(answer).request_id, answer.headers['x-request-id']);
  }
  assert.equal(textOf(second).code, 'not_found');
});

test('a message that is none of the protocol is not stored, and a key that is none is a 422', async () => {
  const headers = { 'idempotency-key': 'mended' };
  assert.equal((await mcp.send({ ...ping, method: 'pong' }, headers)).body.error.code, -32601);
  assert.equal((await mcp.send(ping, headers)).headers['idempotent-replayed'], undefined);
  const { status, body } = await mcp.send(ping, { 'idempotency-key': 'ü' });
  assert.deepEqual([status, Object.keys(body.errors)], [422, ['Idempotency-Key']]);
});

/** An endpoint with a tool that counts in the dealership's turn, and then does as it is told. */
async function counting(log?: (line: string) => void) {
  const { service, app: _app, ...dealer } = await dealership();
  const count = tool({
    name: 'test_count',
    title: 'Count',
    description: 'Counts up.',
    scope: null,
    hints: adds,
    input: z.strictObject({ ends: z.enum(['stock_busy', 'request_refused', 'service_unavailable', 'no database', 'fault']).optional() }),
    output: z.object({ count: z.int() }),
    refusals: {},
    run: (ctx, { ends }) =>
      inTransaction(ctx, async (tx) => {
        const counted = await takeNumbers(tx, 'test', 1);
        if (ends === 'fault') throw new Error('A fault of ours.');
        if (ends === 'no database') throw new Error('Connection terminated');
        if (ends) throw new Refusal(ends, undefined, { retryAfterSeconds: 5 });
        return { count: counted };
      }),
  });
  const heard = log && { log: createLog({ level: 'info', pretty: false, to: { write: (line: string) => log(line) } }) };
  const app = recordTraffic(
    buildApi({ service: { ...service, ...heard }, baseUrl: 'http://127.0.0.1:4000', trustedProxies: [], moreTools: [count] }),
  );
  return { mcp: assistant(app, dealer.api.key), close: () => app.close() };
}

const countThen = (ends?: string) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'test_count', arguments: ends ? { ends } : {} },
});

test('what a tool refuses is undone, with an Idempotency-Key and without', async () => {
  const { mcp, close } = await counting();
  for (const headers of [{}, { 'idempotency-key': 'undone' }] as Record<string, string>[])
    assert.equal((await mcp.send(countThen('request_refused'), headers)).body.result.isError, true);
  assert.deepEqual(await mcp.call('test_count'), { count: 1 });
  await close();
});

test('what cannot be had now, and a fault of ours, is told in the result without detail, and may be called again under its key', async () => {
  const lines: string[] = [];
  const { mcp, close } = await counting((line) => lines.push(line));
  for (const [ends, code, retryAfter] of [
    ['stock_busy', 'stock_busy', '5'],
    ['service_unavailable', 'service_unavailable', '5'],
    ['no database', 'service_unavailable', '5'],
    ['fault', 'internal_error', undefined],
  ] as const) {
    for (const headers of [{}, { 'idempotency-key': ends }] as Record<string, string>[]) {
      for (let turn = 0; turn < 2; turn++) {
        const { status, body, headers: answered } = await mcp.send(countThen(ends), headers);
        assert.deepEqual([status, body.id, body.result?.isError], [200, 1, true], ends);
        assert.deepEqual([answered['retry-after'], answered['idempotent-replayed']], [retryAfter, undefined], ends);
        const told = JSON.parse(body.result.content[0].text);
        assert.deepEqual([told.success, told.code, told.request_id], [false, code, answered['x-request-id']]);
        assert.equal(JSON.stringify(body).includes('ours.'), false);
      }
    }
  }
  const faults = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'fault');
  assert.deepEqual(
    faults.map(({ err }) => err.message),
    [...Array(4).fill('Connection terminated'), ...Array(4).fill('A fault of ours.')],
  );
  assert.deepEqual(await mcp.call('test_count'), { count: 1 });
  await close();
});

test('in the log a call is the path with its tool, and nothing else of what was sent stands there', async () => {
  const lines: string[] = [];
  const { mcp, close } = await counting((line) => lines.push(line));
  await mcp.call('stock_summary');
  await mcp.send({ ...ping, method: 'tools/call', params: { name: 'no_such_tool' } });
  await mcp.refuses('get_vehicle', { registration: 'XY99ZZZ' }, 'not_found');
  await mcp.send(ping);
  await close();
  const told = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request');
  assert.deepEqual(
    told.map(({ method, path, operation, status }) => [method, path, operation, status]),
    ['/v1/mcp#stock_summary', '/v1/mcp', '/v1/mcp#get_vehicle', '/v1/mcp'].map((path) => ['POST', path, 'mcp.send', 200]),
  );
  assert.doesNotMatch(lines.join(), /XY99ZZZ|no_such_tool/);
  const counted = await register.metrics();
  for (const part of ['#stock_summary', '#get_vehicle', '']) assert.ok(counted.includes(`"mcp.send${part}"`), part);
  assert.doesNotMatch(counted, /no_such_tool/);
});

// ---- Discovery ----

const pointer = 'http://127.0.0.1:4000/.well-known/oauth-protected-resource/v1/mcp';

test('every 401 of the API leads to the document of the endpoint, and says whether the token was at fault', async () => {
  for (const path of ['/v1/mcp', '/v1/vehicles', '/v1/me']) {
    const ask = (authorization?: string) =>
      home.app.inject({ method: path === '/v1/mcp' ? 'POST' : 'GET', url: path, headers: authorization ? { authorization } : {} });
    const [none, bad] = [await ask(), await ask('Bearer nobody')];
    assert.equal(none.headers['www-authenticate'], `Bearer realm="Forecourt", resource_metadata="${pointer}"`);
    assert.equal(bad.headers['www-authenticate'], `Bearer realm="Forecourt", resource_metadata="${pointer}", error="invalid_token"`);
  }
});

test('the document names the endpoint and who gives tokens for it, and no scopes; a page may read it', async () => {
  for (const url of ['/.well-known/oauth-protected-resource/v1/mcp', '/.well-known/oauth-protected-resource']) {
    const { statusCode, headers, payload } = await home.app.inject({ url, headers: { origin: 'https://assistant.example' } });
    assert.equal(statusCode, 200);
    assert.match(String(headers['content-type']), /^application\/json/);
    assert.equal(headers['access-control-allow-origin'], '*');
    const document = JSON.parse(payload);
    assert.equal(document.resource, 'http://127.0.0.1:4000/v1/mcp');
    assert.deepEqual(document.authorization_servers, ['http://127.0.0.1:4000']);
    assert.deepEqual(document.bearer_methods_supported, ['header']);
    assert.ok(!('scopes_supported' in document));
  }
});

test('a page of any origin may ask for the documents with the version of the protocol; they are read, and nothing else', async () => {
  for (const url of ['oauth-protected-resource/v1/mcp', 'oauth-protected-resource', 'oauth-authorization-server']) {
    const ask = (method: 'OPTIONS' | 'HEAD' | 'POST' | 'DELETE') =>
      home.app.inject({ method, url: `/.well-known/${url}`, headers: { origin: 'https://assistant.example' } });
    const before = await ask('OPTIONS');
    assert.deepEqual([before.statusCode, before.payload], [204, ''], url);
    assert.equal(before.headers['access-control-allow-origin'], '*');
    assert.equal(before.headers['access-control-allow-methods'], 'GET');
    assert.equal(before.headers['access-control-allow-headers'], 'MCP-Protocol-Version');
    assert.equal((await ask('HEAD')).statusCode, 200);
    for (const method of ['POST', 'DELETE'] as const) {
      const { statusCode, headers, payload } = await ask(method);
      assert.deepEqual([statusCode, headers.allow, JSON.parse(payload).code], [405, 'GET, HEAD, OPTIONS', 'method_not_allowed'], url);
      assert.equal(headers['access-control-allow-origin'], '*');
    }
  }
});

test('a test key calls the tools of the sandbox, and finds nothing of its own dealership', async () => {
  const { app, api, newKey } = await dealership();
  const { ctx } = await sandbox();
  const own = await api.post('/v1/vehicles', { condition: 'USED', make: 'Ford', model: 'Fiesta' }).succeeds(201);
  const { key } = await newKey({ environment: 'test' });
  const there = assistant(app, key);
  const shared = await speak(app, key).post('/v1/vehicles', { condition: 'USED', make: 'Ford', model: 'Of the sandbox' }).succeeds(201);
  assert.equal((await there.call('get_vehicle', { id: shared.id })).model, 'Of the sandbox');
  await there.refuses('get_vehicle', { id: own.id }, 'not_found');
  await assistant(app, api.key).refuses('get_vehicle', { id: shared.id }, 'not_found');
  const { rows } = await home.service.pools.doors.query('select dealer_id from vehicle where id = $1', [shared.id]);
  assert.deepEqual(rows, [{ dealer_id: ctx.dealer.id }]);
});
