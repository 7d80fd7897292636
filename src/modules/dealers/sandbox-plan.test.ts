import assert from 'node:assert/strict';
import { test } from 'node:test';
import { work } from '#platform/jobs/work.ts';
import type { Dealership } from '../../../test/support/dealership.ts';
import { dealership } from '../../../test/support/dealership.ts';
import { until } from '../../../test/support/until.ts';
import { endpointBy, pendingAt } from '../../../test/support/webhooks.ts';
import { handlers } from '../../app/catalogue.ts';
import { contextOf } from '../../app/worker.ts';

const path = '/v1/webhook-endpoints';
const car = { condition: 'USED', make: 'Ford', model: 'Fiesta' };

const standingOf = async ({ service }: Dealership, id: string) => {
  const { rows } = await service.pools.doors.query(
    'select enabled, disabled_reason, failing_since from webhook_endpoint w left join endpoint_health h on h.endpoint_id = w.id where w.id = $1',
    [id],
  );
  return rows[0];
};

test('the free plan silences webhooks and cancels what is pending; a paid one brings back those and no others', async () => {
  const dealer = await dealership();
  const { api, service } = dealer;
  const [on, off] = [await endpointBy(api), await endpointBy(api, { enabled: false })];
  await api.post('/v1/vehicles', car).succeeds(201);
  await api.post(`${path}/${on.id}/replay`, { since: new Date(Date.now() - 60_000).toISOString() }).succeeds(202);
  await service.pools.doors.query(
    'insert into endpoint_health (dealer_id, endpoint_id, failing_since) values ($1, $2, now()) on conflict (dealer_id, endpoint_id) do update set failing_since = excluded.failing_since',
    [dealer.id, on.id],
  );

  await dealer.setPlan('STANDARD');
  assert.equal((await standingOf(dealer, on.id)).enabled, true);
  assert.notEqual((await pendingAt(dealer, on.id)).length, 0, 'one paid plan is as good as another');

  await dealer.setPlan('FREE');
  assert.deepEqual(
    [(await standingOf(dealer, on.id)).disabled_reason, (await standingOf(dealer, off.id)).disabled_reason],
    ['plan', 'manual'],
  );
  assert.deepEqual(await pendingAt(dealer, on.id), []);

  await dealer.setPlan('STANDARD');
  assert.deepEqual(await standingOf(dealer, on.id), { enabled: true, disabled_reason: null, failing_since: null });
  assert.equal((await standingOf(dealer, off.id)).disabled_reason, 'manual');
  assert.equal((await api.get(`${path}/${on.id}`).succeeds()).status, 'active');
});

test('what a dealership has in the sandbox follows its plan, and what others have there does not', async (t) => {
  const [mine, theirs] = [await dealership(), await dealership()];
  const testKey = { environment: 'test' } as const;
  const me = await mine.apiWith(testKey);
  const { id } = await endpointBy(me);
  const other = await endpointBy(await theirs.apiWith(testKey));
  const { service, databaseUrl } = mine;
  const working = await work({ databaseUrl, service, handlers, schedules: [], contextOf });
  t.after(() => working.close());
  const becomes = (reason: string | null) => until(async () => (await standingOf(mine, id)).disabled_reason === reason);
  await mine.setPlan('FREE');
  await becomes('plan');
  assert.equal((await standingOf(mine, other.id)).enabled, true);
  await mine.setPlan('FREE');
  await mine.setPlan('PROFESSIONAL');
  await becomes(null);
  assert.equal((await me.get(`${path}/${id}`).succeeds()).enabled, true);
});
