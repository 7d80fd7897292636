import assert from 'node:assert/strict';
import { test } from 'node:test';
import { speak } from '../support/api.ts';
import { dealership } from '../support/dealership.ts';

const page = 'https://www.example.com';
const exposed = 'X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, Idempotent-Replayed';

test('a preflight is answered without a key for any origin: 204, GET and POST, the three headers, for 600 seconds', async () => {
  const { app } = await dealership();
  for (const origin of [page, 'https://elsewhere.example', 'null']) {
    const { statusCode, headers, body } = await app.inject({
      method: 'OPTIONS',
      url: '/v1/vehicles',
      headers: { origin, 'access-control-request-method': 'GET', 'access-control-request-headers': 'authorization' },
    });
    assert.equal(statusCode, 204);
    assert.equal(body, '');
    assert.equal(headers['access-control-allow-origin'], origin);
    assert.equal(headers['access-control-allow-methods'], 'GET, POST');
    assert.equal(headers['access-control-allow-headers'], 'Authorization, Content-Type, Idempotency-Key');
    assert.equal(headers['access-control-max-age'], '600');
    assert.equal(headers['access-control-allow-credentials'], undefined);
    assert.equal(headers.vary, 'Origin');
    assert.ok(headers['x-request-id']);
  }
});

test('every path of the API takes a preflight, with an id in it too', async () => {
  const { app } = await dealership();
  for (const url of ['/v1/me', '/v1/vehicles/00000000-0000-0000-0000-000000000000', '/v1/reference/vehicle-statuses', '/v1/branches']) {
    assert.equal((await app.inject({ method: 'OPTIONS', url, headers: { origin: page } })).statusCode, 204, url);
  }
});

test('the real response names the origin only for publishable keys whose list has it, and exposes what a page needs', async () => {
  const { apiWith } = await dealership();
  const api = await apiWith({ kind: 'publishable', origins: [page, 'https://shop.example'] });
  for (const origin of [page, 'https://shop.example', 'https://WWW.EXAMPLE.COM:443']) {
    const { status, headers } = await api.get('/v1/vehicles', { origin });
    assert.equal(status, 200);
    assert.equal(headers['access-control-allow-origin'], origin);
    assert.equal(headers['access-control-expose-headers'], exposed);
    assert.equal(headers['access-control-allow-credentials'], undefined);
    assert.equal(headers.vary, 'Origin');
  }
});

test('without an Origin a publishable key is allowed, and nothing is said of origins but that they matter', async () => {
  const { apiWith } = await dealership();
  const { status, headers } = await (await apiWith({ kind: 'publishable' })).get('/v1/vehicles');
  assert.equal(status, 200);
  assert.equal(headers['access-control-allow-origin'], undefined);
  assert.equal(headers.vary, 'Origin');
});

test('error responses to an allowed origin carry it too, otherwise browsers hide the code', async () => {
  const { newKey, keys, newUser, ctx, app } = await dealership();
  const blind = await newUser({ role: 'TECHNICIAN' });
  const readable = async (key: string, path: string, code: string, method: 'get' | 'post' | 'put' = 'get') => {
    const api = speak(app, key);
    const asked = method === 'get' ? api.get(path, { origin: page }) : api[method](path, {}, { origin: page });
    const { body, headers } = await asked;
    assert.equal(body.code, code);
    assert.equal(headers['access-control-allow-origin'], page, code);
    assert.equal(headers['access-control-expose-headers'], exposed, code);
    assert.equal(headers.vary, 'Origin', code);
  };
  const { key } = await newKey({ kind: 'publishable' });
  await readable(key, '/v1/nothing', 'not_found');
  await readable(key, '/v1/vehicles/%ZZ', 'not_found');
  await readable(key, '/v1/vehicles/x', 'not_found');
  await readable(key, '/v1/vehicles?limit=0', 'validation_failed');
  await readable(key, '/v1/vehicles', 'secret_key_required', 'post');
  await readable(key, '/v1/vehicles', 'method_not_allowed', 'put');
  await readable((await newKey({ kind: 'publishable', ownerId: blind.id })).key, '/v1/vehicles', 'scope_not_permitted_for_owner');
  const limited = await newKey({ kind: 'publishable', rateLimit: 1 });
  await speak(app, limited.key).get('/v1/me');
  await readable(limited.key, '/v1/me', 'rate_limited');
  const expired = await newKey({ kind: 'publishable', expiresAt: '2020-01-01T00:00:00Z' });
  await readable(expired.key, '/v1/me', 'api_key_expired');
  const revoked = await newKey({ kind: 'publishable' });
  await keys.revoke(ctx, revoked.id);
  await readable(revoked.key, '/v1/me', 'api_key_revoked');
});

test('the 403 origin_not_allowed alone is readable by the page it refuses, Origin: null among them', async () => {
  const { newKey, app } = await dealership();
  const { key } = await newKey({ kind: 'publishable', rateLimit: 2 });
  for (const origin of ['https://elsewhere.example', 'null']) {
    const { body, headers } = await speak(app, key).get('/v1/me', { origin });
    assert.equal(body.code, 'origin_not_allowed');
    assert.equal(headers['access-control-allow-origin'], origin);
    assert.equal(headers['access-control-expose-headers'], exposed);
    assert.equal(headers.vary, 'Origin');
  }
  const { body, headers } = await speak(app, key).get('/v1/me', { origin: 'https://elsewhere.example' });
  assert.equal(body.code, 'rate_limited');
  assert.equal(headers['access-control-allow-origin'], undefined);
});

test('a secret key, an unknown key and no key are told to no page', async () => {
  const { api, app } = await dealership();
  for (const [key, code] of [
    [api.key, 'secret_key_in_browser'],
    ['svc_live_pk_unknown', 'invalid_api_key'],
    [null, 'missing_api_key'],
  ] as const) {
    for (const path of ['/v1/me', '/v1/vehicles']) {
      const { body, headers } = await speak(app, key).get(path, { origin: page });
      assert.equal(body.code, code);
      assert.equal(headers['access-control-allow-origin'], undefined);
      assert.equal(headers.vary, 'Origin');
    }
  }
});
