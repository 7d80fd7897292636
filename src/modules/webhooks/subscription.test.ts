import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setUser } from '#modules/staff/index.ts';
import type { Api } from '../../../test/support/api.ts';
import type { Dealership } from '../../../test/support/dealership.ts';
import { dealership } from '../../../test/support/dealership.ts';
import { deadUrl, endpointBy, eventsAbout, logAttempt } from '../../../test/support/webhooks.ts';
import { eventTypes, subscribable } from '../events/index.ts';

const path = '/v1/webhook-endpoints';
const ids = (items: { id: string }[]) => items.map(({ id }) => id);
const since = () => new Date(Date.now() - 60_000).toISOString();

const readableOf = async ({ service }: Dealership, id: string): Promise<string[]> =>
  (await service.pools.doors.query('select readable_types from webhook_endpoint where id = $1', [id])).rows[0].readable_types;

for (const { type, scopes } of subscribable) {
  test(`${type} is subscribed to, alone or by its family, by who may read it and nobody else`, async () => {
    const dealer = await dealership();
    const family = `${type.slice(0, type.lastIndexOf('.'))}.*`;
    const without = await dealer.apiWith({ scopes: ['webhooks:manage', 'events:read'] });
    for (const events of [[type], [family], ['*', type]]) {
      const { required } = await without.post(path, { url: deadUrl, events }).refuses(403, 'insufficient_scope');
      assert.deepEqual(required, { scope: scopes[0] });
    }
    for (const scope of scopes) {
      const reader = await dealer.apiWith({ scopes: ['webhooks:manage', scope as never] });
      const { id } = await endpointBy(reader, { events: [type, family] });
      assert.deepEqual(
        await readableOf(dealer, id),
        subscribable.filter((one) => one.scopes.includes(scope)).map((one) => one.type),
      );
    }
  });
}

test('a scope whose permission the owner has lost is told from one the key never had', async () => {
  const dealer = await dealership();
  const owner = await dealer.newUser();
  const api = await dealer.apiWith({ ownerId: owner.id, scopes: ['webhooks:manage', 'customers:read', 'vehicles:read'] });
  const { id } = await endpointBy(api, { events: ['customer.*'] });
  await setUser(dealer.ctx, owner.email, { without: ['CUSTOMERS_VIEW'] });
  const refused = [
    await api.post(path, { url: deadUrl, events: ['customer.created'] }).refuses(403, 'scope_not_permitted_for_owner'),
    await api.patch(`${path}/${id}`, { url: deadUrl }).refuses(403, 'scope_not_permitted_for_owner'),
    await api.get(`${path}/${id}/deliveries`).refuses(403, 'scope_not_permitted_for_owner'),
  ];
  for (const { required } of refused) assert.deepEqual(required, { scope: 'customers:read', permission: 'CUSTOMERS_VIEW' });
});

test('`*` holds what its writer may read, and nothing where that is nothing', async () => {
  const dealer = await dealership();
  const reader = await dealer.apiWith({ scopes: ['webhooks:manage', 'customers:read'] });
  const { id } = await endpointBy(reader);
  assert.deepEqual(await readableOf(dealer, id), ['customer.created', 'customer.updated', 'customer.deleted']);
  const none = await endpointBy(await dealer.apiWith({ scopes: ['webhooks:manage'] }));
  assert.deepEqual(await readableOf(dealer, none.id), []);
  const all = await endpointBy(dealer.api);
  assert.equal((await readableOf(dealer, all.id)).length, eventTypes.length - 1, 'all but the ping');
});

test('whoever writes the events gives an endpoint what they may read and where they may look', async () => {
  const dealer = await dealership();
  const { branch } = dealer;
  const away = await dealer.newBranch();
  const here = await dealer.apiWith({ scopes: ['webhooks:manage', 'vehicles:read'], branchIds: [branch.id] });
  const both = await dealer.apiWith({ scopes: ['webhooks:manage', 'vehicles:read', 'customers:read'], branchIds: [branch.id, away.id] });
  const made = await endpointBy(here);
  assert.deepEqual([made.all_branches, made.branch_ids], [false, [branch.id]]);
  assert.equal((await both.patch(`${path}/${made.id}`, { url: `${deadUrl}/2` }).succeeds()).branch_ids.length, 1);
  assert.ok(!(await readableOf(dealer, made.id)).includes('customer.created'));

  const written = await both.patch(`${path}/${made.id}`, { events: ['*'] }).succeeds();
  assert.deepEqual([written.all_branches, written.branch_ids], [false, [branch.id, away.id].sort()]);
  assert.ok((await readableOf(dealer, made.id)).includes('customer.created'));
  await here.get(`${path}/${made.id}`).refuses(404, 'not_found');

  const whole = await dealer.api.patch(`${path}/${made.id}`, { events: ['*'] }).succeeds();
  assert.deepEqual([whole.all_branches, whole.branch_ids], [true, []]);
  await both.get(`${path}/${made.id}`).refuses(404, 'not_found');
});

test('a key of some branches sees endpoints inside its branches, one of none only those that reach none', async () => {
  const dealer = await dealership();
  const away = await dealer.newBranch();
  const owner = await dealer.newUser({ branches: [away.id] });
  const [here, there] = [await dealer.apiWith({ branchIds: [dealer.branch.id] }), await dealer.apiWith({ branchIds: [away.id] })];
  // Its own branch and its owner's have nothing in common.
  const nowhere = await dealer.apiWith({ branchIds: [dealer.branch.id], ownerId: owner.id });
  const [all, inHere, inThere, inNone] = [
    await endpointBy(dealer.api),
    await endpointBy(here),
    await endpointBy(there),
    await endpointBy(nowhere),
  ];
  assert.deepEqual([inNone.all_branches, inNone.branch_ids], [false, []]);
  assert.deepEqual(ids(await dealer.api.get(path).succeeds()), ids([all, inHere, inThere, inNone]));
  assert.deepEqual(ids(await here.get(path).succeeds()), ids([inHere, inNone]));
  assert.deepEqual(ids(await there.get(path).succeeds()), ids([inThere, inNone]));
  assert.deepEqual(ids(await nowhere.get(path).succeeds()), ids([inNone]));
});

/** What takes the read scope of every type an endpoint receives. */
const guarded = (endpointId: string, attemptId: string, eventId: string) =>
  ({
    'a change of url': (api: Api) => api.patch(`${path}/${endpointId}`, { url: deadUrl }),
    'a change of events': (api: Api) => api.patch(`${path}/${endpointId}`, { events: ['vehicle.*'] }),
    'a change of enabled': (api: Api) => api.patch(`${path}/${endpointId}`, { enabled: true }),
    'a change of status': (api: Api) => api.patch(`${path}/${endpointId}`, { status: 'active' }),
    'a roll': (api: Api) => api.post(`${path}/${endpointId}/roll-secret`),
    'the list of deliveries': (api: Api) => api.get(`${path}/${endpointId}/deliveries`),
    'a delivery': (api: Api) => api.get(`${path}/${endpointId}/deliveries/${attemptId}`),
    'a resend of a delivery': (api: Api) => api.post(`${path}/${endpointId}/deliveries/${attemptId}/resend`),
    'a resend of an event': (api: Api) => api.post(`/v1/events/${eventId}/resend`, { webhook_endpoint_id: endpointId }),
    'a replay': (api: Api) => api.post(`${path}/${endpointId}/replay`, { since: since() }),
  }) as const;

test('whoever may not read all that an endpoint receives neither reads its deliveries nor steers where they go', async () => {
  const dealer = await dealership();
  const { id: carId } = await dealer.api.post('/v1/vehicles', { condition: 'USED', make: 'Ford', model: 'Fiesta' }).succeeds(201);
  const [happened] = await eventsAbout(dealer, carId);
  const endpoint = await endpointBy(dealer.api, { events: ['vehicle.*', 'enquiry.created', 'vehicle_batch.completed'] });
  const attemptId = await logAttempt(dealer, { eventId: happened!.id, endpointId: endpoint.id });
  const asking = guarded(endpoint.id, attemptId, `evt_${happened!.id}`);
  const partly = await dealer.apiWith({ scopes: ['webhooks:manage', 'vehicles:read'] });
  const fully = await dealer.apiWith({ scopes: ['webhooks:manage', 'vehicles:read', 'enquiries:read'] });
  for (const ask of Object.values(asking))
    assert.deepEqual((await ask(partly).refuses(403, 'insufficient_scope')).required, { scope: 'enquiries:read' });
  for (const ask of [
    partly.get(`${path}/${endpoint.id}`),
    partly.patch(`${path}/${endpoint.id}`, { description: 'Seen' }),
    partly.post(`${path}/${endpoint.id}/test`),
  ])
    await ask.succeeds();
  for (const ask of Object.values(asking)) assert.ok([200, 202].includes((await ask(fully)).status));

  const elsewhere = await dealer.apiWith({ scopes: ['webhooks:manage', 'vehicles:read'], branchIds: [(await dealer.newBranch()).id] });
  for (const [what, ask] of Object.entries(asking)) {
    const { status, body } = await ask(elsewhere);
    assert.deepEqual([what, status, body.code], [what, 404, 'not_found'], 'what is not seen is not told apart');
  }
  await partly.delete(`${path}/${endpoint.id}`).succeeds();
});

test('the types that a change names are asked about before the endpoint is looked for', async () => {
  const dealer = await dealership();
  const lesser = await dealer.apiWith({ scopes: ['webhooks:manage', 'vehicles:read'] });
  const nobody = '00000000-0000-4000-8000-000000000000';
  await lesser.patch(`${path}/${nobody}`, { events: ['customer.*'] }).refuses(403, 'insufficient_scope');
  await lesser.patch(`${path}/${nobody}`, { events: ['nope.x'] }).refuses(422, 'validation_failed');
  await lesser.post(`${path}/${nobody}/replay`, { since: since(), types: ['ping'] }).refuses(422, 'validation_failed');
  const own = await endpointBy(lesser, { events: ['vehicle.*'] });
  await lesser.patch(`${path}/${own.id}`, { url: 'https://private.example/in', events: ['customer.*'] }).refuses(403, 'insufficient_scope');
});

test('what an endpoint received before it received less is shown to those alone who may read it', async () => {
  const dealer = await dealership();
  const { api } = dealer;
  const { id: customerId } = await api.post('/v1/customers', { last_name: 'Ash', email: 'ash@customer.example' }).succeeds(201);
  const { id: carId } = await api.post('/v1/vehicles', { condition: 'USED', make: 'Ford', model: 'Fiesta' }).succeeds(201);
  const [ofCustomer] = await eventsAbout(dealer, customerId);
  const [ofCar] = await eventsAbout(dealer, carId);
  const { id: endpointId } = await endpointBy(api, { events: ['vehicle.*', 'customer.*'] });
  const theirs = await logAttempt(dealer, { eventId: ofCustomer!.id, endpointId });
  const cars = await logAttempt(dealer, { eventId: ofCar!.id, endpointId });
  await api.patch(`${path}/${endpointId}`, { events: ['vehicle.*'] }).succeeds();

  const log = `${path}/${endpointId}/deliveries`;
  const reader = await dealer.apiWith({ scopes: ['webhooks:manage', 'vehicles:read'] });
  assert.deepEqual(ids(await api.get(log).succeeds()), [theirs, cars]);
  assert.deepEqual(ids(await reader.get(log).succeeds()), [cars]);
  assert.deepEqual(ids(await reader.get(`${log}?type=customer.*`).succeeds()), []);
  assert.deepEqual(ids(await reader.get(`${log}?ids=${theirs},${cars}`).succeeds()), [cars]);
  await reader.get(`${log}/${cars}`).succeeds();
  await reader.get(`${log}/${theirs}`).refuses(404, 'not_found');
  await reader.post(`${log}/${theirs}/resend`).refuses(404, 'not_found');
  await api.get(`${log}/${theirs}`).succeeds();
  await api.post(`${log}/${theirs}/resend`).refuses(422, 'request_refused');
});

test('in the sandbox endpoints, their deliveries, their number and their pings belong to the calling dealership', async () => {
  const [mine, theirs] = [await dealership(), await dealership()];
  const testKey = { environment: 'test' } as const;
  const [me, they] = [await mine.apiWith(testKey), await theirs.apiWith(testKey)];
  const endpoint = await endpointBy(me);
  const sent = await me.post(`${path}/${endpoint.id}/test`).succeeds();
  const asking = guarded(endpoint.id, sent.id, sent.event_id);
  for (const ask of [
    asking['a change of url'],
    asking['a roll'],
    asking['the list of deliveries'],
    asking['a delivery'],
    asking['a resend of a delivery'],
    asking['a replay'],
    (api: Api) => api.get(`${path}/${endpoint.id}`),
    (api: Api) => api.delete(`${path}/${endpoint.id}`),
    (api: Api) => api.post(`${path}/${endpoint.id}/test`),
  ])
    await ask(they).refuses(404, 'not_found');
  assert.deepEqual(await they.get(path).succeeds(), []);
  assert.deepEqual(ids(await me.get(path).succeeds()), [endpoint.id]);
  assert.deepEqual(ids(await me.get(`${path}/${endpoint.id}/deliveries`).succeeds()), [sent.id]);
  await mine.api.get(`${path}/${endpoint.id}`).refuses(404, 'not_found');

  for (let n = 1; n < 20; n++) await endpointBy(me);
  await me.post(path, { url: deadUrl, events: ['*'] }).refuses(422, 'webhook_endpoint_limit_reached');
  await endpointBy(they);
  assert.deepEqual((await me.get('/v1/me').succeeds()).limits.webhook_endpoints, { limit: 20, used: 20 });
  assert.deepEqual((await they.get('/v1/me').succeeds()).limits.webhook_endpoints, { limit: 20, used: 1 });
});
