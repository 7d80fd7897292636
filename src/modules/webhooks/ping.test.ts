import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { dealership } from '../../../test/support/dealership.ts';
import { deadUrl, endpointBy, pendingAt, receiver } from '../../../test/support/webhooks.ts';

const path = '/v1/webhook-endpoints';
const nobody = '00000000-0000-4000-8000-000000000000';
const stripe = new Stripe('sk_test_none');

test('a test sends one ping, whatever is subscribed to, and answers what came of it', async (t) => {
  const dealer = await dealership();
  const { api } = dealer;
  const there = await receiver(t, () => ({ status: 200, body: 'Thank you' }));
  const { id, secret } = await endpointBy(api, { url: there.url, events: ['customer.created'] });
  const delivery = await api.post(`${path}/${id}/test`).succeeds();
  assert.equal(there.arrivals.length, 1);
  const [{ headers, body }] = there.arrivals as [(typeof there.arrivals)[number]];

  assert.deepEqual([delivery.success, delivery.response_status, delivery.response_body, delivery.error], [true, 200, 'Thank you', null]);
  assert.deepEqual([delivery.event_type, delivery.attempt, delivery.manual, delivery.next_attempt_at], ['ping', 1, true, null]);
  assert.equal(delivery.request_body, body);
  for (const [name, value] of Object.entries(delivery.request_headers)) assert.equal(headers[name.toLowerCase()], value);
  assert.deepEqual([headers['service-event-id'], headers['service-event-type']], [delivery.event_id, 'ping']);

  const event = JSON.parse(body);
  assert.deepEqual([event.id, event.type, event.data.object.id], [delivery.event_id, 'ping', id]);
  assert.deepEqual(Object.keys(event.data.object), ['id', 'message']);
  const { rows } = await dealer.service.pools.doors.query('select sequence, created_at from event where dealer_id = $1 and type = $2', [
    dealer.id,
    'ping',
  ]);
  assert.deepEqual([rows.length, rows[0].sequence], [1, event.sequence], 'it is an event like any other');

  assert.deepEqual(await api.get(`${path}/${id}/deliveries/${delivery.id}`).succeeds(), delivery);
  assert.deepEqual(await pendingAt(dealer, id), []);
  assert.equal((stripe.webhooks.constructEvent(body, headers['service-signature']!, secret) as { id: string }).id, event.id);
  assert.deepEqual(new Webhook(secret).verify(body, headers as Record<string, string>), event);
});

test('after a roll a delivery is signed with both secrets for as long as the one before is kept', async (t) => {
  const { api, clock } = await dealership();
  const there = await receiver(t);
  const first = await endpointBy(api, { url: there.url });
  const { secret } = await api.post(`${path}/${first.id}/roll-secret`, { keep_previous_for_hours: 1 }).succeeds();
  const verified = async () => {
    await api.post(`${path}/${first.id}/test`).succeeds();
    const { headers, body } = there.arrivals.at(-1)!;
    return [secret, first.secret].map((one) => {
      try {
        // The clock of this test may be ahead of that of the library.
        stripe.webhooks.constructEvent(body, headers['service-signature']!, one, Number.POSITIVE_INFINITY);
        return true;
      } catch {
        return false;
      }
    });
  };
  assert.deepEqual(await verified(), [true, true]);
  clock.move({ hours: 1, seconds: 1 });
  try {
    assert.deepEqual(await verified(), [true, false]);
  } finally {
    clock.release();
  }
});

test('a test says what went wrong, and neither retries nor counts it', async (t) => {
  const dealer = await dealership();
  const { api } = dealer;
  const answers = [
    { status: 500, body: 'x'.repeat(20_000) },
    { status: 302, headers: { location: 'https://private.example/' } },
    { status: 410, body: 'Gone' },
  ];
  const there = await receiver(t, () => answers.shift()!);
  const { id } = await endpointBy(api, { url: there.url });
  const outcome = async () => {
    const { success, error, response_status, response_body } = await api.post(`${path}/${id}/test`).succeeds();
    return [success, error, response_status, response_body?.length ?? null];
  };
  assert.deepEqual(await outcome(), [false, 'status', 500, 10_240]);
  assert.deepEqual((await outcome()).slice(0, 3), [false, 'redirect', 302]);
  assert.deepEqual(await outcome(), [false, 'status', 410, 4]);
  await api.patch(`${path}/${id}`, { url: deadUrl }).succeeds();
  assert.deepEqual(await outcome(), [false, 'connect', null, null]);
  const { service } = dealer;
  await service.pools.doors.query('update webhook_endpoint set url = $2 where id = $1', [id, 'https://private.example/in']);
  assert.deepEqual(await outcome(), [false, 'blocked_address', null, null], 'what it was allowed at first does not matter');
  await service.pools.doors.query('update webhook_endpoint set url = $2 where id = $1', [id, 'https://nowhere.example/in']);
  assert.deepEqual(await outcome(), [false, 'dns', null, null]);
  assert.equal(there.arrivals.length, 3);
  const { failing_since, enabled } = await api.get(`${path}/${id}`).succeeds();
  assert.deepEqual([failing_since, enabled, await pendingAt(dealer, id)], [null, true, []]);
});

test('a disabled endpoint is tested too, by a key that may read nothing of what it receives', async (t) => {
  const dealer = await dealership();
  const there = await receiver(t);
  const { id } = await endpointBy(dealer.api, { url: there.url, enabled: false });
  const lesser = await dealer.apiWith({ scopes: ['webhooks:manage'] });
  assert.equal((await lesser.post(`${path}/${id}/test`).succeeds()).success, true);
  assert.equal(there.arrivals.length, 1);
});

test('a test that is repeated with its Idempotency-Key sends nothing more; two at once send one', async (t) => {
  const { api } = await dealership();
  const there = await receiver(t);
  const { id } = await endpointBy(api, { url: there.url });
  const ask = () => api.post(`${path}/${id}/test`, undefined, { 'idempotency-key': 'once' });
  const both = await Promise.all([ask(), ask()]);
  const { body } = both.find(({ status }) => status === 200)!;
  for (const { status, body: other } of both) if (status !== 200) assert.equal(other.code, 'idempotency_key_in_use');
  const again = await ask();
  assert.deepEqual([again.headers['idempotent-replayed'], again.body], ['true', body]);
  assert.equal(there.arrivals.length, 1);
  await api.post(`${path}/${nobody}/test`, undefined, { 'idempotency-key': 'none' }).refuses(404, 'not_found');
});

test('a test that died between its ping and its answer leaves nothing stuck: its key is taken up again when its lease has ended', async (t) => {
  const dealer = await dealership();
  const { api, clock, service } = dealer;
  const there = await receiver(t);
  const { id } = await endpointBy(api, { url: there.url });
  const ask = () => api.post(`${path}/${id}/test`, undefined, { 'idempotency-key': 'dies' });
  await ask().succeeds();
  // As it was after the ping and before the answer.
  await service.pools.doors.query(
    `update stored_answer set status = null, body = null, location = null, running_owner = gen_random_uuid(), running_until = now() + interval '30 seconds'
      where dealer_id = $1 and key = 'dies'`,
    [dealer.id],
  );
  await ask().refuses(409, 'idempotency_key_in_use');
  clock.move({ seconds: 31 });
  try {
    assert.equal((await ask().succeeds()).success, true);
  } finally {
    clock.release();
  }
  assert.equal(there.arrivals.length, 2);
});
