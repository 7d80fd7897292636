import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { apiClient } from './api-client.ts';

type Reply = { status: number; headers?: Record<string, string>; body: unknown } | 'hang up';

/** A client of a server that gives these answers in their order. The pauses it makes are noted, not slept. */
async function against(t: TestContext, replies: Reply[]) {
  const asked: Pick<IncomingMessage, 'method' | 'url' | 'headers'>[] = [];
  const server = createServer((request, response) => {
    asked.push(request);
    const reply = replies.shift() ?? 'hang up';
    if (reply === 'hang up') return void request.socket.destroy();
    response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers }).end(JSON.stringify(reply.body));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => void server.close());
  const pauses: number[] = [];
  const sleep = async (ms: number) => void pauses.push(ms);
  return { client: apiClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, 'a-key', sleep), asked, pauses };
}

const ok = { status: 200, body: { data: 1 } };

test('a 429 is waited out as long as it says', async (t) => {
  const limited = { status: 429, headers: { 'retry-after': '7' }, body: { code: 'rate_limited', message: 'Too many requests.' } };
  const { client, pauses } = await against(t, [limited, ok]);
  assert.deepEqual(await client.get('/v1/me'), { data: 1 });
  assert.deepEqual(pauses, [7000]);
});

test('who has nothing left of the allowance waits before asking again', async (t) => {
  const { client, pauses } = await against(t, [{ ...ok, headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '9' } }, ok]);
  await client.get('/v1/me');
  await client.get('/v1/me');
  assert.equal(pauses.length, 1);
  assert.ok(pauses[0]! > 0 && pauses[0]! <= 9000, 'the 9 seconds it was told of, less what has passed since');
});

test('a server in trouble is asked again with the same Idempotency-Key', async (t) => {
  const trouble = { status: 503, headers: { 'retry-after': '5' }, body: { code: 'service_unavailable', message: 'Busy.' } };
  const inUse = { status: 409, body: { code: 'idempotency_key_in_use', message: 'Running.' } };
  const { client, asked, pauses } = await against(t, [trouble, 'hang up', inUse, { status: 202, body: { data: 2 } }]);
  assert.deepEqual(await client.post('/v1/vehicles/batch', [{}], 'run-1'), { data: 2 });
  assert.deepEqual(
    asked.map(({ headers }) => [headers['idempotency-key'], headers.authorization]),
    Array(4).fill(['run-1', 'Bearer a-key']),
  );
  assert.deepEqual(pauses, [5000, 500, 1000]);
});

test('a refusal is told as it is, at once', async (t) => {
  const refusal = {
    status: 422,
    body: { code: 'validation_failed', message: 'The request has errors.', errors: { limit: ['At most 100.'] } },
  };
  const { client, asked } = await against(t, [refusal]);
  await assert.rejects(client.get('/v1/vehicles'), {
    message: 'The API refused (validation_failed): The request has errors. limit: At most 100.',
  });
  assert.equal(asked.length, 1);
});

test('a server that stays away is told in one line', async (t) => {
  const { client, asked } = await against(t, []);
  await assert.rejects(client.get('/v1/me'), /^Error: http:\/\/127\.0\.0\.1:\d+ does not answer \(.+\)\.$/);
  assert.equal(asked.length, 20);
});
