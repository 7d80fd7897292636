import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { beforeEach, test } from 'node:test';
import Stripe from 'stripe';
import { operatorContext } from '#modules/dealers/index.ts';
import { after, fromMillis, toMillis } from '#platform/dates.ts';
import type { Behaviour } from '../../../test/support/behaviours.ts';
import { failsFirst, hangs, takes, takesAfter } from '../../../test/support/behaviours.ts';
import type { Dealership } from '../../../test/support/dealership.ts';
import { dealership, house } from '../../../test/support/dealership.ts';
import { deliveriesAt, endpointRow, happen } from '../../../test/support/deliveries.ts';
import { receiver } from '../../../test/support/receivers.ts';
import { until } from '../../../test/support/until.ts';
import { certificateFor, endpointBy } from '../../../test/support/webhooks.ts';
import type { Courier } from './courier.ts';
import { deliver } from './courier.ts';

// Couriers deliver for all dealers, so no test leaves anything to the next.
beforeEach(async () => {
  const { service, clock } = await house();
  clock.release();
  await service.pools.doors.query('delete from delivery');
});

const car = { condition: 'USED', make: 'Ford', model: 'Fiesta' };

async function courier(t: TestContext, graceMs = 0): Promise<Courier> {
  const { service } = await house();
  const one = deliver(service, { contextOf: operatorContext });
  t.after(() => one.close(graceMs));
  return one;
}

async function hooks(t: TestContext, behaves: Behaviour) {
  const one = await receiver(t, certificateFor('hooks.example'), () => behaves);
  return { ...one, url: one.at('/in').replace('127.0.0.1', 'hooks.example') };
}

const countOf = async ({ service }: Dealership, endpointIds: readonly string[]) => (await deliveriesAt(service, endpointIds)).length;

test('what happens is delivered as it is read, and the delivery is in the log', async (t) => {
  const { api } = await dealership();
  const { url, received } = await hooks(t, takes);
  const { id, secret } = await endpointBy(api, { url, events: ['vehicle.*'] });
  await courier(t);
  const vehicle = await api.post('/v1/vehicles', car).succeeds(201);
  const [{ headers, body }] = (await received(1)) as [Awaited<ReturnType<typeof received>>[number]];
  const event = await api.get(`/v1/events/${headers['service-event-id']}`).succeeds();
  assert.deepEqual(JSON.parse(body.toString()), event);
  assert.equal(event.data.object.id, vehicle.id);
  assert.equal((Stripe.webhooks.constructEvent(body, String(headers['service-signature']), secret) as { id: string }).id, event.id);

  const log = () => api.get(`/v1/webhook-endpoints/${id}/deliveries`).succeeds();
  await until(async () => (await log()).length === 1);
  const [logged] = await log();
  assert.deepEqual([logged.success, logged.attempt, logged.response_status, logged.error], [true, 1, 200, null]);
  assert.deepEqual([logged.request_body, logged.response_body], [body.toString(), '{"received":true}']);
  for (const [name, value] of Object.entries(logged.request_headers)) assert.equal(headers[name.toLowerCase()], value);
  const { failing_since, last_success_at, last_attempt_at } = await api.get(`/v1/webhook-endpoints/${id}`).succeeds();
  assert.deepEqual([failing_since, last_success_at !== null, last_attempt_at], [null, true, logged.attempted_at]);
});

test('a delivery that fails is tried again at its times until it is taken, each time the same bytes with a signature of its own', async (t) => {
  const dealer = await dealership();
  const { service, clock } = dealer;
  const { url, received } = await hooks(t, failsFirst(7));
  const secret = 'whsec_c2VjcmV0';
  const endpoint = await endpointRow(dealer, { url, secret });
  clock.set('2031-03-01T08:00:00Z');
  await happen(dealer.ctx);
  await courier(t);
  const times = [service.clock()!];
  for (const [index, seconds] of [60, 300, 1_800, 7_200, 21_600, 43_200, 86_400].entries()) {
    await received(index + 1);
    await until(async () => (await deliveriesAt(service, [endpoint]))[0]?.attempt === index + 2);
    times.push(after(times.at(-1)!, seconds * 1_000));
    clock.set(times.at(-1)!);
  }
  const receipts = await received(8);
  await until(async () => (await countOf(dealer, [endpoint])) === 0);
  assert.equal(new Set(receipts.map(({ hash }) => hash)).size, 1);
  assert.deepEqual(
    receipts.map(({ headers }) => Number(headers['webhook-timestamp']) * 1_000),
    times.map(toMillis),
  );
  for (const { body, headers } of receipts)
    Stripe.webhooks.constructEvent(
      body,
      String(headers['service-signature']),
      secret,
      undefined,
      undefined,
      Number(headers['webhook-timestamp']) * 1_000,
    );
});

test('a receiver that hangs with 400 deliveries in line holds up no other, be it the same dealer’s', async (t) => {
  const [dealer, other] = [await dealership(), await dealership()];
  const silent = await hooks(t, hangs);
  const well = await hooks(t, takes);
  const slow = await endpointRow(dealer, { url: silent.url });
  await happen(dealer.ctx, 400);
  const healthy = [await endpointRow(dealer, { url: well.url, events: ['customer.created'], readableTypes: ['customer.created'] })];
  healthy.push(await endpointRow(other, { url: well.url }));
  await courier(t);
  await silent.received(4);
  await happen(dealer.ctx, 50, 'customer.created');
  await happen(other.ctx, 50);
  await well.received(100);
  assert.equal(silent.receipts().length, 4, 'it still has its first four');
  assert.equal(await countOf(dealer, [slow]), 400);
});

test('two couriers at once send nothing twice', async (t) => {
  const dealers = [await dealership(), await dealership(), await dealership()];
  const { url, receipts, received } = await hooks(t, takesAfter(5));
  const endpoints: string[] = [];
  for (const dealer of dealers) for (let n = 0; n < 3; n++) endpoints.push(await endpointRow(dealer, { url: `${url}?endpoint=${n}` }));
  const couriers = [await courier(t, 1_000), await courier(t, 1_000)];
  for (const dealer of dealers) await happen(dealer.ctx, 30);
  for (const one of couriers) one.wake();
  await received(270);
  await until(async () => (await countOf(dealers[0]!, endpoints)) === 0);
  const deliveries = receipts().map(({ path, eventId }) => `${path} ${eventId}`);
  assert.deepEqual([deliveries.length, new Set(deliveries).size], [270, 270]);
});

test('a courier that is asked to end takes nothing more, ends what is under way, and loses nothing', async (t) => {
  const dealer = await dealership();
  const { url, receipts, received } = await hooks(t, takesAfter(100));
  const endpoints: string[] = [];
  for (let n = 0; n < 3; n++) endpoints.push(await endpointRow(dealer, { url }));
  const first = await courier(t);
  await happen(dealer.ctx, 10);
  await received(5);
  await first.close(5_000);
  const left = await deliveriesAt(dealer.service, endpoints);
  assert.equal(left.length + receipts().length, 30);
  assert.ok(left.every(({ state }) => state === 'due'));
  await courier(t, 5_000);
  await received(30);
  await until(async () => (await countOf(dealer, endpoints)) === 0);
  assert.equal(receipts().length, 30);
});

test('what is still under way when a courier must end is handed back as the same attempt', async (t) => {
  const dealer = await dealership();
  const { url, received } = await hooks(t, hangs);
  const endpoint = await endpointRow(dealer, { url });
  const one = await courier(t);
  await happen(dealer.ctx, 2);
  await received(2);
  await one.close(0);
  assert.deepEqual(
    (await deliveriesAt(dealer.service, [endpoint])).map(({ state, attempt }) => [state, attempt]),
    [
      ['due', 1],
      ['due', 1],
    ],
  );
});

test('outcomes wait for a database that is away, and what was taken is not sent again', async (t) => {
  const dealers = [await dealership(), await dealership()];
  const [{ service }] = dealers as [Dealership];
  let release: () => void = () => undefined;
  const gate = new Promise<void>((open) => {
    release = open;
  });
  const { url, receipts, received } = await hooks(t, async (response, receipt, connection) => {
    await gate;
    takes(response, receipt, connection);
  });
  const endpoints: string[] = [];
  for (const dealer of dealers) for (let n = 0; n < 4; n++) endpoints.push(await endpointRow(dealer, { url }));
  for (const dealer of dealers) await happen(dealer.ctx, 4);
  await courier(t, 1_000);
  await received(32);
  // Whoever connects is cut off again: to the courier the database is gone.
  const { rows } = await service.pools.doors.query('select current_database() as name, current_user as who');
  const away = async () => {
    const until = performance.now() + 700;
    while (performance.now() < until)
      await service.pools.work
        .query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and usename = $2 and pid <> pg_backend_pid()', [
          rows[0].name,
          rows[0].who,
        ])
        .catch(() => undefined);
  };
  release();
  await away();
  await until(async () => (await countOf(dealers[0]!, endpoints).catch(() => 1)) === 0);
  assert.equal(receipts().length, 32);
});

test('what cannot be sent for a fault of ours keeps nothing else from being sent', async (t) => {
  const dealer = await dealership();
  const { url, received } = await hooks(t, takes);
  const broken = await endpointRow(dealer, { url });
  await endpointRow(dealer, { url });
  await dealer.service.pools.doors.query(`update webhook_endpoint set secret_enc = 'unreadable' where id = $1`, [broken]);
  await courier(t);
  await happen(dealer.ctx, 3);
  await received(3);
  const soon = after(fromMillis(Date.now()), 30_000);
  const statesOfBroken = async () =>
    (await deliveriesAt(dealer.service, [broken])).map(({ state, attempt, next_at: next }) => [state, attempt, next > soon]);
  await until(async () => (await statesOfBroken()).every(([state, , later]) => state === 'due' && later));
  assert.deepEqual(await statesOfBroken(), Array(3).fill(['due', 1, true]), 'put off as the same attempt, and in nobody’s way');
});
