import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operatorContext } from '#modules/dealers/index.ts';
import { dealership } from '../../../test/support/dealership.ts';
import { until } from '../../../test/support/until.ts';
import { endpointBy, receiver } from '../../../test/support/webhooks.ts';
import { deliver } from './courier.ts';

const car = { condition: 'USED', make: 'Ford', model: 'Fiesta' };

test('what happens is delivered, and the delivery is in the log', async (t) => {
  const dealer = await dealership();
  const hooks = await receiver(t);
  const endpoint = await endpointBy(dealer.api, { url: hooks.url, events: ['vehicle.*'] });
  const courier = deliver(dealer.service, { contextOf: operatorContext });
  t.after(() => courier.close(1_000));
  const vehicle = await dealer.api.post('/v1/vehicles', car).succeeds(201);
  await until(async () => hooks.arrivals.length === 1);
  const [{ headers, body }] = hooks.arrivals as [(typeof hooks.arrivals)[number]];
  assert.equal(JSON.parse(body).data.object.id, vehicle.id);
  assert.equal(headers['service-event-type'], 'vehicle.created');
  await until(async () => (await dealer.api.get(`/v1/webhook-endpoints/${endpoint.id}/deliveries`).succeeds()).length === 1);
  const [logged] = await dealer.api.get(`/v1/webhook-endpoints/${endpoint.id}/deliveries`).succeeds();
  assert.deepEqual([logged.success, logged.attempt, logged.response_status, logged.request_body], [true, 1, 204, body]);
});
