import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { buildApi } from '../../src/app/api.ts';
import type { Dealership } from '../support/dealership.ts';
import { dealership } from '../support/dealership.ts';
import { assistant } from '../support/mcp.ts';
import type { Connected } from '../support/oauth.ts';
import { connected, formOf, partner, postForm, refresh } from '../support/oauth.ts';
import { recordTraffic } from '../support/traffic.ts';

// An app with an OAuth token, and the pages it may live in.

const own = 'http://127.0.0.1:4000';
const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
let home: Dealership;
let app: Connected;

before(async () => {
  home = await dealership();
  app = await connected(home, {
    partner: await partner(home.service, { scopes: ['vehicles:read', 'vehicles:write', 'enquiries:write'] }),
    scopes: ['vehicles:read', 'enquiries:write'],
  });
});

test('an OAuth token without an Origin is no page’s, and passes', async () => {
  const { status, body, headers } = await assistant(home.app, app.access).send(ping);
  assert.deepEqual([status, body.result], [200, {}]);
  assert.equal(headers['access-control-allow-origin'], undefined);
});

test('with the Origin of this server, the one on the list unless others are named, it passes, and the page may read the answer', async () => {
  for (const origin of [own, 'HTTP://127.0.0.1:4000']) {
    const { status, headers } = await assistant(home.app, app.access).send(ping, { origin });
    assert.equal(status, 200);
    assert.equal(headers['access-control-allow-origin'], origin);
    assert.match(headers['access-control-expose-headers']!, /X-Request-Id.*WWW-Authenticate/);
  }
});

test('with any other Origin it is refused, and that page may read why', async () => {
  for (const origin of [
    'https://elsewhere.example',
    'http://127.0.0.1:4001',
    'https://127.0.0.1:4000',
    `${own}.evil.example`,
    'null',
    '',
  ]) {
    const { status, body, headers } = await assistant(home.app, app.access).send(ping, { origin });
    assert.deepEqual([status, body.code, body.required], [403, 'origin_not_allowed', { restriction: 'origins' }], origin);
    assert.equal(headers['access-control-allow-origin'], origin);
  }
});

test('the operator’s list takes the place of this server’s own origin', async () => {
  const listed: FastifyInstance = recordTraffic(
    buildApi({
      service: home.service,
      baseUrl: own,
      trustedProxies: [],
      mcpOrigins: ['https://assistant.example', 'http://localhost:8080'],
    }),
  );
  const there = assistant(listed, app.access);
  for (const origin of ['https://assistant.example', 'http://localhost:8080'])
    assert.equal((await there.send(ping, { origin })).status, 200);
  for (const origin of [own, 'https://assistant.example:8443', 'http://localhost']) {
    const { status, body } = await there.send(ping, { origin });
    assert.deepEqual([status, body.code], [403, 'origin_not_allowed'], origin);
  }
  await listed.close();
});

test('an operation of the API is none of that list’s business', async () => {
  const { statusCode } = await home.app.inject({
    url: '/v1/me',
    headers: { authorization: `Bearer ${app.access}`, origin: 'https://elsewhere.example' },
  });
  assert.equal(statusCode, 200);
});

test('a page on the list may read that it has no token yet, and where to get one', async () => {
  const { status, headers } = await assistant(home.app, null).send(ping, { origin: own });
  assert.equal(status, 401);
  assert.equal(headers['access-control-allow-origin'], own);
  assert.match(headers['access-control-expose-headers']!, /WWW-Authenticate/);
  assert.match(headers['www-authenticate']!, /resource_metadata="/);
});

test('a page on the list, or on that of the key it sends, may read that the endpoint takes another kind of key', async () => {
  const { key } = await home.newKey({ kind: 'publishable', origins: ['https://shop.example'] });
  for (const origin of ['https://shop.example', own]) {
    const { status, headers } = await assistant(home.app, key).send(ping, { origin });
    assert.equal(status, 403);
    assert.equal(headers['access-control-allow-origin'], origin);
  }
  const { body } = await assistant(home.app, key).send(ping, { origin: 'https://shop.example' });
  assert.equal(body.code, 'secret_key_required');
});

test('a page on the list may read that there is no stream, one that is not may not', async () => {
  const ask = (origin: string) => home.app.inject({ url: '/v1/mcp', headers: { authorization: `Bearer ${app.access}`, origin } });
  const [listed, other] = [await ask(own), await ask('https://elsewhere.example')];
  assert.deepEqual([listed.statusCode, listed.headers['access-control-allow-origin']], [405, own]);
  assert.deepEqual([other.statusCode, other.headers['access-control-allow-origin']], [405, undefined]);
});

test('a preflight of the endpoint lets a page send the version of the protocol', async () => {
  const { statusCode, headers } = await home.app.inject({ method: 'OPTIONS', url: '/v1/mcp', headers: { origin: own } });
  assert.equal(statusCode, 204);
  assert.equal(headers['access-control-allow-headers'], 'Authorization, Content-Type, Idempotency-Key, MCP-Protocol-Version');
});

test('an app is told of the tools its token is good for, however much the app or its user might do', async () => {
  const names = ['search_vehicles', 'get_vehicle', 'stock_summary', 'create_enquiry'];
  assert.deepEqual(await assistant(home.app, app.access).tools(), names);
  const fresh = await connected(home, { partner: app.partner, scopes: ['vehicles:read', 'enquiries:write'] });
  const { body } = await refresh(home, fresh.partner, fresh.refreshToken, { scope: 'enquiries:write' });
  assert.deepEqual(await assistant(home.app, body.access_token).tools(), ['create_enquiry']);
});

test('what an app records through a tool says whose app it was, and is not recorded twice under one key by any of its tokens', async () => {
  const made = await connected(home, { partner: app.partner, scopes: ['vehicles:read', 'enquiries:write'] });
  const contact = { last_name: 'Rowan', email: 'by-app@customer.example' };
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'create_enquiry', arguments: { contact } } };
  const first = await assistant(home.app, made.access).send(message, { 'idempotency-key': 'lead' });
  const { body: renewed } = await refresh(home, made.partner, made.refreshToken);
  const second = await assistant(home.app, renewed.access_token).send(message, { 'idempotency-key': 'lead' });
  assert.equal(second.headers['idempotent-replayed'], 'true');
  assert.deepEqual(second.body, first.body);
  const [enquiry] = await home.api.get('/v1/enquiries?email=by-app@customer.example').succeeds();
  const [event] = await home.api.get(`/v1/events?type=enquiry.created&object_id=${enquiry.id}`).succeeds();
  assert.deepEqual([event.actor.kind, event.actor.name], ['oauth_app', 'Partner']);
});

test('a revoked app is refused at its next message, and told that its token is at fault', async () => {
  const made = await connected(home, { partner: app.partner, scopes: ['vehicles:read'] });
  const there = assistant(home.app, made.access);
  assert.equal((await there.send(ping)).status, 200);
  await postForm(home.app, '/v1/oauth/revoke', made.partner, { token: made.refreshToken });
  const { status, body, headers } = await there.send(ping);
  assert.deepEqual([status, body.code], [401, 'api_key_revoked']);
  assert.match(headers['www-authenticate']!, /, error="invalid_token"$/);
});

test('the way from the 401 to a token is walked by what the documents say alone', async () => {
  const get = async (url: string) => JSON.parse((await home.app.inject({ url: new URL(url).pathname })).payload);
  const { headers } = await assistant(home.app, null).send(ping);
  const resource = await get(/resource_metadata="([^"]+)"/.exec(headers['www-authenticate']!)![1]!);
  assert.equal(resource.resource, `${own}/v1/mcp`);
  const [issuer] = resource.authorization_servers;
  const server = await get(`${issuer}/.well-known/oauth-authorization-server`);
  assert.equal(server.issuer, issuer);
  for (const address of [server.authorization_endpoint, server.token_endpoint]) {
    const { statusCode } = await home.app.inject({ method: 'POST', url: new URL(address).pathname, payload: formOf({}) });
    assert.notEqual(statusCode, 404, address);
  }
});
