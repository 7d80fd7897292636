import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setUser } from '#modules/staff/index.ts';
import { createLog } from '#platform/log.ts';
import { speak } from '../support/api.ts';
import { oauthHouse, walk } from '../support/oauth-house.ts';
import { authoriseAddress, connect } from '../support/plain-partner.ts';

const car = { condition: 'USED', make: 'Ford', model: 'Fiesta' };
const lines: string[] = [];
const house = await oauthHouse(createLog({ level: 'trace', pretty: false, to: { write: (line) => lines.push(line) } }));
const { app, dealer } = house;
const { ctx } = dealer;

/** What a refresh answers, in one line. */
const outcome = async (answer: Promise<{ status: number; body: Record<string, string> }>) => {
  const { status, body } = await answer;
  return [status, body.error ?? body.token_type];
};

test('an app that a sales manager approved acts as that manager, with what they may do at that moment', async () => {
  const manager = await house.newMember('SALES_MANAGER');
  const { access, scope, refresh, refreshToken } = await connect(house, ['vehicles:read', 'vehicles:write', 'workshop:write'], manager);
  assert.equal(scope, 'vehicles:read vehicles:write', 'the role disallows the workshop');
  const api = speak(app, access);
  await api.post('/v1/vehicles', car).succeeds(201);
  const me = await api.get('/v1/me').succeeds();
  assert.deepEqual([me.owner.id, me.key.effective_scopes], [manager.id, ['vehicles:read', 'vehicles:write']]);

  await setUser(ctx, manager.email, { without: ['STOCK_EDIT'] });
  const { required } = await api.post('/v1/vehicles', car).refuses(403, 'scope_not_permitted_for_owner');
  assert.deepEqual(required, { scope: 'vehicles:write', permission: 'STOCK_EDIT' });
  await api.get('/v1/vehicles').succeeds();
  assert.deepEqual((await api.get('/v1/me').succeeds()).key.effective_scopes, ['vehicles:read']);

  await setUser(ctx, manager.email, { status: 'banned' });
  await api.get('/v1/me').refuses(401, 'key_owner_inactive');
  await setUser(ctx, manager.email, { status: 'active', with: ['STOCK_EDIT'] });
  await api.post('/v1/vehicles', car).succeeds(201);
  assert.deepEqual(await outcome(refresh(refreshToken)), [200, 'Bearer']);
});

test('on the Free plan an app is refused, and its authorisation is kept until the dealer pays again', async () => {
  const { access, refresh, refreshToken } = await connect(house, ['vehicles:read']);
  const api = speak(app, access);
  await dealer.setPlan('FREE');
  await api.get('/v1/me').refuses(403, 'plan_not_entitled');
  assert.deepEqual(await outcome(refresh(refreshToken)), [400, 'invalid_grant']);
  await dealer.setPlan('STANDARD');
  await api.get('/v1/me').succeeds();
  assert.deepEqual(await outcome(refresh(refreshToken)), [200, 'Bearer'], 'a refused refresh uses nothing up');
});

test('an app is revoked under Connected apps: its next request gets 401 and its refresh fails, others go on', async () => {
  const [leaving, staying] = [await connect(house, ['vehicles:read']), await connect(house, ['vehicles:read'])];
  await house.disconnect(leaving.app.name);
  await speak(app, leaving.access).get('/v1/me').refuses(401, 'api_key_revoked');
  assert.deepEqual(await outcome(leaving.refresh(leaving.refreshToken)), [400, 'invalid_grant']);
  await speak(app, staying.access).get('/v1/me').succeeds();
  assert.deepEqual(await outcome(staying.refresh(staying.refreshToken)), [200, 'Bearer']);
});

test('a code that comes a second time ends all that it gave', async () => {
  const { access, refresh, refreshToken, exchange } = await connect(house, ['vehicles:read']);
  await speak(app, access).get('/v1/me').succeeds();
  assert.deepEqual(await outcome(exchange()), [400, 'invalid_grant']);
  await speak(app, access).get('/v1/me').refuses(401, 'api_key_revoked');
  assert.deepEqual(await outcome(refresh(refreshToken)), [400, 'invalid_grant']);
});

test('what a browser forges into the consent is not granted: neither what the role disallows nor what was not asked for', async () => {
  const reader = await house.newMember('READ_ONLY');
  const { scope } = await connect(house, ['vehicles:read', 'vehicles:write'], reader, { forge: ['vehicles:write', 'sales:read'] });
  assert.equal(scope, 'vehicles:read');
});

test('where the role allows nothing that an app asks for it is sent back with access_denied', async () => {
  const technician = await house.newMember('TECHNICIAN');
  const url = authoriseAddress(await house.newApp({ scopes: ['vehicles:read', 'customers:read'] }), 'x'.repeat(43));
  const { error, state, iss } = Object.fromEntries(new URL(await walk(house, url, technician)).searchParams);
  assert.deepEqual([error, state, iss], ['access_denied', 'abc', house.baseUrl]);
});

test('nothing secret of all that gets into a log', async () => {
  const { app: registered, code, access, refreshToken } = await connect(house, ['vehicles:read']);
  await speak(app, access).get('/v1/me').succeeds();
  const secrets = [code, access, refreshToken, registered.clientSecret, house.member.password];
  const said = lines.join('');
  assert.ok(said.includes('/v1/oauth/token'), 'the requests are logged');
  for (const secret of secrets) assert.ok(!said.includes(secret), secret.slice(0, 12));
});
