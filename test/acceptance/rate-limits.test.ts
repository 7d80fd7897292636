import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dealership, house } from '../support/dealership.ts';
import { script, start } from '../support/processes.ts';

const rate = (headers: Record<string, string>) => ['x-ratelimit-limit', 'x-ratelimit-remaining'].map((name) => Number(headers[name]));

test('all requests made with one key share one allowance: of 121 from 4 processes at once exactly 120 pass, Remaining covering 119 to 0 once each', async (t) => {
  const { newKey, databaseUrl } = await dealership();
  const { key } = await newKey();
  const servers = await Promise.all(Array.from({ length: 4 }, () => start(t, script('api-process.ts'), { DATABASE_URL: databaseUrl })));
  const answers = await Promise.all(
    Array.from({ length: 121 }, (_, i) => fetch(`${servers[i % 4]!.url}/v1/reference`, { headers: { authorization: `Bearer ${key}` } })),
  );
  const passed = answers.filter(({ status }) => status === 200);
  assert.equal(passed.length, 120);
  const remaining = passed.map(({ headers }) => Number(headers.get('x-ratelimit-remaining'))).sort((a, b) => a - b);
  assert.deepEqual(
    remaining,
    Array.from({ length: 120 }, (_, i) => i),
  );
  const [refused] = answers.filter(({ status }) => status !== 200);
  assert.equal(refused?.status, 429);
  assert.equal(refused.headers.get('x-ratelimit-remaining'), '0');
  const wait = Number(refused.headers.get('retry-after'));
  assert.ok(Number.isInteger(wait) && wait >= 1 && wait <= 60);
  assert.equal(((await refused.json()) as { code: string }).code, 'rate_limited');
});

test('a secret key has 120 requests a minute, a publishable key 300, and an operator may set another number', async () => {
  const { apiWith } = await dealership();
  const limitOf = async (options: Parameters<typeof apiWith>[0]) => rate((await (await apiWith(options)).get('/v1/me')).headers);
  assert.deepEqual(await limitOf({ rateLimit: null }), [120, 119]);
  assert.deepEqual(await limitOf({ kind: 'publishable', rateLimit: null }), [300, 299]);
  assert.deepEqual(await limitOf({ rateLimit: 7 }), [7, 6]);
});

test('every response says what is allowed and what is left: 401, 403, 404, 405, 409, 413, 422 and 429 too', async () => {
  const { api: free, newKey, keys, ctx } = await dealership();
  const { id, key } = await newKey({ rateLimit: 7 });
  const api = free.as(key);
  const json = { 'content-type': 'application/json' };
  const car = { condition: 'USED', make: 'Ford', model: 'Fiesta', external_id: 'taken' };
  await free.post('/v1/vehicles', car).succeeds(201);
  const told: number[][] = [];
  for (const ask of [
    () => api.get('/v1/nothing'),
    () => api.put('/v1/vehicles'),
    () => api.post('/v1/vehicles', 'x'.repeat(10 * 1024 * 1024 + 1), json),
    () => api.post('/v1/vehicles', {}),
    () => api.get('/v1/vehicles/00000000-0000-0000-0000-000000000000'),
    () => api.post('/v1/vehicles', car),
    () => api.get('/v1/me', { origin: 'https://www.example.com' }),
    () => api.get('/v1/me'),
    () => keys.revoke(ctx, id).then(() => api.get('/v1/me')),
  ]) {
    const { status, headers } = await ask();
    assert.equal(headers['x-ratelimit-limit'], '7');
    assert.ok(Number(headers['x-ratelimit-reset']) >= 1);
    assert.equal(headers['retry-after'], status === 429 ? headers['x-ratelimit-reset'] : undefined);
    told.push([status, Number(headers['x-ratelimit-remaining'])]);
  }
  assert.deepEqual(told, [
    ...[
      [404, 6],
      [405, 5],
      [413, 4],
      [422, 3],
      [404, 2],
      [409, 1],
    ],
    ...[
      [403, 0],
      [429, 0],
      [401, 0],
    ],
  ]);
});

test('a window is 60 seconds from the first request, and a refused request does not lengthen it', async () => {
  const { apiWith, clock } = await dealership();
  const api = await apiWith({ rateLimit: 2 });
  clock.set('2031-01-01T00:00:30Z');
  try {
    await api.get('/v1/me').succeeds();
    clock.move({ seconds: 30 });
    await api.get('/v1/me').succeeds();
    assert.equal((await api.get('/v1/me')).headers['retry-after'], '30');
    clock.move({ seconds: 29 });
    await api.get('/v1/me').refuses(429, 'rate_limited');
    assert.equal((await api.get('/v1/me')).headers['retry-after'], '1');
    clock.move({ seconds: 1 });
    assert.deepEqual(rate((await api.get('/v1/me')).headers), [2, 1]);
  } finally {
    clock.release();
  }
});

test('a raised limit counts for the next request, also within a window that was used up', async () => {
  const { newKey, keys, ctx, api } = await dealership();
  const { id, key } = await newKey({ rateLimit: 1 });
  const limited = api.as(key);
  await limited.get('/v1/me').succeeds();
  await limited.get('/v1/me').refuses(429, 'rate_limited');
  await limited.get('/v1/me').refuses(429, 'rate_limited');
  await keys.change(ctx, id, { rateLimit: 3 });
  assert.deepEqual(rate((await limited.get('/v1/me')).headers), [3, 1]);
});

test('a rolled key keeps the allowance of the old one, and the old one still counts on it', async () => {
  const { newKey, keys, ctx, api } = await dealership();
  const { id, key } = await newKey();
  await api.as(key).get('/v1/me').succeeds();
  const rolled = await keys.roll(ctx, id);
  const old = await api.as(key).get('/v1/me');
  assert.equal(old.body.code, 'api_key_revoked');
  assert.deepEqual(rate(old.headers), [120, 118]);
  assert.deepEqual(rate((await api.as(rolled.key).get('/v1/me')).headers), [120, 117]);
});

test('a request without a matching key counts on its address, 60 a minute, and is still 401 when they are used up', async () => {
  const { app } = await house();
  const ask = (headers: Record<string, string> = {}) => app.inject({ url: '/v1/me', headers, remoteAddress: '203.0.113.77' });
  for (let i = 59; i >= 0; i--) assert.equal(Number((await ask()).headers['x-ratelimit-remaining']), i);
  const beyond = await ask({ authorization: 'Bearer nonsense' });
  assert.equal(beyond.statusCode, 401);
  assert.equal(JSON.parse(beyond.payload).code, 'invalid_api_key');
  assert.equal(Number(beyond.headers['x-ratelimit-remaining']), 0);
});

test('an IPv6 visitor is counted by its /64, an IPv4 address inside IPv6 as that address', async () => {
  const { app } = await house();
  const left = async (remoteAddress: string) =>
    Number((await app.inject({ url: '/v1/me', remoteAddress })).headers['x-ratelimit-remaining']);
  assert.equal(await left('2001:db8:1:2::1'), 59);
  assert.equal(await left('2001:db8:1:2:ffff::9'), 58);
  assert.equal(await left('2001:db8:1:3::1'), 59);
  assert.equal(await left('198.51.100.8'), 59);
  assert.equal(await left('::ffff:198.51.100.8'), 58);
  assert.equal(await left('::ffff:c633:6408'), 57);
});
