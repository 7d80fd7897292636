import assert from 'node:assert/strict';
import { test } from 'node:test';
import { approve, decline, readConsent, registerApp, revokeApp } from '#modules/oauth/index.ts';
import { setUser } from '#modules/staff/index.ts';
import type { Dealership } from '../support/dealership.ts';
import { dealership } from '../support/dealership.ts';
import type { Said } from '../support/oauth.ts';
import { approved, asUser, authorizeQuery, callback, consentFor, exchangeCode, partner, proof, say } from '../support/oauth.ts';

const { challenge } = proof();
const state = 'xyz &=?/ü';
const issuer = 'http://127.0.0.1:4000';

const open = ({ app }: Pick<Dealership, 'app'>, url: string, method: 'GET' | 'HEAD' = 'GET') => say(app, { method, url });

/** What an app is told at its own address, which stays as it was registered. */
function toldTo(redirectUri: string, { status, headers, body }: Said) {
  assert.equal(status, 302, String(body));
  const location = headers.location ?? '';
  assert.ok(location.startsWith(`${redirectUri}&`), location);
  assert.deepEqual([headers['cache-control'], headers.pragma, headers['referrer-policy']], ['no-store', 'no-cache', 'no-referrer']);
  const { kept, ...told } = Object.fromEntries(new URL(location).searchParams);
  assert.equal(kept, '1');
  return told;
}

/** A page for whoever sits before the browser, that leads nowhere and repeats nothing. */
function assertPage({ status, headers, body }: Said, what: string): void {
  assert.equal(status, 400, what);
  assert.equal(headers.location, undefined, what);
  assert.equal(headers['content-type'], 'text/html; charset=utf-8');
  assert.match(headers['content-security-policy'] ?? '', /default-src 'none'.*frame-ancestors 'none'/);
  assert.equal(headers['cache-control'], 'no-store');
  assert.ok(headers['x-request-id']);
  assert.match(body, /This app cannot be connected/);
  assert.doesNotMatch(body, /script|evil|xyz/);
}

test('a request that is in order leads to the consent of the dealership', async () => {
  const dealer = await dealership();
  const app = await partner(dealer.service);
  const { status, headers } = await open(dealer, authorizeQuery(app, challenge));
  assert.equal(status, 302);
  assert.match(headers.location ?? '', /^http:\/\/127\.0\.0\.1:4001\/oauth\/consent\?request=[\w.-]+$/);
  const consent = await consentFor(dealer, authorizeQuery(app, challenge));
  assert.deepEqual(
    { ...consent, app: { ...consent.app, id: '' } },
    {
      app: { id: '', name: 'Partner', website: 'https://partner.example', logo: null },
      scopes: ['vehicles:read', 'vehicles:write'],
      redirectUri: callback,
      state,
      challenge,
    },
  );
});

test('without a known client or a registered address nobody is led anywhere', async () => {
  const dealer = await dealership();
  const app = await partner(dealer.service);
  const twice = (name: string, value: string) => `${authorizeQuery(app, challenge)}&${name}=${encodeURIComponent(value)}`;
  const pages = {
    'no parameter at all': '/v1/oauth/authorize',
    'no client': authorizeQuery(app, challenge, { client_id: undefined }),
    'an empty client': authorizeQuery(app, challenge, { client_id: '' }),
    'an unknown client': authorizeQuery(app, challenge, { client_id: 'evil' }),
    'a client with U+0000': authorizeQuery(app, challenge, { client_id: `${app.clientId}\u0000` }),
    'a client that is markup': authorizeQuery(app, challenge, { client_id: '<script>alert(1)</script>' }),
    'another letter case': authorizeQuery(app, challenge, { client_id: app.clientId.toLowerCase() + app.clientId.toUpperCase() }),
    'two clients': twice('client_id', app.clientId),
    'no address': authorizeQuery(app, challenge, { redirect_uri: undefined }),
    'another address': authorizeQuery(app, challenge, { redirect_uri: 'https://evil.example/callback?kept=1' }),
    'an address that begins like it': authorizeQuery(app, challenge, { redirect_uri: `${callback}&more=1` }),
    'an address without its query': authorizeQuery(app, challenge, { redirect_uri: 'https://partner.example/callback' }),
    'an address with a slash more': authorizeQuery(app, challenge, { redirect_uri: 'https://partner.example/callback/?kept=1' }),
    'an address in other letters': authorizeQuery(app, challenge, { redirect_uri: 'https://PARTNER.example/callback?kept=1' }),
    'its port written out': authorizeQuery(app, challenge, { redirect_uri: 'https://partner.example:443/callback?kept=1' }),
    'another port of this machine': authorizeQuery(app, challenge, { redirect_uri: 'http://127.0.0.1:33419/' }),
    'a script for an address': authorizeQuery(app, challenge, { redirect_uri: 'javascript:alert(1)' }),
    'two addresses': twice('redirect_uri', callback),
    'two addresses, one of them evil': twice('redirect_uri', 'https://evil.example/'),
  };
  for (const [what, url] of Object.entries(pages)) assertPage(await open(dealer, url), what);
});

test('any other problem is told to the app at its address, with the state and the issuer', async () => {
  const dealer = await dealership();
  const app = await partner(dealer.service);
  const asked = (other: Record<string, string | undefined>) => authorizeQuery(app, challenge, other);
  const wrong: Record<string, readonly [url: string, error: string, description: RegExp]> = {
    'no response_type': [asked({ response_type: undefined }), 'invalid_request', /response_type is missing/],
    'an empty response_type': [asked({ response_type: '' }), 'invalid_request', /response_type is missing/],
    'response_type token': [asked({ response_type: 'token' }), 'unsupported_response_type', /always code/],
    'response_type CODE': [asked({ response_type: 'CODE' }), 'unsupported_response_type', /always code/],
    'no challenge': [asked({ code_challenge: undefined }), 'invalid_request', /code_challenge is missing/],
    'no method': [asked({ code_challenge_method: undefined }), 'invalid_request', /always S256/],
    'method plain': [asked({ code_challenge_method: 'plain' }), 'invalid_request', /always S256/],
    'a challenge of 42 characters': [asked({ code_challenge: challenge.slice(1) }), 'invalid_request', /SHA-256/],
    'a challenge of 44 characters': [asked({ code_challenge: `${challenge}=` }), 'invalid_request', /SHA-256/],
    'a challenge in base64': [asked({ code_challenge: `+/${challenge.slice(2)}` }), 'invalid_request', /SHA-256/],
    'an unknown scope': [asked({ scope: 'vehicles:read everything' }), 'invalid_scope', /not registered/],
    'a scope the app is not registered for': [asked({ scope: 'sales:read' }), 'invalid_scope', /not registered/],
    'a scope of publishable keys': [asked({ scope: 'public:enquiries' }), 'invalid_scope', /not registered/],
    'a scope after a tab': [asked({ scope: 'vehicles:read\tvehicles:write' }), 'invalid_scope', /not registered/],
    'scope twice': [`${asked({})}&scope=vehicles%3Aread`, 'invalid_request', /scope is given more than once/],
    'response_type twice': [`${asked({})}&response_type=code`, 'invalid_request', /response_type is given more than once/],
    'scope with U+0000': [asked({ scope: 'vehicles:read\u0000' }), 'invalid_request', /scope is not a text/],
  };
  for (const [what, [url, error, description]] of Object.entries(wrong)) {
    const told = toldTo(callback, await open(dealer, url));
    assert.deepEqual({ ...told, error_description: '' }, { error, error_description: '', state, iss: issuer }, what);
    assert.match(told.error_description ?? '', description, what);
    assert.match(told.error_description ?? '', /^[\x20\x21\x23-\x5b\x5d-\x7e]+$/, 'RFC 6749, 4.1.2.1');
  }
});

test('a state that is sent twice, or was not sent, is not told; one that is too long is refused', async () => {
  const dealer = await dealership();
  const app = await partner(dealer.service);
  const twice = toldTo(callback, await open(dealer, `${authorizeQuery(app, challenge)}&state=other`));
  assert.deepEqual([twice.error, 'state' in twice], ['invalid_request', false]);
  const none = toldTo(callback, await open(dealer, authorizeQuery(app, challenge, { state: undefined, scope: 'no' })));
  assert.equal('state' in none, false);
  const [longest, longer] = ['s'.repeat(2048), 's'.repeat(2049)];
  assert.equal((await consentFor(dealer, authorizeQuery(app, challenge, { state: longest }))).state, longest);
  // In an address each of these takes more than it is long.
  for (const bad of [longer, 'ü'.repeat(342), '%'.repeat(683), 'a\u0001b', '\u007f', 'a\nb'.repeat(680)]) {
    const told = toldTo(callback, await open(dealer, authorizeQuery(app, challenge, { state: bad })));
    assert.deepEqual([told.error, 'state' in told], ['invalid_request', false]);
  }
  const packed = 'ü'.repeat(341);
  assert.equal((await consentFor(dealer, authorizeQuery(app, challenge, { state: packed }))).state, packed);
});

test('without a scope all of the app’s are asked for; each counts once; unknown parameters are ignored', async () => {
  const dealer = await dealership();
  const app = await partner(dealer.service);
  const scopesFor = async (other: Record<string, string | undefined>) =>
    (await consentFor(dealer, authorizeQuery(app, challenge, other))).scopes;
  assert.deepEqual(await scopesFor({ scope: undefined }), ['vehicles:read', 'vehicles:write', 'customers:read']);
  assert.deepEqual(await scopesFor({ scope: '  ' }), ['vehicles:read', 'vehicles:write', 'customers:read']);
  assert.deepEqual(await scopesFor({ scope: 'customers:read  vehicles:read customers:read' }), ['customers:read', 'vehicles:read']);
  assert.deepEqual(await scopesFor({ scope: 'vehicles:read', resource: 'https://x.example', nonce: 'n', prompt: 'none' }), [
    'vehicles:read',
  ]);
  assert.equal((await open(dealer, `${authorizeQuery(app, challenge)}&resource=a&resource=b`)).status, 302);
});

test('HEAD answers as GET does, OPTIONS says what is taken, any other method is refused, and a slash more is another path', async () => {
  const dealer = await dealership();
  const app = await partner(dealer.service);
  const head = await open(dealer, authorizeQuery(app, challenge), 'HEAD');
  assert.deepEqual([head.status, head.body], [302, '']);
  assert.match(head.headers.location ?? '', /oauth\/consent/);
  const options = await say(dealer.app, { method: 'OPTIONS', url: '/v1/oauth/authorize' });
  assert.deepEqual([options.status, options.headers.allow], [204, 'GET, HEAD, OPTIONS']);
  assert.equal(options.headers['access-control-allow-origin'], undefined);
  const post = await say(dealer.app, { method: 'POST', url: authorizeQuery(app, challenge) });
  assert.deepEqual([post.status, post.headers.allow, post.body.error], [405, 'GET, HEAD, OPTIONS', 'invalid_request']);
  assert.equal((await open(dealer, authorizeQuery(app, challenge).replace('?', '/?'))).body.code, 'not_found');
});

test('approval leads back with the code and the state, decline with access_denied and the state', async () => {
  const dealer = await dealership();
  const app = await partner(dealer.service);
  const consent = await consentFor(dealer, authorizeQuery(app, challenge));
  const yes = new URL(await approve(await asUser(dealer, dealer.owner.id), consent, consent.scopes));
  assert.deepEqual([...yes.searchParams.keys()], ['kept', 'code', 'state', 'iss']);
  assert.match(yes.searchParams.get('code') ?? '', /^svc_oac_[0-9A-Za-z]{38}$/);
  assert.deepEqual([yes.searchParams.get('state'), yes.searchParams.get('iss')], [state, issuer]);
  for (const [why, description] of [
    ['declined', /declined/],
    ['plan', /plan/],
    ['nothing_allowed', /none of the scopes/],
  ] as const) {
    const no = Object.fromEntries(new URL(decline(dealer.service, consent, why)).searchParams);
    assert.deepEqual([no.error, no.state, no.iss, no.kept], ['access_denied', state, issuer, '1']);
    assert.match(no.error_description ?? '', description);
  }
});

test('only scopes are approved that were asked for, and that the role of the member of staff allows', async () => {
  const dealer = await dealership();
  const app = await partner(dealer.service, { scopes: ['vehicles:read', 'vehicles:write', 'customers:read', 'branches:read'] });
  const marketing = await dealer.newUser({ role: 'MARKETING' });
  const flow = await approved(dealer, {
    partner: app,
    staffId: marketing.id,
    scopes: ['vehicles:read', 'vehicles:write', 'customers:read', 'branches:read'],
  });
  assert.equal((await exchangeCode(dealer, flow)).body.scope, 'vehicles:read branches:read');

  const consent = await consentFor(dealer, authorizeQuery(app, challenge, { scope: 'vehicles:read' }));
  const administrator = await asUser(dealer, dealer.owner.id);
  const refused = async (scopes: Parameters<typeof approve>[2], ctx = administrator) =>
    new URL(await approve(ctx, consent, scopes)).searchParams.get('error');
  assert.equal(await refused(['customers:read', 'webhooks:manage']), 'access_denied', 'more than the app asked for');
  assert.equal(await refused([]), 'access_denied');
  assert.equal(await refused(['vehicles:read']), null);
  const technician = await dealer.newUser({ role: 'TECHNICIAN' });
  assert.equal(await refused(['vehicles:read'], await asUser(dealer, technician.id)), 'access_denied');
});

test('a permission that was lost while the page was open approves nothing', async () => {
  const dealer = await dealership();
  const consent = await consentFor(dealer, authorizeQuery(await partner(dealer.service), challenge));
  const member = await dealer.newUser();
  const before = await asUser(dealer, member.id);
  const answer = async () => Object.fromEntries(new URL(await approve(before, consent, consent.scopes)).searchParams);
  await setUser(dealer.ctx, member.email, { without: ['STOCK_EDIT', 'STOCK_VIEW'] });
  assert.equal((await answer()).error, 'access_denied');
  await setUser(dealer.ctx, member.email, { with: ['STOCK_EDIT', 'STOCK_VIEW'] });
  assert.ok((await answer()).code);
  await setUser(dealer.ctx, member.email, { status: 'banned' });
  assert.equal((await answer()).error, 'access_denied');
});

test('on the free plan nothing is approved', async () => {
  const dealer = await dealership();
  const consent = await consentFor(dealer, authorizeQuery(await partner(dealer.service), challenge));
  const user = await asUser(dealer, dealer.owner.id);
  await dealer.setPlan('FREE');
  const address = new URL(await approve(user, consent, consent.scopes));
  assert.deepEqual([address.searchParams.get('error'), address.searchParams.get('code')], ['access_denied', null]);
});

test('what the DMS is handed cannot be altered, is good for an hour, and for an app that is there', async () => {
  const dealer = await dealership();
  const { clock } = dealer;
  const app = await partner(dealer.service);
  clock.set('2031-03-01T12:00:00Z');
  try {
    const { headers } = await open(dealer, authorizeQuery(app, challenge));
    const request = new URL(headers.location ?? '').searchParams.get('request') ?? '';
    const read = (text: string) => readConsent(dealer.service, text);
    assert.ok(await read(request));
    for (const altered of [
      '',
      'x',
      '.',
      `${request}x`,
      request.slice(1),
      request.replace('.', '..'),
      `${request.split('.')[0]}.`,
      `${request}\u0000`,
    ])
      assert.equal(await read(altered), null, altered);
    const [content = '', signature] = request.split('.');
    const richer = Buffer.from(Buffer.from(content, 'base64url').toString().replace('vehicles:read', 'customers:read')).toString(
      'base64url',
    );
    assert.equal(await read(`${richer}.${signature}`), null);
    clock.move({ minutes: 59, seconds: 59 });
    assert.ok(await read(request));
    clock.move({ seconds: 1 });
    assert.equal(await read(request), null);
    const fresh = new URL((await open(dealer, authorizeQuery(app, challenge))).headers.location ?? '').searchParams.get('request') ?? '';
    assert.ok(await read(fresh));
    await revokeApp(dealer.service, app.clientId);
    assert.equal(await read(fresh), null);
    assertPage(await open(dealer, authorizeQuery(app, challenge)), 'a revoked app');
  } finally {
    clock.release();
  }
});

test('an app is registered with addresses that lead to it alone, and scopes that an app can have', async () => {
  const { service } = await dealership();
  const register = (other: object) =>
    registerApp(service, {
      name: 'Partner',
      website: 'https://partner.example',
      redirectUris: [callback],
      scopes: ['vehicles:read'],
      ...other,
    });
  const { clientId, clientSecret } = await register({});
  assert.match(`${clientId} ${clientSecret}`, /^[0-9A-Za-z]{24} [0-9A-Za-z]{43}$/);
  for (const address of [
    'https://partner.example/callback',
    'http://127.0.0.1:33418/',
    'http://localhost/callback',
    'http://[::1]:8080/cb',
    'com.example.app:/callback',
    'editor://extension/callback',
  ])
    await register({ redirectUris: [address] });
  for (const address of [
    ...[
      'http://partner.example/',
      'https://partner.example/#x',
      'https://user@partner.example/',
      'https://partner.example/ x',
      'partner.example',
    ],
    ...['javascript://partner.example/%0aalert(1)', 'JavaScript:/x', 'data:/text/html,x', 'https:partner.example', '/callback', '', '*'],
    ...[
      ...['code', 'state', 'iss', 'error', 'error_description'].map((name) => `https://partner.example/?a=1&${name}=x`),
      'http://127.0.0.1.evil.example/',
      'https://partner.example/\u0000',
      'https://partner.exämple/',
      `https://partner.example/${'x'.repeat(2048)}`,
    ],
  ])
    await assert.rejects(register({ redirectUris: [address] }), ({ fields }: { fields: object }) => 'redirectUris.0' in fields, address);
  for (const [field, other] of Object.entries({
    redirectUris: { redirectUris: [] },
    scopes: { scopes: [] },
    'scopes.0': { scopes: ['public:enquiries'] },
    name: { name: ' ' },
    website: { website: 'http://partner.example' },
    logo: { logo: 'https://partner.example/"><script>' },
  }))
    await assert.rejects(register(other), ({ fields }: { fields: object }) => field in fields, field);
});

test('a member of staff who is gone has approved nothing', async () => {
  const dealer = await dealership();
  const leaver = await dealer.newUser();
  const flow = await approved(dealer, { staffId: leaver.id });
  await setUser(dealer.ctx, leaver.email, { status: 'banned' });
  assert.equal((await exchangeCode(dealer, flow)).body.error, 'invalid_grant');
  await setUser(dealer.ctx, leaver.email, { status: 'active' });
  assert.equal((await exchangeCode(dealer, flow)).status, 200, 'the code was not used up');
});
