import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OAuthRefusal } from '#platform/errors.ts';
import type { Kept } from './rules.ts';
import { addressWith, credentialsIn, isReuse, namedIn, presentedIn, refusedRefresh, scopesAskedFor } from './rules.ts';

const refusedAs = (error: string, work: () => unknown, what?: string) =>
  assert.throws(work, (thrown) => thrown instanceof OAuthRefusal && thrown.error === error, what);

test('the address that leads back stays as it was registered, whatever its query', () => {
  const told = { code: 'a b', state: 'x&y', nothing: null };
  const query = 'code=a+b&state=x%26y';
  assert.equal(addressWith('https://a.example/cb', told), `https://a.example/cb?${query}`);
  assert.equal(addressWith('https://a.example/cb?x=%20y', told), `https://a.example/cb?x=%20y&${query}`);
  assert.equal(addressWith('https://a.example/cb?', told), `https://a.example/cb?${query}`);
  assert.equal(addressWith('https://a.example/cb?x&', told), `https://a.example/cb?x&${query}`);
  assert.equal(addressWith('com.example.app:/cb', told), `com.example.app:/cb?${query}`);
});

test('scopes are parted by spaces, each counts once, in the order they are named', () => {
  assert.deepEqual(namedIn('  b:read a:read b:read '), ['b:read', 'a:read']);
  assert.deepEqual([namedIn(''), namedIn(undefined), namedIn('  ')], [[], [], []]);
});

test('what is wrong with a request to authorise is told in one order', () => {
  const registered = ['vehicles:read', 'customers:read'] as const;
  const right = { response_type: 'code', code_challenge: 'a'.repeat(43), code_challenge_method: 'S256', scope: 'vehicles:read' };
  assert.deepEqual(scopesAskedFor(right, null, registered), ['vehicles:read']);
  assert.deepEqual(scopesAskedFor({ ...right, scope: ' ' }, null, registered), registered);
  const steps = [
    ['invalid_request', { response_type: 'token', code_challenge: '', scope: 'x' }, 'sent twice'],
    ['unsupported_response_type', { response_type: 'token', code_challenge: '', scope: 'x' }, null],
    ['invalid_request', { code_challenge_method: 'plain', scope: 'x' }, null],
    ['invalid_request', { code_challenge: 'short', scope: 'x' }, null],
    ['invalid_scope', { scope: 'x' }, null],
  ] as const;
  for (const [error, other, problem] of steps) refusedAs(error, () => scopesAskedFor({ ...right, ...other }, problem, registered));
});

test('both halves of Basic are form-encoded, and what cannot be decoded is taken as it is', () => {
  const basic = (text: string) => credentialsIn({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });
  assert.deepEqual(basic('id:secret'), { clientId: 'id', secret: 'secret' });
  assert.deepEqual(basic('i%3Ad:s+%25'), { clientId: 'i:d', secret: 's %' });
  assert.deepEqual(basic('id:s%zz'), { clientId: 'id', secret: 's%zz' });
  assert.deepEqual(basic('id:a:b'), { clientId: 'id', secret: 'a:b' }, 'parted at the first colon');
  assert.deepEqual(credentialsIn({ authorization: null, client_id: 'id', client_secret: 's' }), { clientId: 'id', secret: 's' });
  for (const authorization of [
    '',
    'Basic',
    'Basic ',
    'Basic a b',
    'Digest x',
    'BasicaWQ6',
    `Basic ${Buffer.from('no colon').toString('base64')}`,
  ])
    refusedAs('invalid_client', () => credentialsIn({ authorization, client_id: 'id', client_secret: 's' }), authorization);
  refusedAs('invalid_client', () => credentialsIn({ authorization: null, client_id: 'id' }));
});

test('a verifier has 43 to 128 characters of its alphabet', () => {
  const presented = (code_verifier: string) => () =>
    presentedIn({ grant_type: 'authorization_code', code: 'c', redirect_uri: 'r', code_verifier });
  for (const right of ['a'.repeat(43), 'a'.repeat(128), `${'-._~'.repeat(11)}Z9`]) presented(right)();
  for (const wrong of ['a'.repeat(42), 'a'.repeat(129), `${'a'.repeat(43)}+`, `${'a'.repeat(43)}\n`, `${'a'.repeat(43)}é`])
    refusedAs('invalid_request', presented(wrong), wrong);
});

test('a second use is one whatever else is wrong, but of another app’s', () => {
  const kept: Kept = { appId: 'mine', usedAt: '2026-01-31T00:00:00.000000Z', expired: true, revoked: true };
  assert.equal(isReuse(kept, 'mine'), true);
  assert.equal(isReuse(kept, 'another'), false);
  assert.equal(isReuse({ ...kept, usedAt: null }, 'mine'), false);
  assert.equal(isReuse(undefined, 'mine'), false);
});

test('of a refresh token that can be used still, and of no other, it is told that the scope is too much', () => {
  const alive = { appId: 'mine', usedAt: null, expired: false, revoked: false, scopes: ['vehicles:read'] };
  const said = (kept: Parameters<typeof refusedRefresh>[0], asked: readonly string[] | null) => refusedRefresh(kept, 'mine', asked).error;
  assert.equal(said(alive, ['sales:read']), 'invalid_scope');
  assert.equal(said(alive, ['vehicles:read']), 'invalid_grant');
  assert.equal(said(alive, null), 'invalid_grant');
  for (const other of [{ appId: 'another' }, { usedAt: '2026-01-31T00:00:00.000000Z' }, { expired: true }, { revoked: true }])
    assert.equal(said({ ...alive, ...other }, ['sales:read']), 'invalid_grant', JSON.stringify(other));
  assert.equal(said(undefined, ['sales:read']), 'invalid_grant');
});
