import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildApi } from '../../src/app/api.ts';
import { dealership, house } from '../support/dealership.ts';
import { say } from '../support/oauth.ts';

const issuer = 'http://127.0.0.1:4000';

test('authorise, token and revoke share 60 calls a minute per client address, whatever is answered', async (t) => {
  const { service } = await house();
  const app = buildApi({ service, baseUrl: issuer, trustedProxies: ['10.0.0.0/8'] });
  t.after(() => app.close());
  const ask = (remoteAddress: string, headers: Record<string, string> = {}, i = 0) => {
    const [method, url] = (
      [
        ['GET', 'authorize'],
        ['POST', 'token'],
        ['POST', 'revoke'],
        ['DELETE', 'token'],
      ] as const
    )[i % 4]!;
    return say(app, { method, url: `/v1/oauth/${url}`, remoteAddress, headers });
  };
  const visitor = '203.0.113.90';
  const answers = [];
  for (let i = 0; i < 60; i++) answers.push((await ask(visitor, { 'x-forwarded-for': `198.51.100.${i}` }, i)).status);
  assert.deepEqual([...new Set(answers)].sort(), [400, 401, 405], 'a forged address is nobody’s');

  for (let i = 0; i < 4; i++) {
    const { status, body, headers } = await ask(visitor, {}, i);
    assert.equal(status, 429);
    const wait = Number(headers['retry-after']);
    assert.ok(Number.isInteger(wait) && wait >= 1 && wait <= 60);
    const { request_id, message, doc_url, error_description, ...rest } = body;
    assert.deepEqual(rest, { error: 'temporarily_unavailable', success: false, code: 'rate_limited' });
    assert.deepEqual([request_id, typeof message, typeof error_description], [headers['x-request-id'], 'string', 'string']);
    assert.equal(headers['x-ratelimit-limit'], undefined);
    assert.equal(headers['cache-control'], 'no-store');
  }
  assert.equal((await say(app, { method: 'OPTIONS', url: '/v1/oauth/token', remoteAddress: visitor })).status, 204);
  assert.equal((await ask('203.0.113.91')).status, 400);
  assert.equal(
    (await say(app, { method: 'GET', url: '/v1/me', remoteAddress: visitor })).headers['x-ratelimit-remaining'],
    '59',
    'the API counts apart',
  );

  const through = (chain: string) => ask('10.1.2.3', { 'x-forwarded-for': chain });
  assert.equal((await through(visitor)).status, 429, 'a trusted proxy says who asks');
  assert.equal((await through(`1.2.3.4, ${visitor}`)).status, 429, 'and what stands before that was written by the asker');
  assert.equal((await through(`${visitor}, 203.0.113.92`)).status, 400);

  for (let i = 0; i < 60; i++) await ask(`2001:db8:5:6::${i + 1}`);
  assert.deepEqual([(await ask('2001:db8:5:6:ffff::1')).status, (await ask('2001:db8:5:7::1')).status], [429, 400], 'IPv6 by /64');
});

test('the window ends 60 seconds after its first call, and the operator may allow more', async (t) => {
  const { service, clock } = await house();
  const app = buildApi({ service, baseUrl: issuer, trustedProxies: [], oauthCallsPerMinute: 2 });
  t.after(() => app.close());
  const ask = () => say(app, { method: 'POST', url: '/v1/oauth/token', remoteAddress: '203.0.113.95' });
  clock.set('2033-01-01T00:00:00Z');
  try {
    assert.deepEqual([(await ask()).status, (await ask()).status], [401, 401]);
    clock.move({ seconds: 40 });
    for (let i = 0; i < 3; i++) assert.equal((await ask()).headers['retry-after'], '20');
    clock.move({ seconds: 20 });
    assert.equal((await ask()).status, 401);
  } finally {
    clock.release();
  }
});

test('clients read where and how to ask, from any page', async () => {
  const { app } = await dealership();
  const url = '/.well-known/oauth-authorization-server';
  const { status, headers, body } = await say(app, { method: 'GET', url });
  assert.equal(status, 200);
  assert.equal(headers['access-control-allow-origin'], '*');
  const methods = ['client_secret_basic', 'client_secret_post'];
  assert.deepEqual(body, {
    issuer,
    authorization_endpoint: `${issuer}/v1/oauth/authorize`,
    token_endpoint: `${issuer}/v1/oauth/token`,
    revocation_endpoint: `${issuer}/v1/oauth/revoke`,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: methods,
    revocation_endpoint_auth_methods_supported: methods,
    authorization_response_iss_parameter_supported: true,
    service_documentation: `${issuer}/docs`,
  });
  assert.equal((await say(app, { method: 'HEAD', url })).status, 200);
});
