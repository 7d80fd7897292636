import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setUser } from '#modules/staff/index.ts';
import { parseInstant, toMillis } from '#platform/dates.ts';
import type { Dealership } from '../../../test/support/dealership.ts';
import { dealership } from '../../../test/support/dealership.ts';
import { endpointBy, eventsAbout, logAttempt, pendingAt } from '../../../test/support/webhooks.ts';

const path = '/v1/webhook-endpoints';
const nobody = '00000000-0000-4000-8000-000000000000';
const car = { condition: 'USED', make: 'Ford', model: 'Fiesta' };
const ids = (items: { id: string }[]) => items.map(({ id }) => id);
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();

const happening = async (dealer: Pick<Dealership, 'api' | 'service' | 'id'>, fields: object = {}) => {
  const { id } = await dealer.api.post('/v1/vehicles', { ...car, ...fields }).succeeds(201);
  return (await eventsAbout(dealer, id))[0]!;
};

test('deliveries are listed one per attempt, with all that was sent and answered, and filter like every list', async () => {
  const dealer = await dealership();
  const { api } = dealer;
  const [one, two] = [await happening(dealer), await happening(dealer)];
  const { id: endpointId } = await endpointBy(api);
  const first = await logAttempt(dealer, { eventId: one.id, endpointId });
  const second = await logAttempt(dealer, { eventId: one.id, endpointId, attempt: 2, success: true });
  const other = await logAttempt(dealer, { eventId: two.id, endpointId, success: true });
  await logAttempt(dealer, { eventId: two.id, endpointId: (await endpointBy(api)).id });
  const log = `${path}/${endpointId}/deliveries`;
  const found = async (query: string) => ids(await api.get(`${log}?${query}`).succeeds());

  const attempt = await api.get(`${log}/${first}`).succeeds();
  const { delivery_id, attempted_at, updated_at, ...rest } = attempt;
  assert.equal(attempted_at, updated_at);
  assert.deepEqual(rest, {
    id: first,
    event_id: `evt_${one.id}`,
    event_type: 'vehicle.created',
    attempt: 1,
    manual: false,
    success: false,
    response_status: 500,
    request_headers: { 'Service-Event-Type': 'x' },
    request_body: '{}',
    response_body: null,
    error: 'status',
    duration_ms: 7,
    next_attempt_at: null,
  });
  assert.deepEqual((await api.get(log).succeeds())[0], attempt);
  assert.deepEqual(await found(''), [first, second, other]);
  assert.deepEqual(await found('success=true'), [second, other]);
  assert.deepEqual(await found('success=false'), [first]);
  assert.deepEqual(await found(`event_id=evt_${one.id}`), [first, second]);
  assert.deepEqual(await found(`delivery_id=${delivery_id}`), [first, second]);
  assert.deepEqual(await found('type=vehicle.*'), [first, second, other]);
  assert.deepEqual(await found('type=customer.created,vehicle.deleted'), []);
  assert.deepEqual(await found(`created_since=${minutesAgo(-5)}`), []);
  assert.deepEqual(await found(`created_since=${minutesAgo(5)}&created_before=${minutesAgo(-5)}`), [first, second, other]);
  const page = await api.get(`${log}?limit=2`);
  assert.deepEqual([ids(page.body.data), page.body.meta.has_more], [[first, second], true]);
  assert.deepEqual(await found(`limit=2&cursor=${page.body.meta.next_cursor}`), [other]);
  for (const query of ['success=1', 'event_id=1', `event_id=${one.id}`, 'delivery_id=x', 'type=vehicle.craeted', 'include_deleted=true'])
    await api.get(`${log}?${query}`).refuses(422, 'validation_failed');
  await api.get(`${path}/${nobody}/deliveries`).refuses(404, 'not_found');
  await api.get(`${log}/${nobody}`).refuses(404, 'not_found');
});

test('a cursor of deliveries is good for its endpoint, and stays good when the key may read less', async () => {
  const dealer = await dealership();
  const owner = await dealer.newUser();
  const api = await dealer.apiWith({ ownerId: owner.id, scopes: ['webhooks:manage', 'vehicles:read', 'customers:read'] });
  const { id: endpointId } = await endpointBy(api, { events: ['vehicle.*'] });
  const { id: otherId } = await endpointBy(api, { events: ['vehicle.*'] });
  const [one, two] = [await happening(dealer), await happening(dealer)];
  for (const { id: eventId } of [one, two]) await logAttempt(dealer, { eventId, endpointId });
  const { meta } = (await api.get(`${path}/${endpointId}/deliveries?limit=1`)).body;
  const { errors } = await api.get(`${path}/${otherId}/deliveries?cursor=${meta.next_cursor}`).refuses(422, 'validation_failed');
  assert.deepEqual(Object.keys(errors), ['cursor']);
  await setUser(dealer.ctx, owner.email, { without: ['CUSTOMERS_VIEW'] });
  assert.equal((await api.get(`${path}/${endpointId}/deliveries?cursor=${meta.next_cursor}`).succeeds()).length, 1);
});

test('a replay of many finds its way before anything was counted', async () => {
  const dealer = await dealership();
  const { id: endpointId } = await endpointBy(dealer.api);
  const { doors } = dealer.service.pools;
  const happenings = 20_000;
  await doors.query(
    `insert into event (dealer_id, created_at, id, sequence, type, resource_id, branch_id, data, actor, calling_dealer_id)
     select $1, now() - n * interval '1 ms', gen_random_uuid(), 1000000 + n, 'vehicle.updated', gen_random_uuid(), null, '{}', '{}', $1
     from generate_series(1, ${happenings}) n`,
    [dealer.id],
  );
  await doors.query(
    `insert into delivery_attempt (dealer_id, attempted_at, id, endpoint_id, delivery_id, event_id, event_at, event_type, attempt, manual,
       success, request_headers, request_body, duration_ms, updated_at)
     select dealer_id, created_at, gen_random_uuid(), $2, delivery_id(id, $2), id, created_at, type, 1, false, sequence % 2 = 0, '{}', '', 1, created_at
     from event where dealer_id = $1 and type = 'vehicle.updated'`,
    [dealer.id, endpointId],
  );
  const { queued } = await dealer.api.post(`${path}/${endpointId}/replay`, { since: minutesAgo(60), only_failed: true }).succeeds(202);
  assert.equal(queued, happenings / 2);
});

test('the log goes back thirty days and no further', async () => {
  const dealer = await dealership();
  const { api } = dealer;
  const event = await happening(dealer);
  const { id: endpointId } = await endpointBy(api);
  const [kept, gone] = [
    await logAttempt(dealer, { eventId: event.id, endpointId, daysAgo: 29.99 }),
    await logAttempt(dealer, { eventId: event.id, endpointId, daysAgo: 30.01 }),
  ];
  assert.deepEqual(ids(await api.get(`${path}/${endpointId}/deliveries`).succeeds()), [kept]);
  await api.get(`${path}/${endpointId}/deliveries/${gone}`).refuses(404, 'not_found');
  await api.post(`${path}/${endpointId}/deliveries/${gone}/resend`).refuses(404, 'not_found');
});

test('an attempt and an event are sent again once, beside what is pending', async () => {
  const dealer = await dealership();
  const { api } = dealer;
  const [one, two] = [await happening(dealer), await happening(dealer)];
  const { id: endpointId } = await endpointBy(api);
  const attemptId = await logAttempt(dealer, { eventId: one.id, endpointId, success: true });
  const resent = () => api.post(`${path}/${endpointId}/deliveries/${attemptId}/resend`).succeeds(202);
  const answer = await resent();
  const { delivery_id } = await api.get(`${path}/${endpointId}/deliveries/${attemptId}`).succeeds();
  assert.deepEqual(answer, { webhook_endpoint_id: endpointId, event_id: `evt_${one.id}`, delivery_id });
  assert.deepEqual(await resent(), answer);
  const byEvent = await api.post(`/v1/events/evt_${two.id}/resend`, { webhook_endpoint_id: endpointId }).succeeds(202);
  assert.equal(byEvent.event_id, `evt_${two.id}`);
  assert.deepEqual(
    (await pendingAt(dealer, endpointId)).filter(({ manual }) => manual),
    [
      { event_id: one.id, manual: true },
      { event_id: two.id, manual: true },
    ],
  );
  const again = () => api.post(`/v1/events/evt_${two.id}/resend`, { webhook_endpoint_id: endpointId }, { 'idempotency-key': 'again' });
  assert.deepEqual((await again()).body, (await again()).body);
});

test('nothing is sent again to a disabled endpoint, or where it would not go today', async () => {
  const dealer = await dealership();
  const { api, branch } = dealer;
  const away = await dealer.newBranch();
  const [here, there] = [await happening(dealer), await happening(dealer, { branch_id: away.id })];
  const narrow = await endpointBy(await dealer.apiWith({ branchIds: [branch.id] }), { events: ['vehicle.created'] });
  const resend = (eventId: string, endpointId: string) => api.post(`/v1/events/evt_${eventId}/resend`, { webhook_endpoint_id: endpointId });
  await resend(here.id, narrow.id).succeeds(202);
  assert.match((await resend(there.id, narrow.id).refuses(422, 'request_refused')).message, /branch/);
  await api.patch(`/v1/vehicles/${(await api.get('/v1/vehicles').succeeds())[0].id}`, { colour: 'Red' }).succeeds();
  const { rows } = await dealer.service.pools.doors.query("select id from event where dealer_id = $1 and type = 'vehicle.updated'", [
    dealer.id,
  ]);
  assert.match((await resend(rows[0].id, narrow.id).refuses(422, 'request_refused')).message, /vehicle\.updated/);

  const attemptId = await logAttempt(dealer, { eventId: here.id, endpointId: narrow.id });
  await api.patch(`${path}/${narrow.id}`, { enabled: false }).succeeds();
  const refused = [
    await resend(here.id, narrow.id).refuses(422, 'request_refused'),
    await api.post(`${path}/${narrow.id}/deliveries/${attemptId}/resend`).refuses(422, 'request_refused'),
    await api.post(`${path}/${narrow.id}/replay`, { since: minutesAgo(5) }).refuses(422, 'request_refused'),
  ];
  for (const { message } of refused) assert.match(message, /"enabled": true/);
  assert.deepEqual(await pendingAt(dealer, narrow.id), []);
});

test('a ping is sent again from the log of the endpoint it tested, and from nowhere else', async () => {
  const dealer = await dealership();
  const { api } = dealer;
  const { id } = await endpointBy(api, { events: ['vehicle.created'] });
  const sent = await api.post(`${path}/${id}/test`).succeeds();
  const again = await api.post(`${path}/${id}/deliveries/${sent.id}/resend`).succeeds(202);
  assert.deepEqual([again.event_id, again.delivery_id], [sent.event_id, sent.delivery_id]);
  assert.deepEqual(await pendingAt(dealer, id), [{ event_id: sent.event_id.slice(4), manual: true }]);
  for (const endpointId of [id, (await endpointBy(api)).id])
    await api.post(`/v1/events/${sent.event_id}/resend`, { webhook_endpoint_id: endpointId }).refuses(422, 'request_refused');
});

test('an event that is not there for the caller is not sent again, nor to an endpoint that is not', async () => {
  const [dealer, others] = [await dealership(), await dealership()];
  const { api, clock } = dealer;
  const away = await dealer.newBranch();
  const event = await happening(dealer);
  const { id } = await endpointBy(api);
  const lesser = await dealer.apiWith({ scopes: ['webhooks:manage', 'customers:read'] });
  const elsewhere = await dealer.apiWith({ branchIds: [away.id] });
  const theirs = await endpointBy(others.api);
  const resend = (by: typeof api, eventId: string, endpointId: string) =>
    by.post(`/v1/events/${eventId}/resend`, { webhook_endpoint_id: endpointId });
  await resend(lesser, `evt_${event.id}`, (await endpointBy(lesser)).id).refuses(404, 'not_found');
  await resend(elsewhere, `evt_${event.id}`, (await endpointBy(elsewhere)).id).refuses(404, 'not_found');
  await resend(others.api, `evt_${event.id}`, theirs.id).refuses(404, 'not_found');
  for (const unknown of [`evt_${nobody}`, event.id, 'evt_1']) await resend(api, unknown, id).refuses(404, 'not_found');
  for (const unknown of [nobody, theirs.id]) {
    const { errors } = await resend(api, `evt_${event.id}`, unknown).refuses(422, 'validation_failed');
    assert.deepEqual(Object.keys(errors), ['webhook_endpoint_id']);
  }
  for (const body of [undefined, {}, { webhook_endpoint_id: 'x' }, { endpoint: id }])
    await api.post(`/v1/events/evt_${event.id}/resend`, body).refuses(422, 'validation_failed');
  clock.move({ days: 30, minutes: -1 });
  try {
    await resend(api, `evt_${event.id}`, id).succeeds(202);
    clock.move({ minutes: 2 });
    await resend(api, `evt_${event.id}`, id).refuses(404, 'not_found');
  } finally {
    clock.release();
  }
});

test('a replay sends what the endpoint would receive today, of a time, and of that only what never arrived', async () => {
  const dealer = await dealership();
  const { api, branch } = dealer;
  const away = await dealer.newBranch();
  const { id: endpointId } = await endpointBy(
    await dealer.apiWith({ branchIds: [branch.id], scopes: ['webhooks:manage', 'vehicles:read'] }),
  );
  const [arrived, failed, missed] = [await happening(dealer), await happening(dealer), await happening(dealer)];
  await happening(dealer, { branch_id: away.id });
  await api.post('/v1/customers', { last_name: 'Ash', email: 'ash@customer.example' }).succeeds(201);
  await logAttempt(dealer, { eventId: arrived.id, endpointId, success: true });
  await logAttempt(dealer, { eventId: failed.id, endpointId });

  const replay = (body: object) => api.post(`${path}/${endpointId}/replay`, body);
  const pending = async () => {
    const found = (await pendingAt(dealer, endpointId)).map(({ event_id }) => event_id);
    await api.patch(`${path}/${endpointId}`, { enabled: false }).succeeds();
    await api.patch(`${path}/${endpointId}`, { enabled: true }).succeeds();
    return found;
  };
  await pending(); // Whatever was queued when it happened.
  assert.deepEqual(await replay({ since: minutesAgo(5) }).succeeds(202), { queued: 2 });
  assert.deepEqual(await replay({ since: minutesAgo(5) }).succeeds(202), { queued: 0 }, 'what is pending is left');
  assert.deepEqual(await pending(), [failed.id, missed.id]);
  assert.deepEqual(await replay({ since: minutesAgo(5), only_failed: false }).succeeds(202), { queued: 3 });
  assert.deepEqual(await pending(), [arrived.id, failed.id, missed.id]);
  const second = (at: string) => `${at.slice(0, 19)}Z`;
  const until = await replay({ since: minutesAgo(5), until: second(arrived.created_at), only_failed: false }).succeeds(202);
  assert.ok(until.queued >= 1, 'the last second is part of it');
  assert.ok((await pending()).includes(arrived.id));
  const from = new Date(toMillis(missed.created_at)).toISOString();
  assert.deepEqual(await replay({ since: from, types: ['vehicle.*'] }).succeeds(202), { queued: 1 });
  assert.deepEqual(await pending(), [missed.id]);
  assert.deepEqual(await replay({ since: minutesAgo(5), types: ['vehicle.deleted', 'vehicle.status_changed'] }).succeeds(202), {
    queued: 0,
  });
});

test('what is wrong with a replay is told by field', async () => {
  const dealer = await dealership();
  const { api } = dealer;
  const { id } = await endpointBy(api, { events: ['vehicle.*'] });
  const now = Date.now();
  const at = (days: number) => new Date(now + days * 86_400_000).toISOString();
  const wrong = async (body: object, field: string) => {
    const { errors } = await api.post(`${path}/${id}/replay`, body).refuses(422, 'validation_failed');
    assert.deepEqual(Object.keys(errors), [field]);
    return errors[field][0] as string;
  };
  await wrong({}, 'since');
  assert.match(await wrong({ since: at(-30.01) }, 'since'), /30 days/);
  await wrong({ since: at(1) }, 'since');
  await wrong({ since: at(-1), until: at(-2) }, 'until');
  await wrong({ since: 'yesterday' }, 'since');
  await wrong({ since: at(-1), only_failed: 'yes' }, 'only_failed');
  await wrong({ since: at(-1), from: at(-1) }, 'from');
  assert.match(await wrong({ since: at(-1), types: ['vehicle.craeted'] }, 'types'), /vehicle\.created/);
  assert.match(await wrong({ since: at(-1), types: ['customer.created'] }, 'types'), /vehicle\.deleted/);
  await wrong({ since: at(-1), types: ['ping'] }, 'types');
  await wrong({ since: at(-1), types: [] }, 'types');
  await api.post(`${path}/${id}/replay`, { since: at(-29.99), until: at(1) }).succeeds(202);
  await api.post(`${path}/${nobody}/replay`, { since: at(-1) }).refuses(404, 'not_found');
});

test('a time of more than a hundred thousand events is refused', async () => {
  const dealer = await dealership();
  const { api, service } = dealer;
  const event = await happening(dealer);
  const { id } = await endpointBy(api);
  const more = (count: number) =>
    service.pools.doors.query(
      `insert into event (dealer_id, created_at, id, sequence, type, resource_id, branch_id, data, actor, calling_dealer_id)
       select e.dealer_id, e.created_at, gen_random_uuid(), e.sequence + n, e.type, e.resource_id, e.branch_id, '{}', e.actor, e.calling_dealer_id
       from event e, generate_series(1, $2::integer) n where e.id = $1`,
      [event.id, count],
    );
  await more(100_000);
  const since = minutesAgo(5);
  assert.match((await api.post(`${path}/${id}/replay`, { since }).refuses(422, 'request_refused')).message, /100000/);
  await api.post(`${path}/${id}/replay`, { since, types: ['vehicle.deleted'] }).succeeds(202);
  assert.deepEqual(parseInstant(since) < event.created_at, true);
});

test('in the sandbox only what its own dealership did is sent again', async () => {
  const [mine, theirs] = [await dealership(), await dealership()];
  const testKey = { environment: 'test' } as const;
  const [me, they] = [await mine.apiWith(testKey), await theirs.apiWith(testKey)];
  const { id: sandboxId } = await me.get('/v1/me').succeeds();
  const inSandbox = (api: typeof me) => ({ api, service: mine.service, id: sandboxId });
  const since = minutesAgo(1);
  const { id } = await endpointBy(me);
  const [own, foreign] = [await happening(inSandbox(me)), await happening(inSandbox(they))];
  assert.match(
    (await me.post(`/v1/events/evt_${foreign.id}/resend`, { webhook_endpoint_id: id }).refuses(422, 'request_refused')).message,
    /sandbox/,
  );
  await me.post(`/v1/events/evt_${own.id}/resend`, { webhook_endpoint_id: id }).succeeds(202);
  await me.post(`${path}/${id}/replay`, { since }).succeeds(202);
  assert.ok((await pendingAt(mine, id)).every(({ event_id }) => event_id === own.id));
});
