import assert from 'node:assert/strict';
import { test } from 'node:test';
import { speak } from '../../../test/support/api.ts';
import { dealership } from '../../../test/support/dealership.ts';
import { approved, connected, exchangeCode, postForm, refresh } from '../../../test/support/oauth.ts';

test('an approved code is exchanged once for tokens, which are used like keys', async () => {
  const dealer = await dealership();
  const flow = await approved(dealer);
  const { status, body, headers } = await exchangeCode(dealer, flow);
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual(Object.keys(body), ['access_token', 'token_type', 'expires_in', 'refresh_token', 'scope']);
  assert.deepEqual([body.token_type, body.expires_in, body.scope], ['Bearer', 3600, 'vehicles:read vehicles:write']);
  assert.match(body.access_token, /^svc_oat_[0-9A-Za-z]{38}$/);
  assert.match(body.refresh_token, /^svc_ort_[0-9A-Za-z]{38}$/);
  assert.deepEqual([headers['cache-control'], headers.pragma], ['no-store', 'no-cache']);
  const api = speak(dealer.app, body.access_token);
  const me = await api.get('/v1/me').succeeds();
  assert.deepEqual([me.key.kind, me.key.lookup, me.app.name, me.owner.id], ['oauth', null, 'Partner', dealer.owner.id]);
  await api.get('/v1/vehicles').succeeds();
  await api.get('/v1/customers').refuses(403, 'insufficient_scope');
});

test('a refresh token is accepted once and replaced; revoking it ends everything', async () => {
  const dealer = await dealership();
  const { partner, access, refreshToken } = await connected(dealer);
  const next = await refresh(dealer, partner, refreshToken);
  assert.equal(next.status, 200, JSON.stringify(next.body));
  await speak(dealer.app, access).get('/v1/me').succeeds();
  const revoked = await postForm(dealer.app, '/v1/oauth/revoke', partner, { token: next.body.refresh_token });
  assert.deepEqual([revoked.status, revoked.body], [200, {}]);
  for (const token of [access, next.body.access_token]) await speak(dealer.app, token).get('/v1/me').refuses(401, 'api_key_revoked');
});
