import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { beforeEach, test } from 'node:test';
import type { Claimed, EndpointRef } from '#modules/deliveries/index.ts';
import { forgetFailures } from '#modules/deliveries/index.ts';
import { fromMillis } from '#platform/dates.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { dealership, house } from '../../../test/support/dealership.ts';
import { claimAs, deliveriesAt, endpointRow, happen } from '../../../test/support/deliveries.ts';
import { until } from '../../../test/support/until.ts';
import type { Outcome } from './attempt.ts';
import type { Made } from './ledger.ts';
import { openLedger } from './ledger.ts';

beforeEach(async () => {
  const { service, clock } = await house();
  clock.release();
  await service.pools.doors.query('delete from delivery');
});

const me = randomUUID();
const success: Outcome = { success: true, responseStatus: 200, requestHeaders: {}, responseBody: null, error: null, durationMs: 1 };
const made = (delivery: Claimed, outcome = success): Made => ({ delivery, body: '{}', outcome, attemptedAt: fromMillis(Date.now()) });

/** Deliveries in hand at endpoints of one dealership, and a ledger that writes what comes of them. */
async function inHand(endpoints = 1) {
  const dealer = await dealership();
  const ids: string[] = [];
  for (let n = 0; n < endpoints; n++) ids.push(await endpointRow(dealer));
  await happen(dealer.ctx, 4);
  const deliveries = await claimAs(dealer.service, me);
  const told: EndpointRef[] = [];
  const ledger = openLedger(dealer.service, me, (lookAt) => told.push(...lookAt));
  return { ...dealer, ids, deliveries, ledger, left: async () => (await deliveriesAt(dealer.service, ids)).length };
}

test('what came of attempts is written for many at once, without being asked', async () => {
  const { deliveries, ledger, left } = await inHand(3);
  for (const delivery of deliveries) ledger.add(made(delivery));
  assert.equal(ledger.open().length, 12);
  await until(async () => ledger.open().length === 0);
  assert.equal(await left(), 0);
});

test('one outcome that cannot be written keeps none of the others from it, and is written as far as it can be', async () => {
  const { deliveries, ledger, left, service } = await inHand();
  const unwritable = { ...success, responseBody: 'a\u0000b' };
  for (const [n, delivery] of deliveries.entries()) ledger.add(made(delivery, n === 2 ? unwritable : success));
  await ledger.written(5_000);
  assert.deepEqual([ledger.open().length, await left(), ledger.isBehind()], [0, 0, false]);
  const { rows } = await service.pools.doors.query('select count(*)::int as count from delivery_attempt where endpoint_id = $1', [
    deliveries[0]!.endpoint_id,
  ]);
  assert.equal(rows[0].count, 4);
});

test('what an endpoint’s holder keeps waiting follows when they are done', async () => {
  const { ctx, ids, deliveries, ledger, left } = await inHand(2);
  await inTransaction(ctx, async (tx) => {
    await forgetFailures(tx, [ids[0]!]);
    for (const delivery of deliveries) ledger.add(made(delivery));
    await until(async () => ledger.open().length === 4);
  });
  await ledger.written(5_000);
  assert.equal(await left(), 0);
});

test('one that cannot be written as it is waits for an endpoint’s holder like the others', async () => {
  const { ctx, ids, deliveries, ledger, left } = await inHand();
  await inTransaction(ctx, async (tx) => {
    await forgetFailures(tx, ids);
    ledger.add(made(deliveries[0]!, { ...success, responseBody: 'a\u0000b' }));
    await ledger.written(300);
    assert.equal(ledger.open().length, 1);
  });
  await ledger.written(5_000);
  assert.deepEqual([ledger.open().length, await left()], [0, 3]);
});
