import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { house } from '../../test/support/dealership.ts';
import { openApi } from './openapi.ts';

test('the interactive reference loads nothing from anybody else', async () => {
  const { app } = await house();
  const { statusCode, headers, payload } = await app.inject('/docs');
  assert.deepEqual([statusCode, headers['content-type']], [200, 'text/html; charset=utf-8']);
  const addresses = [...payload.matchAll(/(?:src|href|data-url)="([^"]*)"/g)].map(([, address]) => address);
  assert.deepEqual(addresses, ['openapi.json', 'openapi.json', 'docs/reference.js']);

  // A browser holds the program to it, whatever it would like to ask.
  const policy = String(headers['content-security-policy']);
  assert.match(policy, /^default-src 'none';/);
  const sources = policy.split(';').flatMap((directive) => directive.trim().split(' ').slice(1));
  const others = sources.filter(
    (source) => !["'none'", "'self'", "'unsafe-inline'", 'data:', 'blob:', 'http://127.0.0.1:4000'].includes(source),
  );
  assert.deepEqual(others, []);
  assert.doesNotMatch(policy, /script-src[^;]*unsafe/);
});

test('its program is served from here, compressed', async () => {
  const { app } = await house();
  const { statusCode, headers, rawPayload } = await app.inject('/docs/reference.js');
  assert.deepEqual([statusCode, headers['content-type'], headers['content-encoding']], [200, 'text/javascript; charset=utf-8', 'gzip']);
  assert.match(gunzipSync(rawPayload).toString(), /createApiReference/);
});

test('what is read beside the operations answers HEAD as it answers GET', async () => {
  const { app } = await house();
  for (const url of ['/healthz', '/readyz', '/openapi.json', '/docs', '/docs/reference.js', '/docs/errors']) {
    const [got, told] = [await app.inject(url), await app.inject({ method: 'HEAD', url })];
    assert.deepEqual([told.statusCode, told.headers['content-type'], told.rawPayload.length], [200, got.headers['content-type'], 0], url);
  }
});

test('the document it shows is the one that is served, with an answer of the demo dealer for every operation', async () => {
  const { app } = await house();
  const { payload } = await app.inject('/openapi.json');
  const { paths } = JSON.parse(payload) as ReturnType<typeof openApi>;
  assert.deepEqual(paths, JSON.parse(JSON.stringify(openApi('http://127.0.0.1:4000').paths)));
  const shown = Object.values(paths).flatMap((methods) => Object.values(methods));
  assert.ok(shown.length > 0);
  for (const { operationId, responses } of shown) {
    const success = Object.entries(responses).filter(([status]) => status.startsWith('2'));
    // The acknowledgement of a notification has no body.
    const withBody = success.filter(([status]) => `${operationId} ${status}` !== 'mcp.send 202');
    for (const [status, { content }] of withBody) assert.ok(content?.['application/json']?.example, `${operationId} ${status}`);
  }
});

test('its examples have the addresses of the server that shows them', () => {
  const document = JSON.stringify(openApi('https://api.example.com'));
  assert.match(document, /"https:\/\/api\.example\.com\/files\/[^"]+\.jpg"/);
  assert.doesNotMatch(document, /127\.0\.0\.1/);
});
