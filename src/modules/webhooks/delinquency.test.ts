import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { beforeEach, test } from 'node:test';
import { operatorContext } from '#modules/dealers/index.ts';
import { sendAgain } from '#modules/deliveries/index.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import type { Dealership } from '../../../test/support/dealership.ts';
import { dealership, house } from '../../../test/support/dealership.ts';
import { claimAs, deliveriesAt, endpointRow, happen, settleAs } from '../../../test/support/deliveries.ts';
import { disableEndpoints } from './commands.ts';
import { lookAfter, lookAfterAll } from './delinquency.ts';

beforeEach(async () => {
  const { service, clock } = await house();
  clock.release();
  await service.pools.doors.query('delete from delivery');
});

const me = randomUUID();
const begin = '2031-03-01T08:00:00Z';

/** An endpoint of its own dealership, attempts at it, and what was told of it. */
async function failing() {
  const dealer = await dealership();
  const { service, clock } = dealer;
  clock.set(begin);
  const id = await endpointRow(dealer, { readableTypes: ['vehicle.created'] });
  return {
    ...dealer,
    endpoint: id,
    /** Something happens, all that is due is attempted, and what that shows is followed up. */
    async attempt(success: boolean) {
      await happen(dealer.ctx);
      const { lookAt } = await settleAs(service, me, await claimAs(service, me), success);
      const care = lookAfter(service, operatorContext);
      care.add(lookAt);
      await care.done();
      return lookAt.length;
    },
    sweep: () => lookAfterAll(service, operatorContext),
    state: async () => {
      const { rows } = await service.pools.doors.query('select enabled, disabled_reason from webhook_endpoint where id = $1', [id]);
      return rows[0].enabled ? 'enabled' : rows[0].disabled_reason;
    },
    told: () => noticesOf(dealer),
    pending: async () => (await deliveriesAt(service, [id])).length,
  };
}

/** The mails that were asked for, in their order: what they tell, and the last error they name. */
async function noticesOf({ service, id }: Dealership): Promise<string[]> {
  const { rows } = await service.pools.doors.query(
    `select data #>> '{payload,notice}' as notice, data #>> '{payload,facts,lastError}' as error from queue.job
     where name = 'webhooks.notify' and data #>> '{dealer,id}' = $1 order by data #>> '{payload,at}', created_on`,
    [id],
  );
  return rows.map(({ notice, error }) => (error === null ? notice : `${notice}: ${error}`));
}

test('an endpoint of which every delivery has failed for three days is disabled by the attempt that shows it, and what waits is cancelled', async () => {
  const { clock, attempt, state, pending, told } = await failing();
  await attempt(false);
  clock.move({ hours: 72, seconds: -1 });
  await attempt(false);
  assert.equal(await state(), 'enabled');
  assert.ok((await pending()) > 0);
  clock.move({ seconds: 1 });
  await attempt(false);
  assert.equal(await state(), 'delivery_failures');
  assert.equal(await pending(), 0);
  assert.deepEqual(await told(), ['failing_48_hours: status', 'disabled: status']);
});

test('a quiet endpoint with one dead event is disabled all the same, by the sweep', async () => {
  const { clock, attempt, state, sweep, told } = await failing();
  await attempt(false);
  clock.move({ hours: 72, seconds: -1 });
  await sweep();
  assert.equal(await state(), 'enabled');
  clock.move({ seconds: 1 });
  await sweep();
  assert.equal(await state(), 'delivery_failures');
  await sweep();
  assert.deepEqual(await told(), ['failing_48_hours: status', 'disabled: status']);
});

test('a success in between begins the three days anew', async () => {
  const { clock, attempt, state, sweep } = await failing();
  await attempt(false);
  clock.move({ hours: 71 });
  await attempt(true);
  clock.move({ hours: 2 });
  await attempt(false);
  await sweep();
  assert.equal(await state(), 'enabled');
  clock.move({ hours: 71 });
  await attempt(false);
  assert.equal(await state(), 'enabled');
  clock.move({ hours: 1 });
  await attempt(false);
  assert.equal(await state(), 'delivery_failures');
});

test('its dealer is told after an hour, a day and two days, each once, whoever looks and however often', async () => {
  const { clock, attempt, told, sweep } = await failing();
  await attempt(false);
  await sweep();
  clock.move({ minutes: 59, seconds: 59 });
  await attempt(false);
  await sweep();
  assert.deepEqual(await told(), []);
  clock.move({ seconds: 1 });
  await Promise.all([sweep(), attempt(false), sweep()]);
  await attempt(false);
  assert.deepEqual(await told(), ['failing: status']);
  clock.move({ hours: 23 });
  await attempt(false);
  await sweep();
  clock.move({ hours: 24 });
  await sweep();
  await sweep();
  assert.deepEqual(await told(), ['failing: status', 'failing_24_hours: status', 'failing_48_hours: status']);
});

test('that it recovered is told once, and only where something was told before', async () => {
  const { clock, attempt, told, sweep } = await failing();
  await attempt(false);
  clock.move({ minutes: 30 });
  await attempt(true);
  assert.deepEqual(await told(), []);
  clock.move({ seconds: 1 });
  await attempt(false);
  clock.move({ hours: 1 });
  await sweep();
  clock.move({ minutes: 1 });
  assert.equal(await attempt(true), 1);
  await sweep();
  clock.move({ seconds: 1 });
  assert.equal(await attempt(true), 0);
  assert.deepEqual(await told(), ['failing: status', 'recovered']);
  clock.move({ seconds: 1 });
  await attempt(false);
  clock.move({ hours: 1 });
  await sweep();
  assert.deepEqual(await told(), ['failing: status', 'recovered', 'failing: status'], 'and it begins anew');
});

test('what a sweep finds that nobody told before is told: that it recovered while nobody was there', async () => {
  const { service, clock, attempt, told, sweep } = await failing();
  await attempt(false);
  clock.move({ hours: 25 });
  await sweep();
  clock.move({ hours: 1 });
  await settleAs(service, me, await claimAs(service, me), true);
  assert.deepEqual(await told(), ['failing_24_hours: status'], 'of several mails only the last is still true');
  await sweep();
  await sweep();
  assert.deepEqual(await told(), ['failing_24_hours: status', 'recovered']);
});

test('of an endpoint that is disabled nothing more is told, and nothing is disabled twice', async () => {
  const { ctx, clock, endpoint, attempt, state, sweep, told } = await failing();
  await attempt(false);
  await inTransaction(ctx, (tx) => disableEndpoints(tx, [endpoint], 'plan'));
  clock.move({ hours: 100 });
  await sweep();
  assert.deepEqual([await state(), await told()], ['plan', []]);
});

test('what is sent by hand saves no endpoint', async () => {
  const { ctx, service, clock, endpoint, attempt, state, sweep } = await failing();
  await attempt(false);
  clock.move({ hours: 71 });
  const { rows } = await service.pools.doors.query('select event_id as id, event_at as created_at from delivery where endpoint_id = $1', [
    endpoint,
  ]);
  await service.pools.doors.query('delete from delivery');
  await inTransaction(ctx, (tx) => sendAgain(tx, endpoint, rows));
  clock.move({ seconds: 1 });
  const manual = await claimAs(service, me);
  assert.deepEqual(
    manual.map((one) => one.manual),
    [true],
  );
  await settleAs(service, me, manual, true);
  clock.move({ hours: 1 });
  await sweep();
  assert.equal(await state(), 'delivery_failures');
});

test('disabling undone leaves everything as it was: the endpoint, what waits, and what was told', async () => {
  const { service, clock, attempt, state, pending, told, sweep } = await failing();
  await attempt(false);
  clock.move({ hours: 73 });
  const waiting = await pending();
  const broken = { ...service, queue: { ...service.queue, send: () => Promise.reject(new Error('The queue is away.')) } };
  await lookAfterAll(broken, async (_service, dealerId) => ({ ...(await operatorContext(service, dealerId)), service: broken }));
  assert.deepEqual([await state(), await pending(), await told()], ['enabled', waiting, []]);
  await sweep();
  assert.deepEqual([await state(), await pending(), await told()], ['delivery_failures', 0, ['disabled: status']]);
});

test('an endpoint that is named again while it waits is looked after once, and one that waits at the end is left to the sweep', async () => {
  const { service } = await dealership();
  const asked: string[] = [];
  const care = lookAfter(service, async (_service, dealerId) => {
    asked.push(dealerId);
    throw new Error('not now');
  });
  const quiet = ['a', 'b'].map((id) => ({ dealer_id: id, endpoint_id: id }));
  for (let n = 0; n < 50; n++) care.add(quiet);
  await care.done();
  assert.deepEqual(asked, ['a', 'b', 'a']);
  care.add(quiet);
  care.close();
  await care.done();
  assert.deepEqual(asked, ['a', 'b', 'a', 'a']);
});
