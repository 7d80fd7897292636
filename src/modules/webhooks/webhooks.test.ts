import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setDealer } from '#modules/dealers/index.ts';
import { setUser } from '#modules/staff/index.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import type { Dealership } from '../../../test/support/dealership.ts';
import { dealership } from '../../../test/support/dealership.ts';
import { until } from '../../../test/support/until.ts';
import { deadUrl, endpointBy, eventsAbout, pendingAt } from '../../../test/support/webhooks.ts';
import { disableEndpoints } from './index.ts';

const nobody = '00000000-0000-4000-8000-000000000000';
const path = '/v1/webhook-endpoints';
const car = { condition: 'USED', make: 'Ford', model: 'Fiesta' };
const ids = (items: { id: string }[]) => items.map(({ id }) => id);

const rowOf = async ({ service }: Pick<Dealership, 'service'>, id: string) =>
  (await service.pools.doors.query('select * from webhook_endpoint where id = $1', [id])).rows[0];

const activityOf = async ({ service }: Pick<Dealership, 'service'>, id: string) =>
  (await service.pools.doors.query('select action, fields from activity where record_id = $1 order by at', [id])).rows;

/** How many wait for the turn of a dealer. */
const waitingFor = async ({ service }: Pick<Dealership, 'service'>): Promise<number> =>
  (
    await service.pools.doors.query(
      `select count(*) as waiting from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock' and query like '%dealer_clock%'`,
    )
  ).rows[0].waiting;

/** An endpoint that has failed for an hour, as the worker would have noted. */
const fail = ({ service, id }: Dealership, endpointId: string) =>
  service.pools.doors.query(
    `insert into endpoint_health (dealer_id, endpoint_id, failing_since, last_failure_at, last_attempt_at, notices)
     values ($1, $2, now() - interval '1 hour', now(), now(), 1)
     on conflict (dealer_id, endpoint_id) do update set failing_since = excluded.failing_since, notices = 1`,
    [id, endpointId],
  );

test('an endpoint is created with its secret, read without it, changed and deleted', async () => {
  const dealer = await dealership();
  const { api, keyId } = dealer;
  const answer = await api.post(path, {
    url: 'https://hooks.example:8443/in?x=1',
    events: ['vehicle.*', 'enquiry.created'],
    description: 'Ours',
  });
  assert.equal(answer.status, 201);
  const { secret, ...created } = answer.body.data;
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.equal(answer.headers.location, `${path}/${created.id}`);
  const { id, created_at, updated_at, ...rest } = created;
  assert.equal(created_at, updated_at);
  assert.deepEqual(rest, {
    url: 'https://hooks.example:8443/in?x=1',
    description: 'Ours',
    events: ['vehicle.*', 'enquiry.created'],
    status: 'active',
    enabled: true,
    disabled_reason: null,
    disabled_at: null,
    failing_since: null,
    last_success_at: null,
    last_attempt_at: null,
    all_branches: true,
    branch_ids: [],
    created_by: { kind: 'key', id: keyId, name: 'A key' },
    secret_hint: secret.slice(-4),
  });
  assert.deepEqual(await api.get(`${path}/${id}`).succeeds(), created);
  assert.deepEqual(await api.get(path).succeeds(), [created]);

  const changed = await api.patch(`${path}/${id}`, { description: null, url: deadUrl }).succeeds();
  assert.deepEqual([changed.description, changed.url, changed.events], [null, deadUrl, created.events]);
  const deleted = await api.delete(`${path}/${id}`).succeeds();
  assert.deepEqual([deleted.id, deleted.deleted], [id, true]);
  for (const asking of [api.get(`${path}/${id}`), api.patch(`${path}/${id}`, {}), api.delete(`${path}/${id}`)])
    await asking.refuses(404, 'not_found');
  assert.deepEqual(await api.get(path).succeeds(), []);
  assert.deepEqual(await activityOf(dealer, id), [
    { action: 'created', fields: [] },
    { action: 'updated', fields: ['url', 'description'] },
    { action: 'deleted', fields: [] },
  ]);
});

test('an endpoint can be created disabled', async () => {
  const { api } = await dealership();
  const endpoint = await endpointBy(api, { enabled: false });
  assert.deepEqual([endpoint.status, endpoint.disabled_reason, endpoint.disabled_at], ['disabled', 'manual', endpoint.created_at]);
});

test('a secret is kept sealed, and stands in no list, event, activity or answer but those of its creation and its roll', async () => {
  const dealer = await dealership();
  const { api, service } = dealer;
  const { id, secret } = await endpointBy(api);
  await api.post(`${path}/${id}/test`).succeeds();
  const rolled = await api.post(`${path}/${id}/roll-secret`).succeeds();
  const told = JSON.stringify([
    await api.get(path),
    await api.get(`${path}/${id}`),
    await api.patch(`${path}/${id}`, { description: 'x' }),
    await api.get(`${path}/${id}/deliveries`),
    (await service.pools.doors.query('select row_to_json(w) from webhook_endpoint w where id = $1', [id])).rows,
    (await service.pools.doors.query('select row_to_json(a) from activity a where dealer_id = $1', [dealer.id])).rows,
    (await service.pools.doors.query('select row_to_json(e) from event e where dealer_id = $1', [dealer.id])).rows,
  ]);
  for (const known of [secret, rolled.secret]) assert.ok(!told.includes(known.slice(6, -4)));
});

test('a creation that is repeated with its Idempotency-Key makes no other endpoint, and shows the secret again', async () => {
  const { api } = await dealership();
  const body = { url: deadUrl, events: ['*'] };
  const ask = () => api.post(path, body, { 'idempotency-key': 'one' });
  const [first, again] = [await ask(), await ask()];
  assert.equal(again.headers['idempotent-replayed'], 'true');
  assert.deepEqual(again.body, first.body);
  assert.equal((await api.get(path).succeeds()).length, 1);
  await api.post(path, { ...body, events: ['vehicle.*'] }, { 'idempotency-key': 'one' }).refuses(409, 'idempotency_key_reused');
});

test('a roll shows a new secret and keeps the one before for a day, for as long as it says, or not at all', async () => {
  const dealer = await dealership();
  const { api, clock } = dealer;
  const first = await endpointBy(api);
  const until = async () => (await rowOf(dealer, first.id)).old_secret_until;
  clock.set('2040-02-01T10:00:00Z');
  try {
    const rolled = await api.post(`${path}/${first.id}/roll-secret`).succeeds();
    assert.notEqual(rolled.secret, first.secret);
    assert.deepEqual([rolled.secret_hint, rolled.updated_at], [rolled.secret.slice(-4), '2040-02-01T10:00:00Z']);
    assert.match(await until(), /^2040-02-02T10:00:00/);
    await api.post(`${path}/${first.id}/roll-secret`, {}).succeeds();
    assert.match(await until(), /^2040-02-02T10:00:00/);
    await api.post(`${path}/${first.id}/roll-secret`, { keep_previous_for_hours: 72 }).succeeds();
    assert.match(await until(), /^2040-02-04T10:00:00/);
    await api.post(`${path}/${first.id}/roll-secret`, { keep_previous_for_hours: 0 }).succeeds();
    assert.deepEqual([await until(), (await rowOf(dealer, first.id)).old_secret_enc], [null, null]);
  } finally {
    clock.release();
  }
  for (const wrong of [-1, 73, 1.5, '24', null]) {
    const { errors } = await api
      .post(`${path}/${first.id}/roll-secret`, { keep_previous_for_hours: wrong })
      .refuses(422, 'validation_failed');
    assert.deepEqual(Object.keys(errors), ['keep_previous_for_hours']);
  }
  assert.deepEqual((await activityOf(dealer, first.id)).at(-1), { action: 'updated', fields: ['secret'] });
  const repeat = () => api.post(`${path}/${first.id}/roll-secret`, undefined, { 'idempotency-key': 'roll' }).succeeds();
  assert.equal((await repeat()).secret, (await repeat()).secret);
  await api.post(`${path}/${nobody}/roll-secret`).refuses(404, 'not_found');
});

test('a change that changes nothing succeeds and leaves updated_at', async () => {
  const dealer = await dealership();
  const { api } = dealer;
  const { secret: _shown, ...endpoint } = await endpointBy(api, { description: 'Ours' });
  const { url, events, description } = endpoint;
  for (const nothing of [{}, { url, events, description, enabled: true, status: 'active' }]) {
    assert.deepEqual(await api.patch(`${path}/${endpoint.id}`, nothing).succeeds(), endpoint);
  }
  const { secret: _other, ...off } = await endpointBy(api, { enabled: false });
  await inTransaction(dealer.ctx, async (tx) => disableEndpoints(tx, [off.id], 'delivery_failures'));
  assert.deepEqual(
    await api.patch(`${path}/${off.id}`, { enabled: false }).succeeds(),
    off,
    'one that is disabled stays so for its reason',
  );
});

test('what is wrong with a body is told by field', async () => {
  const { api } = await dealership();
  const { id } = await endpointBy(api);
  const wrong = async (body: object, ...fields: string[]) => {
    const { errors } = await api.post(path, { url: deadUrl, events: ['*'], ...body }).refuses(422, 'validation_failed');
    assert.deepEqual(Object.keys(errors).sort(), fields);
    return errors;
  };
  await wrong({ url: undefined, events: undefined }, 'events', 'url');
  await wrong({ events: [] }, 'events');
  await wrong({ events: '*' }, 'events');
  await wrong({ description: 'x'.repeat(256) }, 'description');
  await wrong({ enabled: 'yes' }, 'enabled');
  await wrong({ status: 'active' }, 'status');
  await wrong({ secret: 'whsec_mine' }, 'secret');
  assert.match((await wrong({ descripton: 'x' }, 'descripton')).descripton[0], /description/);
  assert.match((await wrong({ events: ['vehicle.craeted'] }, 'events')).events[0], /"vehicle\.craeted".*"vehicle\.created"/);
  assert.match((await wrong({ events: ['vehicles.*'] }, 'events')).events[0], /"vehicle\.\*"/);
  assert.match((await wrong({ events: ['vehicle.*', 'vehicle.*'] }, 'events')).events[0], /twice/);
  assert.match((await wrong({ events: ['ping'] }, 'events')).events[0], /test/);
  for (const body of [{ url: null }, { events: null }, { enabled: null }, { status: 'on' }, { events: [] }, { events: ['nothing'] }]) {
    const { errors } = await api.patch(`${path}/${id}`, body).refuses(422, 'validation_failed');
    assert.deepEqual(Object.keys(errors), Object.keys(body));
  }
  for (const [enabled, status] of [
    [true, 'disabled'],
    [false, 'active'],
  ]) {
    const { errors } = await api.patch(`${path}/${id}`, { enabled, status }).refuses(422, 'validation_failed');
    assert.deepEqual(Object.keys(errors), ['status']);
  }
});

test('families are subscribed to before their first event', async () => {
  const { api } = await dealership();
  const endpoint = await endpointBy(api, { events: ['theme_generation.*', 'vehicle_batch.completed'] });
  assert.deepEqual(endpoint.events, ['theme_generation.*', 'vehicle_batch.completed']);
});

test('a disabled endpoint has its reason, loses what is still to be delivered, and can be enabled again by either word', async () => {
  const dealer = await dealership();
  const { api } = dealer;
  const { id } = await endpointBy(api);
  const since = new Date(Date.now() - 60_000).toISOString();
  const { id: carId } = await api.post('/v1/vehicles', car).succeeds(201);
  await api.post(`${path}/${id}/replay`, { since }).succeeds(202);
  assert.ok((await pendingAt(dealer, id)).length > 0);

  const off = await api.patch(`${path}/${id}`, { enabled: false }).succeeds();
  assert.deepEqual([off.enabled, off.status, off.disabled_reason, off.disabled_at], [false, 'disabled', 'manual', off.updated_at]);
  assert.deepEqual(await pendingAt(dealer, id), []);
  const on = await api.patch(`${path}/${id}`, { status: 'active' }).succeeds();
  assert.deepEqual([on.enabled, on.status, on.disabled_reason, on.disabled_at], [true, 'active', null, null]);
  assert.deepEqual(await pendingAt(dealer, id), [], 'enabling sends nothing of the past');
  assert.equal((await api.patch(`${path}/${id}`, { status: 'disabled' }).succeeds()).disabled_reason, 'manual');
  await api.get(`/v1/vehicles/${carId}`).succeeds();
});

test('what waits for an endpoint goes out neither to another url nor of a type that is no longer asked for', async () => {
  const dealer = await dealership();
  const { api } = dealer;
  const { id } = await endpointBy(api, { events: ['vehicle.*', 'customer.*'] });
  await api.post('/v1/customers', { last_name: 'Ash', email: 'ash@customer.example' }).succeeds(201);
  const { id: carId } = await api.post('/v1/vehicles', car).succeeds(201);
  const [ofCar] = await eventsAbout(dealer, carId);
  assert.equal((await pendingAt(dealer, id)).length, 2);
  await api.patch(`${path}/${id}`, { events: ['vehicle.*'] }).succeeds();
  assert.deepEqual(await pendingAt(dealer, id), [{ event_id: ofCar!.id, manual: false }]);
  await api.patch(`${path}/${id}`, { description: 'Still there' }).succeeds();
  assert.equal((await pendingAt(dealer, id)).length, 1);
  await api.patch(`${path}/${id}`, { url: `${deadUrl}/2` }).succeeds();
  assert.deepEqual(await pendingAt(dealer, id), []);
});

test('an endpoint that was asked for before the plan fell is neither made nor enabled after', async () => {
  const dealer = await dealership();
  const { id } = await endpointBy(dealer.api, { enabled: false });
  const asked = { url: deadUrl, events: ['*'] };
  const held = inTransaction(dealer.ctx, async (tx) => {
    const asking = [dealer.api.post(path, asked), dealer.api.patch(`${path}/${id}`, { enabled: true })].map((one) =>
      one.then((answer) => answer),
    );
    await until(async () => (await waitingFor(dealer)) === asking.length);
    await setDealer(tx, { plan: 'FREE' });
    return asking;
  });
  for (const asking of await held) assert.deepEqual([(await asking).status, (await asking).body.code], [403, 'plan_not_entitled']);
  await dealer.setPlan('STANDARD');
  const endpoints = await dealer.api.get(path).succeeds();
  assert.deepEqual(
    endpoints.map((one: { enabled: boolean }) => one.enabled),
    [false],
  );
});

test('enabling an endpoint, or giving it another url, forgets that it failed; any other change does not', async () => {
  const dealer = await dealership();
  const { api } = dealer;
  const { id } = await endpointBy(api);
  const failing = async () => (await api.get(`${path}/${id}`).succeeds()).failing_since;
  await fail(dealer, id);
  assert.notEqual(
    (await api.patch(`${path}/${id}`, { description: 'x', events: ['vehicle.*'], enabled: true }).succeeds()).failing_since,
    null,
  );
  assert.notEqual(await failing(), null);
  assert.equal((await api.patch(`${path}/${id}`, { url: `${deadUrl}/2` }).succeeds()).failing_since, null);
  assert.equal(await failing(), null);
  await fail(dealer, id);
  await api.patch(`${path}/${id}`, { enabled: false }).succeeds();
  assert.notEqual(await failing(), null);
  assert.equal((await api.patch(`${path}/${id}`, { enabled: true }).succeeds()).failing_since, null);
  assert.equal(await failing(), null);
});

test('the product itself disables those that are enabled, tells why, and cancels what is pending', async () => {
  const dealer = await dealership();
  const { api } = dealer;
  const [mine, off] = [await endpointBy(api), await endpointBy(api, { enabled: false })];
  await api.post('/v1/vehicles', car).succeeds(201);
  await api.post(`${path}/${mine.id}/replay`, { since: new Date(Date.now() - 60_000).toISOString() }).succeeds(202);
  await inTransaction(dealer.ctx, (tx) => disableEndpoints(tx, [mine.id, off.id], 'delivery_failures'));
  const reasons = (await api.get(path).succeeds()).map((one: { id: string; disabled_reason: string }) => [one.id, one.disabled_reason]);
  assert.deepEqual(Object.fromEntries(reasons), { [mine.id]: 'delivery_failures', [off.id]: 'manual' });
  assert.deepEqual(await pendingAt(dealer, mine.id), []);
  assert.deepEqual((await activityOf(dealer, mine.id)).at(-1), {
    action: 'updated',
    fields: ['enabled', 'disabled_reason', 'disabled_at'],
  });
  assert.equal((await activityOf(dealer, off.id)).length, 1);
});

test('endpoints page and filter like every list', async () => {
  const dealer = await dealership();
  const { api, branch } = dealer;
  const away = await dealer.newBranch();
  const one = await endpointBy(api);
  const two = await endpointBy(api, { enabled: false });
  const three = await endpointBy(await dealer.apiWith({ branchIds: [away.id] }));
  const found = async (query: string) => ids(await api.get(`${path}?${query}`).succeeds());
  assert.deepEqual(await found(''), [one.id, two.id, three.id]);
  assert.deepEqual(await found('enabled=true'), [one.id, three.id]);
  assert.deepEqual(await found('enabled=false'), [two.id]);
  assert.deepEqual(await found(`branch_id=${branch.id}`), [one.id, two.id]);
  assert.deepEqual(await found(`branch_id=${away.id}`), [one.id, two.id, three.id]);
  assert.deepEqual(await found(`ids=${two.id},${nobody}`), [two.id]);
  assert.deepEqual(await found(`updated_since=2100-01-01T00:00:00Z`), []);
  await api.patch(`${path}/${one.id}`, { description: 'x' }).succeeds();
  assert.deepEqual(await found(''), [two.id, three.id, one.id]);
  for (const query of ['enabled=1', 'include_deleted=true', 'status=active', 'external_id=1'])
    await api.get(`${path}?${query}`).refuses(422, 'validation_failed');
});

test('a dealership has at most twenty endpoints, though forty are asked for at once; disabled ones count, deleted ones do not', async () => {
  const dealer = await dealership();
  const { api } = dealer;
  const used = async () => (await api.get('/v1/me').succeeds()).limits.webhook_endpoints;
  assert.deepEqual(await used(), { limit: 20, used: 0 });
  const off = await endpointBy(api, { enabled: false });
  const answers = await Promise.all(Array.from({ length: 40 }, () => api.post(path, { url: deadUrl, events: ['*'] })));
  const codes = answers.map(({ status, body }) => (status === 201 ? 'made' : body.code));
  assert.deepEqual(
    [codes.filter((code) => code === 'made').length, codes.filter((code) => code === 'webhook_endpoint_limit_reached').length],
    [19, 21],
  );
  assert.deepEqual(await used(), { limit: 20, used: 20 });
  await api.delete(`${path}/${off.id}`).succeeds();
  assert.deepEqual(await used(), { limit: 20, used: 19 });
  await endpointBy(api);
  await api.post(path, { url: deadUrl, events: ['*'] }).refuses(422, 'webhook_endpoint_limit_reached');
  await endpointBy((await dealership()).api);
});

test('whoever made an endpoint is told, and it stays when that key is rolled, expires or is revoked', async () => {
  const dealer = await dealership();
  const made = await dealer.newKey({ name: 'Website', scopes: ['webhooks:manage', 'vehicles:read'], rateLimit: 1_000 });
  const endpoint = await endpointBy(dealer.api.as(made.key), { events: ['*'] });
  assert.deepEqual(endpoint.created_by, { kind: 'key', id: made.id, name: 'Website' });
  await dealer.keys.roll(dealer.ctx, made.id);
  await dealer.keys.change(dealer.ctx, made.id, { expiresAt: '2020-01-01T00:00:00Z' });
  await dealer.keys.revoke(dealer.ctx, made.id);
  const { secret: _shown, ...stays } = endpoint;
  assert.deepEqual(await dealer.api.get(`${path}/${endpoint.id}`).succeeds(), stays);
});

test('webhooks take a paid plan, a private key and webhooks:manage', async () => {
  const dealer = await dealership();
  const { api, setPlan } = dealer;
  const { id } = await endpointBy(api);
  const without = await dealer.apiWith({ scopes: ['vehicles:read', 'events:read'] });
  const owner = await dealer.newUser();
  const lost = await dealer.apiWith({ ownerId: owner.id });
  const publishable = await dealer.apiWith({ kind: 'publishable' });
  await setUser(dealer.ctx, owner.email, { without: ['WEBHOOKS_MANAGE'] });
  const all = [
    ['get', path],
    ['post', path],
    ['get', `${path}/${id}`],
    ['patch', `${path}/${id}`],
    ['delete', `${path}/${id}`],
    ['post', `${path}/${id}/roll-secret`],
    ['post', `${path}/${id}/test`],
    ['post', `${path}/${id}/replay`],
    ['get', `${path}/${id}/deliveries`],
    ['get', `${path}/${id}/deliveries/${nobody}`],
    ['post', `${path}/${id}/deliveries/${nobody}/resend`],
    ['post', `/v1/events/evt_${nobody}/resend`],
  ] as const;
  for (const [method, target] of all) {
    await api.as(null)[method](target).refuses(401, 'missing_api_key');
    assert.deepEqual((await without[method](target).refuses(403, 'insufficient_scope')).required, { scope: 'webhooks:manage' });
    assert.deepEqual((await lost[method](target).refuses(403, 'scope_not_permitted_for_owner')).required, {
      scope: 'webhooks:manage',
      permission: 'WEBHOOKS_MANAGE',
    });
    await publishable[method](target).refuses(403, 'secret_key_required');
  }
  await setPlan('FREE');
  for (const [method, target] of all) await api[method](target).refuses(403, 'plan_not_entitled');
});
