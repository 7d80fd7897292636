import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setUser } from '#modules/staff/index.ts';
import { checksum, sha256 } from '#platform/secrets.ts';
import { buildApi } from '../../src/app/api.ts';
import { speak } from '../support/api.ts';
import { dealership } from '../support/dealership.ts';
import { sandbox } from '../support/sandbox.ts';
import { recordTraffic } from '../support/traffic.ts';

const car = { condition: 'USED', make: 'Ford', model: 'Fiesta' };
const nobody = '00000000-0000-0000-0000-000000000000';

/** What is asked of a key is refused for what this field says. */
const refusedFor = (field: string, work: Promise<unknown>, what?: string) =>
  assert.rejects(work, ({ fields }: { fields?: object }) => {
    assert.deepEqual(Object.keys(fields ?? {}), [field], what);
    return true;
  });

test('a revoked key is refused from the next request on, and for good', async () => {
  const { newKey, keys, ctx, app } = await dealership();
  const { id, key } = await newKey();
  const api = speak(app, key);
  await api.get('/v1/me').succeeds();
  await keys.revoke(ctx, id);
  await api.get('/v1/me').refuses(401, 'api_key_revoked');
  await refusedFor('id', keys.roll(ctx, id));
  await refusedFor('id', keys.change(ctx, id, { expiresAt: null }));
  await api.get('/v1/me').refuses(401, 'api_key_revoked');
});

test('rolling replaces the secret: the old key is revoked at once, the new one is the same key', async () => {
  const { newKey, keys, ctx, app } = await dealership();
  const old = await newKey({ rateLimit: 100 });
  const before = await speak(app, old.key).get('/v1/me').succeeds();
  const rolled = await keys.roll(ctx, old.id);
  await speak(app, old.key).get('/v1/me').refuses(401, 'api_key_revoked');
  const { body, headers } = await speak(app, rolled.key).get('/v1/me');
  assert.equal(rolled.id, old.id);
  assert.equal(body.data.key.id, before.key.id);
  assert.notEqual(body.data.key.lookup, before.key.lookup);
  assert.equal(headers['x-ratelimit-remaining'], '97', 'a rolled key keeps the allowance of the old one');
});

test('an administrator can move a key to another owner without changing the key, and it acts as the new owner', async () => {
  const { newKey, newUser, keys, ctx, app, code } = await dealership();
  const [leaver, heir] = [await newUser(), await newUser({ role: 'READ_ONLY' })];
  const { id, key } = await newKey({ ownerId: leaver.id });
  const api = speak(app, key);
  await api.post('/v1/vehicles', car).succeeds(201);
  await setUser(ctx, leaver.email, { status: 'banned' });
  await api.get('/v1/me').refuses(401, 'key_owner_inactive');
  await keys.change(ctx, id, { ownerId: heir.id });
  assert.equal((await api.get('/v1/me').succeeds()).owner.id, heir.id);
  await api.post('/v1/vehicles', car).refuses(403, 'scope_not_permitted_for_owner');
  const stranger = await dealership();
  await refusedFor('ownerId', keys.change(ctx, id, { ownerId: stranger.owner.id }), `no member of staff of ${code}`);
});

test('when the owner is banned or deleted the whole key is refused, until they are back', async () => {
  const { newKey, newUser, ctx, app } = await dealership();
  for (const status of ['banned', 'deleted'] as const) {
    const owner = await newUser();
    const api = speak(app, (await newKey({ ownerId: owner.id })).key);
    await api.get('/v1/me').succeeds();
    await setUser(ctx, owner.email, { status });
    await api.get('/v1/me').refuses(401, 'key_owner_inactive');
    await api.get('/v1/reference/vehicle-statuses').refuses(401, 'key_owner_inactive');
    if (status === 'deleted') continue;
    await setUser(ctx, owner.email, { status: 'active' });
    await api.get('/v1/me').succeeds();
  }
});

test('when the owner loses the permission behind a scope that scope is refused and the others keep working', async () => {
  const { newKey, newUser, ctx, app } = await dealership();
  const owner = await newUser();
  const api = speak(app, (await newKey({ ownerId: owner.id, scopes: ['vehicles:read', 'vehicles:write'] })).key);
  await api.post('/v1/vehicles', car).succeeds(201);
  await setUser(ctx, owner.email, { without: ['STOCK_EDIT'] });
  const { required } = await api.post('/v1/vehicles', car).refuses(403, 'scope_not_permitted_for_owner');
  assert.deepEqual(required, { scope: 'vehicles:write', permission: 'STOCK_EDIT' });
  await api.get('/v1/vehicles').succeeds();
  const me = await api.get('/v1/me').succeeds();
  assert.deepEqual([me.key.scopes, me.key.effective_scopes], [['vehicles:read', 'vehicles:write'], ['vehicles:read']]);
  await setUser(ctx, owner.email, { role: 'TECHNICIAN' });
  await api.get('/v1/vehicles').refuses(403, 'scope_not_permitted_for_owner');
  await setUser(ctx, owner.email, { role: 'ADMINISTRATOR', with: ['STOCK_EDIT'] });
  await api.post('/v1/vehicles', car).succeeds(201);
});

test('DELETE of a vehicle also needs the owner’s STOCK_DELETE', async () => {
  const { newUser, apiWith, ctx } = await dealership();
  const owner = await newUser({ without: ['STOCK_DELETE'] });
  const api = await apiWith({ ownerId: owner.id });
  const { id } = await api.post('/v1/vehicles', car).succeeds(201);
  const { required } = await api.delete(`/v1/vehicles/${id}`).refuses(403, 'scope_not_permitted_for_owner');
  assert.equal(required.permission, 'STOCK_DELETE');
  await api.delete(`/v1/vehicles/${nobody}`).refuses(403, 'scope_not_permitted_for_owner');
  await setUser(ctx, owner.email, { with: ['STOCK_DELETE'] });
  await api.delete(`/v1/vehicles/${id}`).succeeds();
});

test('a key may be given any scope its owner is allowed and no other; what it was never given is insufficient_scope', async () => {
  const { newKey, newUser, apiWith } = await dealership();
  const seller = await newUser({ role: 'MARKETING' });
  await refusedFor('scopes', newKey({ ownerId: seller.id, scopes: ['vehicles:write'] }));
  await refusedFor('scopes', newKey({ scopes: ['public:enquiries'] }), 'a secret key is no publishable key');
  const api = await apiWith({ ownerId: seller.id, scopes: ['branches:read'] });
  const { required } = await api.get('/v1/vehicles').refuses(403, 'insufficient_scope');
  assert.deepEqual(required, { scope: 'vehicles:read' });
});

test('secret keys need a paid plan, publishable keys work on every plan, and a change of plan counts for the next request', async () => {
  const { apiWith, setPlan } = await dealership();
  const [secret, publishable] = [await apiWith(), await apiWith({ kind: 'publishable' })];
  await secret.get('/v1/me').succeeds();
  await setPlan('FREE');
  assert.deepEqual((await secret.get('/v1/me').refuses(403, 'plan_not_entitled')).required, { plan: 'STANDARD' });
  await publishable.get('/v1/me').succeeds();
  await setPlan('STANDARD');
  await secret.get('/v1/me').succeeds();
});

test('publishable keys always carry exactly their four scopes, can be given no more, and need an origin list', async () => {
  const { newKey, newUser, apiWith } = await dealership();
  const api = await apiWith({ kind: 'publishable' });
  const { key } = await api.get('/v1/me').succeeds();
  assert.deepEqual(key.scopes, ['vehicles:read', 'branches:read', 'public:enquiries', 'public:valuation_requests']);
  await refusedFor('scopes', newKey({ kind: 'publishable', scopes: ['vehicles:write'] }));
  await refusedFor('origins', newKey({ kind: 'publishable', origins: [] }));
  for (const origin of [
    'http://www.example.com',
    'https://www.example.com/',
    'https://*.example.com',
    'null',
    'https://a.example?b',
    'www.example.com',
  ]) {
    await refusedFor('origins.0', newKey({ kind: 'publishable', origins: [origin] }), origin);
  }
  await api.post('/v1/vehicles', car).refuses(403, 'secret_key_required');
  await api.get('/v1/vehicle-batches').refuses(403, 'secret_key_required');
  await api.get('/v1/reference').refuses(403, 'secret_key_required');
  const blind = await newUser({ role: 'TECHNICIAN' });
  const ofBlind = await apiWith({ kind: 'publishable', ownerId: blind.id });
  await ofBlind.get('/v1/vehicles').refuses(403, 'scope_not_permitted_for_owner');
  await ofBlind.get('/v1/branches').succeeds();
});

test('a secret key with an IP allowlist is refused from other addresses: addresses and ranges, IPv6, IPv4 inside IPv6', async () => {
  const { newKey, app, service, apiWith } = await dealership();
  const from = async (ips: string[], remoteAddress: string) => {
    const { key } = await newKey({ ips });
    const { statusCode, body } = await app.inject({ url: '/v1/me', remoteAddress, headers: { authorization: `Bearer ${key}` } });
    assert.ok(statusCode === 200 || JSON.parse(body).code === 'ip_not_allowed', body);
    return statusCode === 200;
  };
  const allowed: [string[], string][] = [
    [['203.0.113.7'], '203.0.113.7'],
    [['198.51.100.0/24', '203.0.113.0/24'], '203.0.113.200'],
    [['203.0.113.0/24'], '::ffff:203.0.113.200'],
    [['203.0.113.0/24'], '::ffff:cb00:71c8'],
    [['2001:db8::/32'], '2001:db8:1::1'],
    [['2001:db8::1'], '2001:0db8:0:0:0:0:0:1'],
    [['fe80::1'], 'fe80::1%eth0'],
    [[], '198.51.100.1'],
  ];
  const refused: [string[], string][] = [
    [['203.0.113.7'], '203.0.113.70'],
    [['203.0.113.0/24'], '203.0.114.1'],
    [['203.0.113.0/24'], '::ffff:203.0.114.1'],
    [['203.0.113.0/24'], '2001:db8::1'],
    [['0.0.0.0/0'], '2001:db8::1'],
    [['2001:db8::/32'], '2001:db9::1'],
    [['203.0.113.0/24'], 'no address'],
  ];
  for (const [ips, address] of allowed) assert.ok(await from(ips, address), `${ips} lets ${address} in`);
  for (const [ips, address] of refused) assert.ok(!(await from(ips, address)), `${ips} keeps ${address} out`);
  for (const range of ['203.0.113.0/33', '203.0.113', 'example.com', '::/129', 'fe80::1%eth0', ''])
    await refusedFor('ips.0', newKey({ ips: [range] }), range);
  await refusedFor('ips', newKey({ kind: 'publishable', ips: ['203.0.113.7'] }));

  const api = await apiWith();
  await api.get('/v1/me').succeeds();
  await service.pools.doors.query("update api_key set ips = '{203.0.113.7}' where id = $1", [(await api.get('/v1/me').succeeds()).key.id]);
  assert.deepEqual((await api.get('/v1/me').refuses(403, 'ip_not_allowed')).required, { restriction: 'ips' });
});

test('a publishable key is refused from other origins; case and default port do not matter, and no Origin is no browser', async () => {
  const { apiWith } = await dealership();
  const api = await apiWith({
    kind: 'publishable',
    origins: ['https://www.example.com', 'https://Shop.example:443', 'https://dev.example:8443'],
  });
  const from = (origin: string) => api.get('/v1/me', { origin });
  for (const origin of [
    'https://www.example.com',
    'HTTPS://WWW.Example.com',
    'https://www.example.com:443',
    'https://shop.example',
    'https://dev.example:8443',
  ]) {
    await from(origin).succeeds();
  }
  for (const origin of [
    ...[
      'null',
      '',
      'http://www.example.com',
      'https://example.com',
      'https://www.example.com.evil.example',
      'https://www.example.com:8443',
    ],
    ...[
      'https://dev.example',
      'https://www.example.com/',
      'https://www.example.com\\.evil.example',
      'https://evil.example, https://www.example.com',
    ],
  ]) {
    assert.deepEqual((await from(origin).refuses(403, 'origin_not_allowed')).required, { restriction: 'origins' }, origin);
  }
  await api.get('/v1/me').succeeds();
});

test('after its expiry a key is refused, and works again when the expiry is moved', async () => {
  const { newKey, keys, ctx, app, clock } = await dealership();
  clock.set('2026-05-01T08:00:00Z');
  const { id, key } = await newKey({ expiresAt: '2026-05-01T10:00:00+01:00' });
  const api = speak(app, key);
  assert.equal((await api.get('/v1/me').succeeds()).key.expires_at, '2026-05-01T09:00:00Z');
  clock.move({ minutes: 59, seconds: 59 });
  await api.get('/v1/me').succeeds();
  clock.move({ seconds: 1 });
  await api.get('/v1/me').refuses(401, 'api_key_expired');
  await keys.change(ctx, id, { expiresAt: null });
  await api.get('/v1/me').succeeds();
  clock.release();
});

test('a key has the form svc_<environment>_<type>_<lookup>_<secret>, the secret ending in the CRC-32 of everything before it', async () => {
  const { id: dealerId, newKey, app, service } = await dealership();
  for (const [environment, kind, letters] of [
    ['live', 'secret', 'sk'],
    ['live', 'publishable', 'pk'],
    ['test', 'secret', 'sk'],
    ['test', 'publishable', 'pk'],
  ] as const) {
    const { key } = await newKey({ environment, kind });
    assert.match(key, new RegExp(`^svc_${environment}_${letters}_[0-9A-Za-z]{12}_[0-9A-Za-z]{38}$`));
    assert.equal(key.slice(-6), checksum(key.slice(0, -6)));
    await speak(app, key).get('/v1/me').succeeds();
  }
  // A fixed example, so that scanners and clients elsewhere can be held against it.
  assert.equal(checksum('svc_live_sk_000000000000_00000000000000000000000000000000'), '43xl2h');
  const { id, key } = await newKey();
  const unchecked = `svc_live_sk_${'0'.repeat(12)}_${'0'.repeat(38)}`;
  await service.pools.doors.query(
    'insert into api_key_secret (lookup, dealer_id, key_id, hash, created_at) values ($1, $2, $3, $4, now())',
    [...['0'.repeat(12), dealerId, id, sha256('0'.repeat(38))]],
  );
  for (const wrong of [
    unchecked,
    ...[key.slice(0, -1), `${key}0`, key.toUpperCase(), key.replace('_sk_', '_pk_'), key.replace('live', 'test'), ` ${key.slice(1)}`],
    ...[key.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a')), `svc_oat_${key.slice(-38)}`, `${key} ${key}`],
  ]) {
    await speak(app, wrong).get('/v1/me').refuses(401, 'invalid_api_key');
  }
  for (const authorization of [`bearer ${key}`, `BEARER  ${key}`]) await speak(app, null).get('/v1/me', { authorization }).succeeds();
  for (const authorization of ['', 'Bearer', 'Bearer ', `Basic ${key}`, key]) {
    await speak(app, null).get('/v1/me', { authorization }).refuses(401, 'missing_api_key');
  }
});

test('a key is displayed once: only a SHA-256 hash of its secret part is kept', async () => {
  const { newKey, keys, ctx, app, service } = await dealership();
  const { id, key } = await newKey();
  const rolled = await keys.roll(ctx, id);
  await speak(app, rolled.key).post('/v1/vehicles', car, { 'idempotency-key': 'x' }).succeeds(201);
  const { rows } = await service.pools.doors.query('select hash from api_key_secret where key_id = $1 order by created_at', [id]);
  assert.deepEqual(
    rows.map(({ hash }) => hash.toString('hex')),
    [key, rolled.key].map((text) => sha256(text.slice(-38)).toString('hex')),
  );
  const { rows: tables } = await service.pools.doors.query(
    "select quote_ident(table_name) as name from information_schema.tables where table_schema = 'public'",
  );
  for (const { name } of tables) {
    const { rowCount } = await service.pools.doors.query(`select from ${name} t where t::text like any($1)`, [
      [key, rolled.key].map((text) => `%${text.slice(-38, -6)}%`),
    ]);
    assert.equal(rowCount, 0, `${name} holds a secret`);
  }
});

test('when and from where a key was last used is written down, without touching the record of the key', async () => {
  const { newKey, service } = await dealership();
  const app = recordTraffic(buildApi({ service, baseUrl: 'http://127.0.0.1:4000', trustedProxies: [] }));
  const { id, key } = await newKey();
  const row = async () =>
    (await service.pools.doors.query('select last_used_at, last_used_ip, updated_at from api_key where id = $1', [id])).rows[0];
  const before = await row();
  for (const remoteAddress of ['203.0.113.7', '2001:db8:1:2:3:4:5:6']) {
    await app.inject({ url: '/v1/me', remoteAddress, headers: { authorization: `Bearer ${key}` } });
  }
  await app.close();
  const { last_used_at: at, last_used_ip: ip, updated_at: updated } = await row();
  assert.equal(before.last_used_at, null);
  assert.ok(at > before.updated_at);
  assert.equal(ip, '2001:db8:1:2:3:4:5:6');
  assert.equal(updated, before.updated_at);
});

const publishableFields = [
  'id',
  'name',
  'trading_name',
  'environment',
  'currency',
  'country',
  'time_zone',
  'website_url',
  'branches',
  'key',
  'app',
];
const secretFields = [
  ...[
    'id',
    'name',
    'trading_name',
    'dealer_code',
    'environment',
    'currency',
    'country',
    'time_zone',
    'locale',
    'vat_number',
    'website_url',
  ],
  ...['plan', 'features', 'limits', 'branches', 'key', 'owner', 'app'],
];
const keyFields = ['id', 'name', 'kind', 'lookup', 'scopes', 'effective_scopes', 'all_branches', 'branch_ids', 'expires_at', 'created_at'];

test('GET /v1/me works with any key and shows a secret key everything', async () => {
  const { id, code, branch, owner, newKey, app, setPlan } = await dealership({ plan: 'STANDARD' });
  const { id: keyId, key } = await newKey({ name: 'Website', scopes: [], rateLimit: 90, expiresAt: '2099-01-01T00:00:00Z' });
  const me = await speak(app, key).get('/v1/me').succeeds();
  assert.deepEqual(Object.keys(me), secretFields);
  assert.deepEqual(Object.keys(me.key), keyFields);
  assert.deepEqual([me.id, me.dealer_code, me.environment, me.currency, me.time_zone], [id, code, 'live', 'GBP', 'Europe/London']);
  assert.deepEqual(me.plan, { code: 'STANDARD', name: 'Standard', is_free: false });
  assert.deepEqual(me.features, { theme_builder: false, instant_valuations: false });
  assert.deepEqual(me.branches, [{ id: branch.id, name: branch.name }]);
  assert.deepEqual(me.owner, { id: owner.id, name: 'A Member' });
  assert.equal(me.app, null);
  const { created_at: createdAt, ...rest } = me.key;
  assert.match(createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  assert.deepEqual(rest, {
    id: keyId,
    name: 'Website',
    kind: 'secret',
    lookup: key.split('_')[3],
    scopes: [],
    effective_scopes: [],
    all_branches: true,
    branch_ids: [],
    expires_at: '2099-01-01T00:00:00Z',
  });
  assert.deepEqual([me.limits.stock, me.limits.rate_limit_per_minute], [{ cap: null, used: 0 }, 90]);
  assert.deepEqual([me.limits.theme_generations.limit, me.limits.theme_generations.used], [10, 0]);
  assert.deepEqual(me.limits.webhook_endpoints, { limit: 20, used: 0 });
  assert.match(me.limits.theme_generations.resets_at, /^\d{4}-\d\d-01T00:00:00Z$/);
  await setPlan('PROFESSIONAL');
  assert.equal((await speak(app, key).get('/v1/me').succeeds()).limits.theme_generations.limit, 30);
});

test('GET /v1/me shows a publishable key the public fields alone, and published branches', async () => {
  const { branch, newBranch, apiWith } = await dealership();
  await newBranch(false);
  const me = await (await apiWith({ kind: 'publishable' })).get('/v1/me').succeeds();
  assert.deepEqual(Object.keys(me), publishableFields);
  assert.deepEqual(Object.keys(me.key), ['id', 'kind', 'scopes']);
  assert.deepEqual([me.key.kind, me.environment, me.app], ['publishable', 'live', null]);
  assert.deepEqual(me.branches, [{ id: branch.id, name: branch.name }]);
});

test('GET /v1/me shows a test key the sandbox, its user, and the plan of the caller', async () => {
  const { apiWith } = await dealership({ plan: 'STANDARD' });
  const { id, user } = await sandbox();
  const me = await (await apiWith({ environment: 'test' })).get('/v1/me').succeeds();
  assert.deepEqual([me.id, me.dealer_code, me.environment, me.plan.code], [id, 'sandbox', 'test', 'STANDARD']);
  assert.deepEqual(me.owner, { id: user.id, name: user.name });
  assert.equal(me.limits.stock.cap, 500);
  const open = await (await apiWith({ environment: 'test', kind: 'publishable' })).get('/v1/me').succeeds();
  assert.deepEqual([open.id, open.environment, Object.keys(open)], [id, 'test', publishableFields]);
});

test('GET /v1/reference/{list} works with any key and any scope', async () => {
  const { apiWith } = await dealership();
  for (const options of [
    { scopes: [] },
    { scopes: ['webhooks:manage' as const] },
    { kind: 'publishable' as const },
    { environment: 'test' as const, scopes: [] },
    { environment: 'test' as const, kind: 'publishable' as const },
  ]) {
    const api = await apiWith(options);
    assert.ok((await api.get('/v1/reference/vehicle-statuses').succeeds()).length > 0);
    await api.get('/v1/reference/nothing').refuses(404, 'not_found');
  }
});
