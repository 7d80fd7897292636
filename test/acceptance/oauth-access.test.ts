import assert from 'node:assert/strict';
import { test } from 'node:test';
import { identifier } from '#modules/keys/index.ts';
import { connectedApps, disconnectApp, revokeApp } from '#modules/oauth/index.ts';
import { oauthJobs, oauthSchedules } from '#modules/oauth/jobs.ts';
import { setUser } from '#modules/staff/index.ts';
import { createEndpoint, updateEndpoint } from '#modules/webhooks/commands.ts';
import { inTransaction, openTransaction } from '#platform/db/transaction.ts';
import { Refusal } from '#platform/errors.ts';
import { work } from '#platform/jobs/work.ts';
import { checksum } from '#platform/secrets.ts';
import { buildApi } from '../../src/app/api.ts';
import { contextOf } from '../../src/app/worker.ts';
import { speak } from '../support/api.ts';
import type { Dealership } from '../support/dealership.ts';
import { dealership } from '../support/dealership.ts';
import { approved, asUser, connected, exchangeCode, partner, postForm, refresh } from '../support/oauth.ts';
import { until } from '../support/until.ts';
import { endpointBy } from '../support/webhooks.ts';

const car = { condition: 'USED', make: 'Ford', model: 'Fiesta' };

test('an access token acts as who approved, for the dealership that did, and GET /v1/me tells of the app', async () => {
  const dealer = await dealership();
  const branch = await dealer.newBranch();
  const seller = await dealer.newUser({ role: 'SALES_MANAGER', branches: [branch.id] });
  const { access } = await connected(dealer, { staffId: seller.id, scopes: ['vehicles:read', 'vehicles:write'] });
  const api = speak(dealer.app, access);
  const me = await api.get('/v1/me').succeeds();
  assert.deepEqual([me.dealer_code, me.environment, me.owner.id], [dealer.code, 'live', seller.id]);
  const { id, authorised_at, ...app } = me.app;
  assert.deepEqual(app, {
    name: 'Partner',
    website_url: 'https://partner.example',
    logo_url: null,
    scopes: ['vehicles:read', 'vehicles:write'],
  });
  assert.match(`${id} ${authorised_at}`, /^[0-9a-f-]{36} \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  assert.deepEqual([me.key.kind, me.key.name, me.key.lookup], ['oauth', 'Partner', null]);
  assert.deepEqual([me.key.all_branches, me.key.branch_ids], [false, [branch.id]], 'the branches of who approved');
  assert.ok(me.key.expires_at > me.key.created_at);

  const { body, status } = await api.post('/v1/vehicles', car);
  assert.equal(status, 201, JSON.stringify(body));
  assert.equal(body.data.branch_id, branch.id);
  const { rows } = await dealer.service.pools.doors.query("select actor from event where dealer_id = $1 and type = 'vehicle.created'", [
    dealer.id,
  ]);
  assert.deepEqual(rows[0].actor, { kind: 'oauth_app', id: me.key.id, name: 'Partner' });
  assert.equal((await dealer.api.get('/v1/me').succeeds()).app, null);
});

test('an access token goes no further than its scopes and the present permissions of who approved', async () => {
  const dealer = await dealership();
  const user = await dealer.newUser();
  const { access } = await connected(dealer, { staffId: user.id, scopes: ['vehicles:read', 'vehicles:write'] });
  const api = speak(dealer.app, access);
  await api.post('/v1/vehicles', car).succeeds(201);
  await api.get('/v1/customers').refuses(403, 'insufficient_scope');
  await setUser(dealer.ctx, user.email, { without: ['STOCK_EDIT'] });
  const { required } = await api.post('/v1/vehicles', car).refuses(403, 'scope_not_permitted_for_owner');
  assert.deepEqual(required, { scope: 'vehicles:write', permission: 'STOCK_EDIT' });
  await api.get('/v1/vehicles').succeeds();
  await setUser(dealer.ctx, user.email, { status: 'deleted' });
  await api.get('/v1/me').refuses(401, 'key_owner_inactive');
});

test('what is no access token, or is none that was issued, is no key', async () => {
  const dealer = await dealership();
  const flow = await approved(dealer);
  const { access, refreshToken } = await connected(dealer);
  const forged = `svc_oat_${'a'.repeat(32)}`;
  for (const token of [
    refreshToken,
    flow.code,
    flow.partner.clientSecret,
    forged + checksum(forged),
    `${access}x`,
    access.slice(0, -1),
    access.toUpperCase(),
  ])
    await speak(dealer.app, token).get('/v1/me').refuses(401, 'invalid_api_key');
  await speak(dealer.app, access).get('/v1/me').succeeds();
});

test('all access tokens of an authorisation share one allowance, also those that are revoked; another authorisation has its own', async () => {
  const dealer = await dealership();
  const { partner: app, access, refreshToken } = await connected(dealer);
  const left = async (token: string) => {
    const { headers } = await speak(dealer.app, token).get('/v1/me');
    return [headers['x-ratelimit-limit'], headers['x-ratelimit-remaining']].map(Number);
  };
  assert.deepEqual(await left(access), [120, 119]);
  const { body } = await refresh(dealer, app, refreshToken);
  assert.deepEqual(await left(body.access_token), [120, 118]);
  assert.deepEqual(await left((await connected(dealer, { partner: app })).access), [120, 119]);
  await refresh(dealer, app, refreshToken);
  assert.deepEqual(await left(access), [120, 117], 'now revoked');
});

test('an access token may be sent from a browser, where a secret key may not', async () => {
  const dealer = await dealership();
  const { access } = await connected(dealer);
  await speak(dealer.app, access).get('/v1/vehicles', { origin: 'https://www.example.com' }).succeeds();
  await speak(dealer.app, access).get('/v1/vehicle-batches').succeeds();
});

test('a repeated POST is answered as before by any token of the authorisation, and by no other', async () => {
  const dealer = await dealership();
  const { partner: app, access, refreshToken } = await connected(dealer);
  const other = await connected(dealer, { partner: app });
  const create = (token: string) => speak(dealer.app, token).post('/v1/vehicles', car, { 'idempotency-key': 'once' });
  const first = await create(access).succeeds(201);
  const { body } = await refresh(dealer, app, refreshToken);
  const again = await create(body.access_token);
  assert.deepEqual([again.body.data.id, again.headers['idempotent-replayed']], [first.id, 'true']);
  assert.notEqual((await create(other.access).succeeds(201)).id, first.id);
});

test('the dealer sees the connected apps and disconnects one; its next request is refused, and its refresh', async () => {
  const dealer = await dealership();
  const [mine, kept] = [await connected(dealer), await connected(dealer)];
  const stranger = await dealership();
  const administrator = await asUser(dealer, dealer.owner.id);
  const seller = await asUser(dealer, (await dealer.newUser({ role: 'SALES_MANAGER' })).id);
  const { key } = await speak(dealer.app, mine.access).get('/v1/me').succeeds();

  const list = await connectedApps(dealer.ctx);
  assert.deepEqual(
    list.map(({ app }) => app.name),
    ['Partner', 'Partner'],
  );
  const shown = list.find(({ id }) => id === key.id);
  assert.deepEqual([shown?.approvedBy.id, shown?.scopes], [dealer.owner.id, ['vehicles:read', 'vehicles:write']]);
  assert.deepEqual(await connectedApps(stranger.ctx), []);

  const refusal = (work: Promise<void>, code: string) => assert.rejects(work, (error) => error instanceof Refusal && error.code === code);
  await refusal(disconnectApp(stranger.ctx, key.id), 'not_found');
  await refusal(disconnectApp(administrator, '00000000-0000-0000-0000-000000000000'), 'not_found');
  await refusal(disconnectApp(seller, key.id), 'request_refused');
  await speak(dealer.app, mine.access).get('/v1/me').succeeds();

  await disconnectApp(administrator, key.id);
  await speak(dealer.app, mine.access).get('/v1/me').refuses(401, 'api_key_revoked');
  assert.equal((await refresh(dealer, mine.partner, mine.refreshToken)).body.error, 'invalid_grant');
  await disconnectApp(administrator, key.id);
  await speak(dealer.app, kept.access).get('/v1/me').succeeds();
  assert.equal((await connectedApps(dealer.ctx)).length, 1);
});

test('when it was used last is written down', async () => {
  const dealer = await dealership();
  const { access } = await connected(dealer);
  const app = buildApi({ service: dealer.service, baseUrl: 'http://127.0.0.1:4000', trustedProxies: [] });
  await speak(app, access).get('/v1/me').succeeds();
  assert.equal((await connectedApps(dealer.ctx))[0]?.lastUsedAt, null);
  await app.close();
  assert.ok((await connectedApps(dealer.ctx))[0]?.lastUsedAt);
});

test('an app that the operator revokes opens nothing any more, at any dealer', async () => {
  const [one, two] = [await dealership(), await dealership()];
  const app = await partner(one.service);
  const tokens = [await connected(one, { partner: app }), await connected(two, { partner: app })];
  const waiting = await approved(one, { partner: app });
  assert.deepEqual(await revokeApp(one.service, app.clientId), { authorisations: 2 });
  for (const { access } of tokens) await speak(one.app, access).get('/v1/me').refuses(401, 'api_key_revoked');
  assert.deepEqual([(await exchangeCode(one, waiting)).status, (await refresh(one, app, tokens[0]!.refreshToken)).status], [401, 401]);
  assert.deepEqual(await connectedApps(one.ctx), []);
  assert.deepEqual(await revokeApp(one.service, app.clientId), { authorisations: 0 });
  await assert.rejects(revokeApp(one.service, 'nobody'), { code: 'not_found' });
});

test('an end of an app that was broken off is gone on with, by whoever asks again or by the hour', async () => {
  const [one, two] = [await dealership(), await dealership()];
  const app = await partner(one.service);
  for (const dealer of [one, two]) await connected(dealer, { partner: app });
  const ends = async () => {
    const { rows } = await one.service.pools.doors.query(
      'select revoked_by from oauth_authorisation g join oauth_app p on p.id = g.app_id where p.client_id = $1',
      [app.clientId],
    );
    return rows.map(({ revoked_by }) => revoked_by);
  };
  // Queueing fails at one dealer alone.
  const { queue } = one.service;
  const send: typeof queue.send = (connection, job, parcel, named) =>
    parcel.dealer.id === one.id ? Promise.reject(new Error('away')) : queue.send(connection, job, parcel, named);
  await assert.rejects(
    revokeApp({ ...one.service, queue: { ...queue, send } }, app.clientId),
    /1 of 2 authorisations are not ended yet: .*away/,
  );
  assert.deepEqual(new Set(await ends()), new Set(['operator', null]));
  assert.deepEqual(await revokeApp(one.service, app.clientId), { authorisations: 1 });
  assert.deepEqual(await ends(), ['operator', 'operator']);
  await one.service.pools.doors.query('update oauth_authorisation set revoked_at = null, revoked_by = null where dealer_id = $1', [two.id]);
  await ended(one);
  assert.deepEqual(await ends(), ['operator', 'operator']);
});

test('an end waits for nobody who writes at the dealership', async () => {
  const dealer = await dealership();
  const { partner: app, access, refreshToken } = await connected(dealer);
  const second = await connected(dealer, { partner: app });
  const { key } = await speak(dealer.app, second.access).get('/v1/me').succeeds();
  const { body } = await refresh(dealer, app, refreshToken);
  const gate = Promise.withResolvers<void>();
  const has = Promise.withResolvers<void>();
  const writing = inTransaction(dealer.ctx, () => {
    has.resolve();
    return gate.promise;
  });
  await has.promise;
  const waiting = Array.from({ length: 5 }, () => openTransaction(dealer.ctx, () => gate.promise));
  try {
    assert.equal((await refresh(dealer, app, refreshToken)).body.error, 'invalid_grant');
    for (const token of [access, body.access_token]) await speak(dealer.app, token).get('/v1/me').refuses(401, 'api_key_revoked');
    await disconnectApp(await asUser(dealer, dealer.owner.id), key.id);
    await speak(dealer.app, second.access).get('/v1/me').refuses(401, 'api_key_revoked');
  } finally {
    gate.resolve();
    await Promise.all([writing, ...waiting]);
  }
});

test('the activity log tells of an authorisation from its approval to its end, with the requests', async () => {
  const dealer = await dealership();
  const { partner: app, access, refreshToken } = await connected(dealer);
  const { key } = await speak(dealer.app, access).get('/v1/me').succeeds();
  const { headers } = await postForm(dealer.app, '/v1/oauth/revoke', app, { token: refreshToken });
  const { rows } = await dealer.service.pools.doors.query(
    "select action, caller_kind, fields, request_id from activity where record_type = 'oauth_authorisation' and record_id = $1 order by at",
    [key.id],
  );
  assert.deepEqual(rows, [
    { action: 'created', caller_kind: 'user', fields: ['scopes'], request_id: null },
    { action: 'updated', caller_kind: 'system', fields: ['revoked_at'], request_id: headers['x-request-id'] },
  ]);
});

/** What the hour brings. */
const ended = ({ service }: Pick<Dealership, 'service'>) => oauthSchedules.find(({ name }) => name === 'oauth.end_overdue')!.run(service);

const standingOf = async ({ service }: Dealership, id: string) => {
  const { rows } = await service.pools.doors.query('select enabled, disabled_reason from webhook_endpoint where id = $1', [id]);
  return rows[0];
};

test('the webhook endpoints of an app end with its authorisation, also those the plan has silenced, and those of others do not', async (t) => {
  const dealer = await dealership();
  const app = await partner(dealer.service, { scopes: ['vehicles:read', 'webhooks:manage'] });
  const wanted = { partner: app, scopes: ['vehicles:read', 'webhooks:manage'] } as const;
  const [mine, other, silenced] = [await connected(dealer, wanted), await connected(dealer, wanted), await connected(dealer, wanted)];
  const made = async (token: string) =>
    (await endpointBy(speak(dealer.app, token), { events: ['vehicle.*'] })) as { id: string; created_by: object };
  const [first, second, third] = [await made(mine.access), await made(other.access), await made(silenced.access)];
  const ofKey = await endpointBy(dealer.api);
  assert.equal((first.created_by as { kind: string }).kind, 'oauth_app');
  const working = await work({ databaseUrl: dealer.databaseUrl, service: dealer.service, handlers: oauthJobs, schedules: [], contextOf });
  t.after(() => working.close());

  const reused = await refresh(dealer, app, mine.refreshToken);
  assert.equal(reused.status, 200);
  assert.equal((await refresh(dealer, app, mine.refreshToken)).status, 400);
  await until(async () => (await standingOf(dealer, first.id)).disabled_reason === 'app_revoked');
  for (const { id } of [second, third, ofKey]) assert.equal((await standingOf(dealer, id)).enabled, true);

  await dealer.setPlan('FREE');
  assert.equal((await standingOf(dealer, third.id)).disabled_reason, 'plan');
  const list = await connectedApps(dealer.ctx);
  const { id } = list.find((one) => one.id === (third.created_by as { id: string }).id)!;
  await disconnectApp(dealer.ctx, id);
  await until(async () => (await standingOf(dealer, third.id)).disabled_reason === 'app_revoked');
  await dealer.setPlan('STANDARD');
  assert.deepEqual(
    [
      (await standingOf(dealer, first.id)).enabled,
      (await standingOf(dealer, second.id)).enabled,
      (await standingOf(dealer, third.id)).enabled,
    ],
    [false, true, false],
  );
});

test('what is left unused for 90 days ends with its webhook endpoints, whatever these were disabled for, and nobody enables them again', async (t) => {
  const dealer = await dealership();
  const wanted = {
    partner: await partner(dealer.service, { scopes: ['vehicles:read', 'webhooks:manage'] }),
    scopes: ['vehicles:read', 'webhooks:manage'],
  } as const;
  dealer.clock.set('2033-01-01T12:00:00Z');
  const working = await work({ databaseUrl: dealer.databaseUrl, service: dealer.service, handlers: oauthJobs, schedules: [], contextOf });
  t.after(() => working.close());
  t.after(() => dealer.clock.release());
  const [idle, used] = [await connected(dealer, wanted), await connected(dealer, wanted)];
  const made = async (token: string, fields: object) => (await endpointBy(speak(dealer.app, token), fields)).id as string;
  const sending = await made(idle.access, { events: ['vehicle.*'] });
  const off = await made(idle.access, { events: ['vehicle.*'], enabled: false });
  const others = await made(used.access, { events: ['vehicle.*'] });
  dealer.clock.move({ days: 89 });
  await refresh(dealer, used.partner, used.refreshToken);
  await ended(dealer);
  assert.equal((await standingOf(dealer, sending)).enabled, true);
  dealer.clock.move({ days: 1 });
  await ended(dealer);
  for (const id of [sending, off]) await until(async () => (await standingOf(dealer, id)).disabled_reason === 'app_revoked');
  assert.equal((await standingOf(dealer, others)).enabled, true);
  const { rows } = await dealer.service.pools.doors.query('select revoked_by from oauth_authorisation where dealer_id = $1 order by 1', [
    dealer.id,
  ]);
  assert.deepEqual(rows, [{ revoked_by: 'expired' }, { revoked_by: null }]);

  for (const id of [sending, off])
    for (const wish of [{ enabled: true }, { status: 'active' }]) {
      const { message } = await dealer.api.patch(`/v1/webhook-endpoints/${id}`, wish).refuses(422, 'request_refused');
      assert.match(message, /Make a new one/);
    }
  await dealer.api.patch(`/v1/webhook-endpoints/${sending}`, { description: 'of old' }).succeeds();
});

test('an app sees and steers the webhook endpoints it made with its authorisation, and no others', async () => {
  const dealer = await dealership();
  const all = ['vehicles:read', 'webhooks:manage'] as const;
  const wanted = { partner: await partner(dealer.service, { scopes: [...all] }), scopes: all };
  const [mine, other] = [await connected(dealer, wanted), await connected(dealer, wanted)];
  const app = speak(dealer.app, mine.access);
  const own = await endpointBy(app, { events: ['vehicle.*'] });
  const car = await dealer.api.post('/v1/vehicles', { condition: 'USED', make: 'Ford', model: 'Fiesta' }).succeeds(201);
  const [event] = (await dealer.api.get(`/v1/events?object_id=${car.id}`)).body.data;
  const theirs = [
    await endpointBy(speak(dealer.app, other.access), { events: ['vehicle.*'] }),
    await endpointBy(dealer.api, { events: ['vehicle.*'] }),
  ];
  assert.deepEqual(
    (await app.get('/v1/webhook-endpoints')).body.data.map(({ id }: { id: string }) => id),
    [own.id],
  );
  for (const { id } of theirs) {
    const at = `/v1/webhook-endpoints/${id}`;
    await app.get(at).refuses(404, 'not_found');
    await app.patch(at, { description: 'taken over' }).refuses(404, 'not_found');
    await app.patch(at, { url: 'https://hooks.example/taken' }).refuses(404, 'not_found');
    await app.delete(at).refuses(404, 'not_found');
    for (const [action, body] of [
      ['roll-secret', {}],
      ['test', undefined],
      ['replay', { since: new Date().toISOString() }],
    ] as const)
      await app.post(`${at}/${action}`, body).refuses(404, 'not_found');
    await app.get(`${at}/deliveries`).refuses(404, 'not_found');
    await app.post(`/v1/events/${event.id}/resend`, { webhook_endpoint_id: id }).refuses(422, 'validation_failed');
  }
  await app.patch(`/v1/webhook-endpoints/${own.id}`, { description: 'kept' }).succeeds();
  assert.equal((await dealer.api.get('/v1/webhook-endpoints')).body.data.length, 3);
  await dealer.api.delete(`/v1/webhook-endpoints/${own.id}`).succeeds();
});

test('what is over for 90 days is swept, and nothing else', async () => {
  const dealer = await dealership();
  const { clock } = dealer;
  const count = async () => {
    const tables = ['oauth_authorisation', 'oauth_code', 'oauth_access_token', 'oauth_refresh_token'];
    const sums = tables.map((table) => `(select count(*) from ${table} where dealer_id = $1)::int as ${table}`);
    const { rows } = await dealer.service.pools.doors.query(`select ${sums.join(', ')}`, [dealer.id]);
    return Object.values(rows[0]);
  };
  const sweep = async () => {
    for (const { run } of oauthSchedules) await run(dealer.service);
  };
  clock.set('2032-01-01T12:00:00Z');
  try {
    const [used, revoked, idle] = [await connected(dealer), await connected(dealer), await connected(dealer)];
    await approved(dealer);
    await exchangeCode(dealer, revoked);
    assert.deepEqual(await count(), [3, 4, 3, 3]);
    clock.move({ days: 89 });
    const next = await refresh(dealer, used.partner, used.refreshToken);
    await sweep();
    assert.deepEqual(await count(), [3, 3, 4, 4], 'a code that was never used goes first');
    clock.move({ days: 2 });
    await sweep();
    assert.deepEqual(await count(), [2, 2, 3, 3], 'what was revoked 91 days ago');
    clock.move({ days: 91 });
    await sweep();
    assert.deepEqual(await count(), [1, 1, 2, 2], 'what ended unused 91 days ago');
    assert.equal((await refresh(dealer, idle.partner, idle.refreshToken)).body.error, 'invalid_grant');
    assert.equal(
      (await refresh(dealer, used.partner, used.refreshToken)).body.error,
      'invalid_grant',
      'a second use is known as one for as long',
    );
    await speak(dealer.app, next.body.access_token).get('/v1/me').refuses(401, 'api_key_revoked');
  } finally {
    clock.release();
  }
});

test('a request that is under way while its authorisation ends makes no webhook endpoint, and enables none', async (t) => {
  const dealer = await dealership();
  const app = await partner(dealer.service, { scopes: ['vehicles:read', 'webhooks:manage'] });
  const { access } = await connected(dealer, { partner: app, scopes: ['vehicles:read', 'webhooks:manage'] });
  const { identify, close } = identifier(dealer.service);
  t.after(close);
  const { known } = await identify(access, '127.0.0.1');
  const ctx = { ...dealer.ctx, caller: known!.caller };
  const { id } = await endpointBy(speak(dealer.app, access), { events: ['vehicle.*'], enabled: false });
  await disconnectApp(dealer.ctx, known!.caller.id!);
  const revoked = { code: 'api_key_revoked' };
  await assert.rejects(createEndpoint(ctx, { url: 'https://hooks.example:1/in', events: ['vehicle.*'] }), revoked);
  await assert.rejects(updateEndpoint(ctx, id, { enabled: true }), revoked);
});
