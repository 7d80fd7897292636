import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setUser } from '#modules/staff/index.ts';
import { speak } from '../support/api.ts';
import type { Dealership } from '../support/dealership.ts';
import { dealership } from '../support/dealership.ts';
import type { Flow, Said } from '../support/oauth.ts';
import { approved, basic, callback, connected, exchangeCode, formOf, partner, postForm, proof, refresh, say } from '../support/oauth.ts';

const form = { 'content-type': 'application/x-www-form-urlencoded' };
const json = { 'content-type': 'application/json' };

type Asked = { headers?: Record<string, string>; payload?: string | Buffer | object; url?: string };

const ask = ({ app }: Pick<Dealership, 'app'>, { headers = form, payload = '', url = '/v1/oauth/token' }: Asked): Promise<Said> =>
  say(app, { method: 'POST', url, headers, payload });

/** In the form of RFC 6749, kept by nobody, and with nothing in it that was not meant for the app’s developer. */
function assertRefused({ status, headers, body }: Said, expected: number, error: string, what?: string): void {
  assert.deepEqual([status, body.error], [expected, error], `${what} ${JSON.stringify(body)}`);
  assert.deepEqual(Object.keys(body), ['error', 'error_description'], what);
  assert.match(body.error_description, /^[\x20\x21\x23-\x5b\x5d-\x7e]+$/, 'RFC 6749, 5.2');
  assert.deepEqual([headers['cache-control'], headers.pragma], ['no-store', 'no-cache'], what);
  assert.equal(headers['content-type'], 'application/json; charset=utf-8');
  assert.equal(headers['www-authenticate'], expected === 401 ? 'Basic realm="Forecourt", charset="UTF-8"' : undefined, what);
  assert.equal(headers['x-ratelimit-limit'], undefined);
  assert.ok(headers['x-request-id']);
}

const parametersOf = ({ code, verifier }: Flow) => ({
  grant_type: 'authorization_code',
  code,
  redirect_uri: callback,
  code_verifier: verifier,
});

test('the client authenticates itself by HTTP Basic or in the body, the body a form or JSON', async () => {
  const dealer = await dealership();
  const app = await partner(dealer.service);
  const inBody = { client_id: app.clientId, client_secret: app.clientSecret };
  const inHeader = basic(app.clientId, app.clientSecret);
  const token = Buffer.from(`${app.clientId}:${app.clientSecret}`).toString('base64');
  const ways: Record<string, (sent: Record<string, string>) => Asked> = {
    'Basic and a form': (sent) => ({ headers: { ...form, ...inHeader }, payload: formOf(sent) }),
    'Basic and JSON': (sent) => ({ headers: { ...json, ...inHeader }, payload: sent }),
    'the body, a form': (sent) => ({ payload: formOf({ ...sent, ...inBody }) }),
    'the body, JSON': (sent) => ({ headers: json, payload: { ...sent, ...inBody } }),
    'a form with its charset': (sent) => ({
      headers: { 'content-type': 'application/x-www-form-urlencoded; charset=UTF-8', ...inHeader },
      payload: formOf(sent),
    }),
    'JSON with its charset, quoted': (sent) => ({
      headers: { 'content-type': 'Application/JSON;charset="utf-8"', ...inHeader },
      payload: JSON.stringify(sent),
    }),
    'basic in small letters': (sent) => ({ headers: { ...form, authorization: `basic   ${token}` }, payload: formOf(sent) }),
    'Basic without padding': (sent) => ({
      headers: { ...form, authorization: `Basic ${token.replaceAll('=', '')}` },
      payload: formOf(sent),
    }),
    'Basic, and its client_id in the body': (sent) => ({
      headers: { ...form, ...inHeader },
      payload: formOf({ ...sent, client_id: app.clientId }),
    }),
    'Basic, and an empty secret in the body': (sent) => ({
      headers: { ...form, ...inHeader },
      payload: formOf({ ...sent, client_secret: '' }),
    }),
    'unknown parameters besides, twice': (sent) => ({
      headers: { ...form, ...inHeader },
      payload: `${formOf(sent)}&resource=a&resource=b&audience=c`,
    }),
    'JSON with null and other types for what is unknown': (sent) => ({
      headers: { ...json, ...inHeader },
      payload: { ...sent, scope: null, resource: ['a'], ['__proto__']: 1, nested: { code: 1 } },
    }),
  };
  for (const [what, way] of Object.entries(ways)) {
    const flow = await approved(dealer, { partner: app });
    const { status, body } = await ask(dealer, way(parametersOf(flow)));
    assert.equal(status, 200, `${what} ${JSON.stringify(body)}`);
  }
});

test('who is not known to be the client is refused with 401, and nothing is used up', async () => {
  const dealer = await dealership();
  const flow = await approved(dealer);
  const other = await partner(dealer.service);
  const { clientId, clientSecret } = flow.partner;
  const sent = parametersOf(flow);
  const by = (authorization: string): Asked => ({ headers: { ...form, authorization }, payload: formOf(sent) });
  const basicOf = (text: string) => by(`Basic ${Buffer.from(text).toString('base64')}`);
  const unknown: Record<string, Asked> = {
    'no credentials': { payload: formOf(sent) },
    'no body either': {},
    'no secret': { payload: formOf({ ...sent, client_id: clientId }) },
    'an empty secret': { payload: formOf({ ...sent, client_id: clientId, client_secret: '' }) },
    'a wrong secret': { payload: formOf({ ...sent, client_id: clientId, client_secret: 'wrong' }) },
    'an unknown client': { payload: formOf({ ...sent, client_id: 'nobody', client_secret: clientSecret }) },
    'a secret alone': { payload: formOf({ ...sent, client_secret: clientSecret }) },
    'the secret of another app': basicOf(`${clientId}:${other.clientSecret}`),
    'a wrong secret in Basic': basicOf(`${clientId}:wrong`),
    'no secret in Basic': basicOf(`${clientId}:`),
    'no colon in Basic': basicOf(clientId),
    'nothing in Basic': by('Basic'),
    'no base64 in Basic': by('Basic !!!'),
    'a broken escape in Basic': basicOf(`${clientId}:%zz`),
    'U+0000 in Basic': basicOf(`${clientId}\u0000:${clientSecret}`),
    'no UTF-8 in Basic': by(`Basic ${Buffer.from([0xff, 0x3a, 0xfe]).toString('base64')}`),
    'a bearer token': by(`Bearer ${clientSecret}`),
    'a bearer token beside right credentials': {
      headers: { ...form, authorization: 'Bearer x' },
      payload: formOf({ ...sent, client_id: clientId, client_secret: clientSecret }),
    },
  };
  for (const [what, asked] of Object.entries(unknown)) {
    assertRefused(await ask(dealer, asked), 401, 'invalid_client', what);
    if (asked.payload !== undefined)
      assertRefused(await ask(dealer, { ...asked, url: '/v1/oauth/revoke' }), 401, 'invalid_client', `revoke: ${what}`);
  }
  assert.equal((await exchangeCode(dealer, flow)).status, 200);
});

test('two ways of authentication at once, or two clients, are no request', async () => {
  const dealer = await dealership();
  const flow = await approved(dealer);
  const { clientId, clientSecret } = flow.partner;
  const headers = { ...form, ...basic(clientId, clientSecret) };
  for (const more of [{ client_id: clientId, client_secret: clientSecret }, { client_secret: 'other' }, { client_id: 'other' }])
    assertRefused(await ask(dealer, { headers, payload: formOf({ ...parametersOf(flow), ...more }) }), 400, 'invalid_request');
  assert.equal((await exchangeCode(dealer, flow)).status, 200);
});

test('a parameter that is missing, empty, malformed or sent twice is an invalid request, and nothing is used up', async () => {
  const dealer = await dealership();
  const { partner: app, refreshToken } = await connected(dealer);
  const flow = await approved(dealer, { partner: app });
  const sent = parametersOf(flow);
  const wrong: Record<string, readonly [Record<string, string | undefined>, error?: string]> = {
    'no grant_type': [{ grant_type: undefined }],
    'an empty grant_type': [{ grant_type: '' }],
    'another grant_type': [{ grant_type: 'password' }, 'unsupported_grant_type'],
    'grant_type client_credentials': [{ grant_type: 'client_credentials' }, 'unsupported_grant_type'],
    'grant_type in other letters': [{ grant_type: 'Authorization_Code' }, 'unsupported_grant_type'],
    'no code': [{ code: undefined }],
    'an empty code': [{ code: '' }],
    'no redirect_uri': [{ redirect_uri: undefined }],
    'no code_verifier': [{ code_verifier: undefined }],
    'an empty code_verifier': [{ code_verifier: '' }],
    'a verifier of 42 characters': [{ code_verifier: 'a'.repeat(42) }],
    'a verifier of 129 characters': [{ code_verifier: 'a'.repeat(129) }],
    'a verifier with a space': [{ code_verifier: `${'a'.repeat(50)} ` }],
    'a verifier with a letter of no alphabet': [{ code_verifier: `${'a'.repeat(50)}ü` }],
    'a code with U+0000': [{ code: `${flow.code}\u0000` }],
    'no refresh_token': [{ grant_type: 'refresh_token' }],
    'an empty refresh_token': [{ grant_type: 'refresh_token', refresh_token: '' }],
  };
  for (const [what, [other, error = 'invalid_request']] of Object.entries(wrong))
    assertRefused(await postForm(dealer.app, '/v1/oauth/token', app, { ...sent, ...other }), 400, error, what);
  const headers = { ...form, ...basic(app.clientId, app.clientSecret) };
  for (const name of ['grant_type', 'code', 'redirect_uri', 'code_verifier', 'scope', 'client_id', 'client_secret']) {
    const payload = `${formOf({ ...sent, scope: 'vehicles:read' })}&${name}=x&${name}=x`;
    assertRefused(await ask(dealer, { headers, payload }), 400, 'invalid_request', `${name} twice`);
  }
  for (const payload of ['token=a&token=b', 'token=', '', 'token_type_hint=access_token'])
    assertRefused(await ask(dealer, { headers, payload, url: '/v1/oauth/revoke' }), 400, 'invalid_request', payload);
  assert.equal((await exchangeCode(dealer, flow)).status, 200);
  assert.equal((await refresh(dealer, app, refreshToken)).status, 200);
});

test('a body that is neither a form nor a JSON object of texts is an invalid request', async () => {
  const dealer = await dealership();
  const flow = await approved(dealer);
  const { clientId, clientSecret } = flow.partner;
  const sent = parametersOf(flow);
  const who = basic(clientId, clientSecret);
  const bodies: Record<string, Asked> = {
    'no content type': { headers: who, payload: Buffer.from(formOf(sent)) },
    'a content type of neither': { headers: { ...who, 'content-type': 'text/plain' }, payload: formOf(sent) },
    multipart: { headers: { ...who, 'content-type': 'multipart/form-data; boundary=x' }, payload: formOf(sent) },
    'another charset': {
      headers: { ...who, 'content-type': 'application/x-www-form-urlencoded; charset=iso-8859-1' },
      payload: formOf(sent),
    },
    'a packed body': { headers: { ...who, ...form, 'content-encoding': 'gzip' }, payload: formOf(sent) },
    'no JSON': { headers: { ...who, ...json }, payload: '{"grant_type":' },
    'a JSON list': { headers: { ...who, ...json }, payload: '[]' },
    'JSON null': { headers: { ...who, ...json }, payload: 'null' },
    'a JSON text': { headers: { ...who, ...json }, payload: '"x"' },
    'deep JSON': { headers: { ...who, ...json }, payload: '['.repeat(60_000) },
    'a code that is a number': { headers: { ...who, ...json }, payload: { ...sent, code: 5 } },
    'a code that is a list': { headers: { ...who, ...json }, payload: { ...sent, code: [flow.code] } },
    'a grant_type that is an object': { headers: { ...who, ...json }, payload: { ...sent, grant_type: { $ne: null } } },
    'half a character in JSON': { headers: { ...who, ...json }, payload: `{"grant_type":"\\ud800"}` },
    'a body that is no UTF-8': {
      headers: { ...who, ...form },
      payload: Buffer.concat([Buffer.from(`${formOf(sent)}&state=`), Buffer.from([0xff])]),
    },
  };
  for (const [what, asked] of Object.entries(bodies)) assertRefused(await ask(dealer, asked), 400, 'invalid_request', what);
  const large = await ask(dealer, { headers: { ...who, ...form }, payload: `${formOf(sent)}&x=${'x'.repeat(65_536)}` });
  assertRefused(large, 413, 'invalid_request');
  assert.equal((await exchangeCode(dealer, flow)).status, 200);
});

test('a code is good for its app, its address and its verifier alone; one that is presented wrongly is not used up', async () => {
  const dealer = await dealership();
  const flow = await approved(dealer);
  const other = await approved(dealer);
  const wrong: Record<string, Promise<Said>> = {
    'of another app': exchangeCode(dealer, { ...flow, partner: other.partner }),
    'with another verifier': exchangeCode(dealer, flow, { code_verifier: proof().verifier }),
    'with the challenge for a verifier': exchangeCode(dealer, flow, { code_verifier: proof().challenge }),
    'with another registered address': exchangeCode(dealer, flow, { redirect_uri: 'http://127.0.0.1:33418/' }),
    'with an address of nobody': exchangeCode(dealer, flow, { redirect_uri: 'https://evil.example/' }),
    'that was never issued': exchangeCode(dealer, flow, { code: `svc_oac_${'a'.repeat(38)}` }),
    'in other letters': exchangeCode(dealer, flow, { code: flow.code.toUpperCase() }),
    'with more behind it': exchangeCode(dealer, flow, { code: `${flow.code}\n` }),
    'that is a refresh token': exchangeCode(dealer, flow, { code: (await connected(dealer)).refreshToken }),
    'for a refresh token': refresh(dealer, flow.partner, flow.code),
  };
  for (const [what, said] of Object.entries(wrong)) assertRefused(await said, 400, 'invalid_grant', what);
  assert.equal((await exchangeCode(dealer, flow)).status, 200);
  assert.equal((await exchangeCode(dealer, other)).status, 200, 'the code of the app that tried another’s');
});

test('a code lives 10 minutes, an access token an hour, a refresh token 90 days', async () => {
  const dealer = await dealership();
  const { clock } = dealer;
  clock.set('2031-04-01T12:00:00Z');
  try {
    const [late, inTime] = [await approved(dealer), await approved(dealer)];
    clock.move({ minutes: 9, seconds: 59 });
    const { body } = await exchangeCode(dealer, inTime);
    clock.move({ seconds: 1 });
    assertRefused(await exchangeCode(dealer, late), 400, 'invalid_grant');

    const api = speak(dealer.app, body.access_token);
    clock.move({ minutes: 59, seconds: 58 });
    await api.get('/v1/me').succeeds();
    clock.move({ seconds: 1 });
    await api.get('/v1/me').refuses(401, 'api_key_expired');

    const second = await connected(dealer);
    clock.set('2031-06-30T12:09:58Z');
    const next = await refresh(dealer, inTime.partner, body.refresh_token);
    assert.equal(next.status, 200, 'a second before its 90 days are over');
    clock.move({ days: 1 });
    await api.get('/v1/me').refuses(401, 'api_key_expired');
    assertRefused(await refresh(dealer, second.partner, second.refreshToken), 400, 'invalid_grant');
    clock.set('2031-09-28T12:09:57Z');
    assert.equal((await refresh(dealer, inTime.partner, next.body.refresh_token)).status, 200, 'and the next lives as long again');
  } finally {
    clock.release();
  }
});

test('a refresh may ask for fewer scopes; the next may ask for all that was granted again, and for no more', async () => {
  const dealer = await dealership();
  const { partner: app, access, refreshToken } = await connected(dealer, { scopes: ['vehicles:read', 'vehicles:write'] });
  const narrow = await refresh(dealer, app, refreshToken, { scope: 'vehicles:read' });
  assert.equal(narrow.body.scope, 'vehicles:read');
  const car = { condition: 'USED', make: 'Ford', model: 'Fiesta' };
  await speak(dealer.app, narrow.body.access_token).post('/v1/vehicles', car).refuses(403, 'insufficient_scope');
  await speak(dealer.app, access).post('/v1/vehicles', car).succeeds(201);
  const me = await speak(dealer.app, narrow.body.access_token).get('/v1/me').succeeds();
  assert.deepEqual([me.key.scopes, me.app.scopes], [['vehicles:read'], ['vehicles:read', 'vehicles:write']]);

  for (const scope of ['customers:read', 'vehicles:read customers:read', 'nonsense', '"', 'vehicles:read\u0007'])
    assertRefused(await refresh(dealer, app, narrow.body.refresh_token, { scope }), 400, 'invalid_scope', scope);
  const wide = await refresh(dealer, app, narrow.body.refresh_token, { scope: ' ' });
  assert.deepEqual(
    [wide.status, wide.body.scope],
    [200, 'vehicles:read vehicles:write'],
    'the token was not used up, and an empty scope is none',
  );
});

test('a code or refresh token that is presented a second time ends the authorisation and every token it issued', async () => {
  const dealer = await dealership();
  const me = (token: string) => speak(dealer.app, token).get('/v1/me');

  const byCode = await connected(dealer);
  assertRefused(await exchangeCode(dealer, byCode), 400, 'invalid_grant');
  await me(byCode.access).refuses(401, 'api_key_revoked');
  assertRefused(await refresh(dealer, byCode.partner, byCode.refreshToken), 400, 'invalid_grant');
  assertRefused(await exchangeCode(dealer, byCode), 400, 'invalid_grant', 'a third time');

  const byToken = await connected(dealer);
  const next = await refresh(dealer, byToken.partner, byToken.refreshToken);
  const last = await refresh(dealer, byToken.partner, next.body.refresh_token);
  assertRefused(await refresh(dealer, byToken.partner, byToken.refreshToken), 400, 'invalid_grant');
  for (const token of [byToken.access, next.body.access_token, last.body.access_token]) await me(token).refuses(401, 'api_key_revoked');
  assertRefused(await refresh(dealer, byToken.partner, last.body.refresh_token), 400, 'invalid_grant');

  for (const other of [{ code_verifier: proof().verifier }, { redirect_uri: 'https://evil.example/' }]) {
    const wrong = await connected(dealer);
    assertRefused(await exchangeCode(dealer, wrong, other), 400, 'invalid_grant');
    await me(wrong.access).refuses(401, 'api_key_revoked');
  }
  const beyond = await connected(dealer);
  await refresh(dealer, beyond.partner, beyond.refreshToken);
  assertRefused(
    await refresh(dealer, beyond.partner, beyond.refreshToken, { scope: 'sales:write' }),
    400,
    'invalid_grant',
    'used goes before the scope',
  );
  await me(beyond.access).refuses(401, 'api_key_revoked');
});

test('a second use ends the authorisation also after the code or token has expired', async () => {
  const dealer = await dealership();
  const { clock } = dealer;
  clock.set('2031-05-01T12:00:00Z');
  try {
    const { partner: app, refreshToken, ...flow } = await connected(dealer);
    clock.move({ days: 80 });
    const next = await refresh(dealer, app, refreshToken);
    clock.move({ days: 20 });
    const last = await refresh(dealer, app, next.body.refresh_token);
    assertRefused(await exchangeCode(dealer, { ...flow, partner: app }), 400, 'invalid_grant');
    await speak(dealer.app, last.body.access_token).get('/v1/me').refuses(401, 'api_key_revoked');
    const second = await connected(dealer);
    const alive = await refresh(dealer, second.partner, second.refreshToken);
    clock.move({ days: 89 });
    const later = await refresh(dealer, second.partner, alive.body.refresh_token);
    clock.move({ days: 2 });
    assertRefused(await refresh(dealer, second.partner, second.refreshToken), 400, 'invalid_grant');
    assertRefused(await refresh(dealer, second.partner, later.body.refresh_token), 400, 'invalid_grant');
  } finally {
    clock.release();
  }
});

test('a token of another app is unknown, and is not used up or ended by whoever is not its app', async () => {
  const dealer = await dealership();
  const [mine, stranger] = [await connected(dealer), await partner(dealer.service)];
  assertRefused(await refresh(dealer, stranger, mine.refreshToken), 400, 'invalid_grant');
  assertRefused(await refresh(dealer, stranger, mine.refreshToken), 400, 'invalid_grant', 'a second time');
  for (const token of [mine.refreshToken, mine.access]) {
    const { status, body } = await postForm(dealer.app, '/v1/oauth/revoke', stranger, { token });
    assert.deepEqual([status, body], [200, {}]);
  }
  await speak(dealer.app, mine.access).get('/v1/me').succeeds();
  const next = await refresh(dealer, mine.partner, mine.refreshToken);
  assert.equal(next.status, 200);
  assertRefused(await refresh(dealer, stranger, mine.refreshToken), 400, 'invalid_grant', 'a used one of another app');
  assertRefused(await exchangeCode(dealer, { ...mine, partner: stranger }), 400, 'invalid_grant', 'a used code of another app');
  await speak(dealer.app, mine.access).get('/v1/me').succeeds();
});

test('revoking an access token ends it alone, revoking a refresh token ends all; the answer is always an empty object', async () => {
  const dealer = await dealership();
  const { partner: app, access, refreshToken } = await connected(dealer);
  const revoke = async (token: string, hint?: string) => {
    const { status, body, headers } = await postForm(dealer.app, '/v1/oauth/revoke', app, { token, token_type_hint: hint });
    assert.deepEqual([status, body, headers['cache-control'], headers.pragma], [200, {}, 'no-store', 'no-cache'], token);
  };
  for (const unknown of ['x', `svc_oat_${'a'.repeat(38)}`, dealer.api.key ?? '', app.clientSecret]) await revoke(unknown);
  const next = await refresh(dealer, app, refreshToken);
  await revoke(access, 'refresh_token');
  await speak(dealer.app, access).get('/v1/me').refuses(401, 'api_key_revoked');
  await speak(dealer.app, next.body.access_token).get('/v1/me').succeeds();
  await revoke(access);
  await revoke(refreshToken);
  await speak(dealer.app, next.body.access_token).get('/v1/me').refuses(401, 'api_key_revoked');
  assertRefused(await refresh(dealer, app, next.body.refresh_token), 400, 'invalid_grant');
  await revoke(next.body.refresh_token);
  await dealer.api.get('/v1/me').succeeds();
});

test('on the free plan, and while who approved is banned, refresh is refused and the token not used up', async () => {
  const dealer = await dealership();
  const user = await dealer.newUser();
  const { partner: app, access, refreshToken } = await connected(dealer, { staffId: user.id });
  await dealer.setPlan('FREE');
  assertRefused(await refresh(dealer, app, refreshToken), 400, 'invalid_grant');
  await speak(dealer.app, access).get('/v1/me').refuses(403, 'plan_not_entitled');
  await dealer.setPlan('STANDARD');
  await setUser(dealer.ctx, user.email, { status: 'banned' });
  assertRefused(await refresh(dealer, app, refreshToken), 400, 'invalid_grant');
  await speak(dealer.app, access).get('/v1/me').refuses(401, 'key_owner_inactive');
  await setUser(dealer.ctx, user.email, { status: 'active' });
  await speak(dealer.app, access).get('/v1/me').succeeds();
  assert.equal((await refresh(dealer, app, refreshToken)).status, 200);
  await setUser(dealer.ctx, user.email, { status: 'deleted' });
  await speak(dealer.app, access).get('/v1/me').refuses(401, 'key_owner_inactive');
});

test('what is wrong is told in one order: the body, the client, the grant type, the parameters, the grant, the scope', async () => {
  const dealer = await dealership();
  const { partner: app } = await connected(dealer);
  const headers = { ...form, ...basic(app.clientId, 'wrong') };
  const right = { ...form, ...basic(app.clientId, app.clientSecret) };
  const order: readonly (readonly [Asked, number, string])[] = [
    [{ headers: { ...json, ...basic(app.clientId, 'wrong') }, payload: '{' }, 400, 'invalid_request'],
    [{ headers, payload: 'code=a&code=b&grant_type=x' }, 400, 'invalid_request'],
    [{ headers, payload: 'grant_type=x' }, 401, 'invalid_client'],
    [{ headers: right, payload: 'grant_type=x' }, 400, 'unsupported_grant_type'],
    [{ headers: right, payload: 'grant_type=refresh_token&scope=nonsense' }, 400, 'invalid_request'],
    [{ headers: right, payload: 'grant_type=refresh_token&refresh_token=x&scope=nonsense' }, 400, 'invalid_grant'],
  ];
  for (const [asked, status, error] of order) assertRefused(await ask(dealer, asked), status, error, String(asked.payload));
});

test('token and revoke take POST alone, no other origin, and no path but theirs', async () => {
  const { app } = await dealership();
  for (const path of ['/v1/oauth/token', '/v1/oauth/revoke']) {
    for (const method of ['GET', 'PUT', 'DELETE', 'PATCH'] as const) {
      const said = await say(app, { method, url: path });
      assertRefused(said, 405, 'invalid_request', `${method} ${path}`);
      assert.equal(said.headers.allow, 'POST, OPTIONS');
    }
    assert.equal((await say(app, { method: 'HEAD', url: path })).status, 405);
    const options = await say(app, { method: 'OPTIONS', url: path, headers: { origin: 'https://www.example.com' } });
    assert.deepEqual(
      [options.status, options.headers.allow, options.headers['access-control-allow-origin']],
      [204, 'POST, OPTIONS', undefined],
    );
    assert.equal((await say(app, { method: 'POST', url: `${path}/` })).body.code, 'not_found');
  }
});
