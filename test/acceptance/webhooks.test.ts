import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operatorContext } from '#modules/dealers/index.ts';
import { deliver } from '#modules/webhooks/index.ts';
import { dealership } from '../support/dealership.ts';
import { until } from '../support/until.ts';
import { endpointBy, pendingAt, receiver } from '../support/webhooks.ts';

const path = '/v1/webhook-endpoints';
const car = { condition: 'USED', make: 'Ford', model: 'Fiesta' };

test('what an endpoint missed while it was disabled comes when it is asked for, and the log tells the whole story', async (t) => {
  const dealer = await dealership();
  const { api, service } = dealer;
  const there = await receiver(t);
  const courier = deliver(service, { contextOf: operatorContext });
  t.after(() => courier.close(1_000));
  const narrow = await dealer.apiWith({ branchIds: [dealer.branch.id], scopes: ['webhooks:manage', 'vehicles:read'] });
  const { id } = await endpointBy(narrow, { url: there.url });
  const away = await dealer.newBranch();
  const about = () => there.arrivals.map(({ body }) => JSON.parse(body).data.object.id);
  const make = async (fields: object = {}) => (await api.post('/v1/vehicles', { ...car, ...fields }).succeeds(201)).id;

  const first = await make();
  await until(async () => about().includes(first));
  await narrow.patch(`${path}/${id}`, { enabled: false }).succeeds();
  const [missed] = [await make(), await make({ branch_id: away.id })];
  await api.post('/v1/customers', { last_name: 'Ash', email: 'ash@customer.example' }).succeeds(201);
  await narrow.patch(`${path}/${id}`, { enabled: true }).succeeds();
  const last = await make();
  await until(async () => about().includes(last));
  assert.deepEqual(about(), [first, last], 'nothing of the past, of another branch, or of what its key may not read');

  const log = () => narrow.get(`${path}/${id}/deliveries`).succeeds();
  await until(async () => (await log()).length === 2);
  const since = new Date(Date.now() - 60_000).toISOString();
  assert.deepEqual(await narrow.post(`${path}/${id}/replay`, { since }).succeeds(202), { queued: 1 });
  await until(async () => (await log()).length === 3);
  assert.deepEqual(about(), [first, last, missed]);

  const [attempt] = await log();
  const { delivery_id } = await narrow.post(`${path}/${id}/deliveries/${attempt.id}/resend`).succeeds(202);
  await until(async () => (await log()).length === 4);
  const again = await narrow.get(`${path}/${id}/deliveries?delivery_id=${delivery_id}`).succeeds();
  assert.deepEqual(
    again.map((one: { manual: boolean; success: boolean; next_attempt_at: null }) => [one.manual, one.success, one.next_attempt_at]),
    [
      [false, true, null],
      [true, true, null],
    ],
  );
  assert.equal(again[0].request_body, again[1].request_body, 'the same text each time');
  assert.deepEqual(await pendingAt(dealer, id), []);
  const { last_success_at, last_attempt_at, failing_since } = await narrow.get(`${path}/${id}`).succeeds();
  assert.deepEqual([last_success_at !== null, last_attempt_at !== null, failing_since], [true, true, null]);
});

test('in the sandbox an endpoint hears of what its own dealership does and of nothing else', async (t) => {
  const [mine, theirs] = [await dealership(), await dealership()];
  const testKey = { environment: 'test' } as const;
  const [me, they] = [await mine.apiWith(testKey), await theirs.apiWith(testKey)];
  const there = await receiver(t);
  const courier = deliver(mine.service, { contextOf: operatorContext });
  t.after(() => courier.close(1_000));
  await endpointBy(me, { url: there.url, events: ['vehicle.created'] });
  await they.post('/v1/vehicles', car).succeeds(201);
  const own = await me.post('/v1/vehicles', car).succeeds(201);
  await until(async () => there.arrivals.length > 0);
  const [{ body }] = there.arrivals as [(typeof there.arrivals)[number]];
  assert.deepEqual([there.arrivals.length, JSON.parse(body).data.object.id], [1, own.id]);
});
