import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { beforeEach, test } from 'node:test';
import { after } from '#platform/dates.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import type { Dealership } from '../../../test/support/dealership.ts';
import { dealership, house } from '../../../test/support/dealership.ts';
import { claimAs, deliveriesAt, ended, endpointRow, happen, settleAs } from '../../../test/support/deliveries.ts';
import { sandbox } from '../../../test/support/sandbox.ts';
import type { Claimed } from './index.ts';
import {
  attemptById,
  backlog,
  cancelDeliveries,
  claimDeliveries,
  forgetFailures,
  handBack,
  healthOf,
  pageOfAttempts,
  recordAttempt,
  replay,
  resumeOverdue,
  sendAgain,
  settleDeliveries,
} from './index.ts';

// Couriers deliver for all dealers, so no test leaves anything to the next.
beforeEach(async () => {
  const { service, clock } = await house();
  clock.release();
  await service.pools.doors.query('delete from delivery');
});

const me = randomUUID();
const another = randomUUID();
const day = 86_400_000;

const statesOf = async ({ service }: Dealership, endpointIds: readonly string[]) =>
  (await deliveriesAt(service, endpointIds)).map(({ state, attempt }) => [state, attempt]);

/** What the log holds of an endpoint, as `[attempt, success, next]`. */
const logOf = async ({ ctx, service }: Dealership, endpointId: string, query = {}) =>
  (await pageOfAttempts({ ...ctx, now: service.clock() ?? ctx.now }, endpointId, { limit: 100, types: null, ...query }, (row) => row)).data;

const oneDelivery = async (dealer: Dealership) => {
  const endpoint = await endpointRow(dealer);
  await happen(dealer.ctx);
  const [delivery] = (await claimAs(dealer.service, me)) as [Claimed];
  return { endpoint, delivery };
};

// ---- Who is told ----

test('an event goes to the endpoints that ask for it and may be told of it', async () => {
  const dealer = await dealership();
  const other = await dealership();
  const { id: branch } = dealer.branch;
  const { id: elsewhere } = await dealer.newBranch();
  const both = { readableTypes: ['vehicle.created', 'customer.created'] };
  for (const [what, fields, expected] of [
    ['all', {}, [true, false]],
    ['all, may read both', { ...both }, [true, true]],
    ['the type', { ...both, events: ['vehicle.created'] }, [true, false]],
    ['the family', { ...both, events: ['vehicle.*'] }, [true, false]],
    ['several', { ...both, events: ['enquiry.*', 'customer.created'] }, [false, true]],
    ['another type of the family', { ...both, events: ['vehicle.updated'] }, [false, false]],
    ['a family that begins like it', { ...both, events: ['vehicle_batch.*', 'vehicle'] }, [false, false]],
    ['what it may not read', { events: ['customer.*'] }, [false, false]],
    ['disabled', { ...both, enabled: false }, [false, false]],
    ['its branch', { ...both, branches: [elsewhere, branch] }, [true, true]],
    ['another branch: what lies at none is told', { ...both, branches: [elsewhere] }, [false, true]],
    ['no branch', { ...both, branches: [] }, [false, true]],
  ] as const) {
    const endpoint = await endpointRow(dealer, fields);
    const strange = await endpointRow(other, both);
    await happen(dealer.ctx, 1, 'vehicle.created', branch);
    const vehicles = (await deliveriesAt(dealer.service, [endpoint])).length;
    await happen(dealer.ctx, 1, 'customer.created', null);
    const all = (await deliveriesAt(dealer.service, [endpoint])).length;
    assert.deepEqual([vehicles === 1, all - vehicles === 1], expected, what);
    assert.equal((await deliveriesAt(dealer.service, [strange])).length, 0, 'nobody else is told');
  }
});

test('in the sandbox everyone is told of their own doings, and nobody of what the product does there', async () => {
  const [one, other] = [await dealership(), await dealership()];
  const { id, ctx } = await sandbox();
  const seat = { service: one.service, id };
  const endpoint = await endpointRow(seat, { callingDealerId: one.id });
  const theirs = await endpointRow(seat, { callingDealerId: other.id });
  const as = (callingDealerId: string) => ({ ...ctx, caller: { ...ctx.caller, callingDealerId } });
  await happen(as(one.id), 2);
  await happen(ctx, 3);
  const counts = async () => [(await deliveriesAt(one.service, [endpoint])).length, (await deliveriesAt(one.service, [theirs])).length];
  assert.deepEqual(await counts(), [2, 0]);
  await happen(as(other.id));
  assert.deepEqual(await counts(), [2, 1]);
});

test('what is undone is not delivered', async () => {
  const dealer = await dealership();
  const endpoint = await endpointRow(dealer);
  const undone = inTransaction(dealer.ctx, async (tx) => {
    await happen(tx);
    throw new Error('undone');
  });
  await assert.rejects(undone, /undone/);
  assert.deepEqual(await deliveriesAt(dealer.service, [endpoint]), []);
});

test('whoever delivers is told that there is something, and not where nobody asks for it', async () => {
  const dealer = await dealership();
  let hints = 0;
  const service = { ...dealer.service, hintDeliveries: () => void hints++ };
  const ctx = { ...dealer.ctx, service };
  await happen(ctx);
  assert.equal(hints, 0);
  await endpointRow(dealer);
  await happen(ctx, 3);
  assert.equal(hints, 1);
});

test('a delivery has one id, however often and in whatever way it is asked for', async () => {
  const dealer = await dealership();
  const endpoint = await endpointRow(dealer);
  await happen(dealer.ctx);
  const { event_id: id } = (await deliveriesAt(dealer.service, [endpoint]))[0]!;
  const { rows } = await dealer.service.pools.doors.query('select created_at from event where id = $1', [id]);
  const again = () => inTransaction(dealer.ctx, (tx) => sendAgain(tx, endpoint, [{ id, created_at: rows[0].created_at }]));
  await again();
  await again();
  const all = await deliveriesAt(dealer.service, [endpoint]);
  assert.deepEqual(all.map(({ manual }) => manual).sort(), [false, true]);
  assert.equal(new Set(all.map((one) => one.id)).size, 1);
});

// ---- What is sent next ----

test('four attempts are under way at an endpoint, and sixteen for a dealer; what waits follows when one has ended', async () => {
  const dealer = await dealership();
  const endpoints = [];
  for (let n = 0; n < 6; n++) endpoints.push(await endpointRow(dealer));
  await happen(dealer.ctx, 10);
  const first = await claimAs(dealer.service, me);
  assert.equal(first.length, 16);
  for (const endpoint of endpoints) assert.ok(first.filter((one) => one.endpoint_id === endpoint).length <= 4);
  assert.deepEqual(await claimAs(dealer.service, another), [], 'whoever asks');
  await settleAs(dealer.service, me, first.slice(0, 3), true);
  assert.equal((await claimAs(dealer.service, another)).length, 3);
  await settleAs(dealer.service, me, first.slice(3), true);
  assert.equal((await claimAs(dealer.service, me)).length, 13);
});

test('many who claim at once take nothing twice, and no more than the caps allow', async () => {
  const dealers = [await dealership(), await dealership()];
  const endpoints: string[] = [];
  for (const dealer of dealers) for (let n = 0; n < 5; n++) endpoints.push(await endpointRow(dealer));
  for (const dealer of dealers) await happen(dealer.ctx, 20);
  const [{ service }] = dealers as [Dealership];
  const sent: string[] = [];
  for (let left = endpoints.length * 20; left > 0; ) {
    const claims = await Promise.all(Array.from({ length: 8 }, () => claimAs(service, randomUUID(), { places: 7 })));
    const under = (await deliveriesAt(service, endpoints)).filter(({ state }) => state === 'sending');
    const byEndpoint = Map.groupBy(under, (one) => one.endpoint_id);
    assert.ok([...byEndpoint.values()].every((some) => some.length <= 4));
    assert.ok(under.length <= 32);
    sent.push(...claims.flat().map(({ id }) => id));
    left -= claims.flat().length;
    await service.pools.doors.query("delete from delivery where state = 'sending'");
  }
  assert.deepEqual([sent.length, new Set(sent).size], [200, 200]);
});

test('what is due at an endpoint goes in the order in which it fell due', async () => {
  const dealer = await dealership();
  await endpointRow(dealer);
  for (let n = 0; n < 3; n++) await happen(dealer.ctx);
  const taken = await claimAs(dealer.service, me);
  assert.deepEqual(
    taken.map(({ event_at: at }) => at),
    taken.map(({ event_at: at }) => at).sort(),
  );
});

test('a receiver with 400 deliveries in line holds up no other', async () => {
  const [dealer, second] = [await dealership(), await dealership()];
  const slow = await endpointRow(dealer);
  await happen(dealer.ctx, 400);
  const [beside, elsewhere] = [await endpointRow(dealer, { events: ['vehicle.created'] }), await endpointRow(second)];
  await happen(dealer.ctx);
  await happen(second.ctx);
  const taken = await claimAs(dealer.service, me, { places: 3 });
  assert.deepEqual(
    new Set(taken.map((one) => one.endpoint_id)),
    new Set([slow, beside, elsewhere]),
    'each has its first before any its second',
  );
});

test('half of the places are kept for what is new at endpoints that fare well: failing ones and retries take no more than the rest', async () => {
  const failing = [];
  for (let n = 0; n < 4; n++) failing.push(await dealership());
  const [{ service }] = failing as [Dealership];
  const troubled: string[] = [];
  for (const dealer of failing) for (let n = 0; n < 2; n++) troubled.push(await endpointRow(dealer));
  for (const dealer of failing) await happen(dealer.ctx, 3);
  await settleAs(service, me, await claimAs(service, me), false);
  for (const dealer of failing) await happen(dealer.ctx, 50);
  const well = await dealership();
  const healthy = await endpointRow(well);
  await happen(well.ctx, 2);
  const taken = await claimAs(service, me, { places: 5, troubledPlaces: 6 });
  const ofHealthy = taken.filter((one) => one.endpoint_id === healthy);
  assert.deepEqual([ofHealthy.length, ofHealthy.some((one) => one.troubled)], [2, false]);
  assert.deepEqual([taken.length, taken.filter((one) => one.troubled).length], [8, 6]);
  for (const dealer of failing) assert.ok(taken.filter((one) => one.dealer_id === dealer.id).length <= 8);
});

test('of a dealer’s sixteen, those that fail or let wait have eight', async () => {
  const dealer = await dealership();
  const slow = [await endpointRow(dealer), await endpointRow(dealer), await endpointRow(dealer)];
  await happen(dealer.ctx, 5);
  const taken = await claimAs(dealer.service, me, { slow });
  assert.deepEqual([taken.length, taken.every((one) => one.troubled)], [8, true]);
  const healthy = await endpointRow(dealer);
  await happen(dealer.ctx, 6);
  const more = await claimAs(dealer.service, me, { slow });
  assert.deepEqual(
    more.map((one) => one.endpoint_id),
    [healthy, healthy, healthy, healthy],
  );
});

test('two of a dealer’s sixteen are for those that fail and for retries, however much is new', async () => {
  const dealer = await dealership();
  const { service } = dealer;
  const retried = await endpointRow(dealer, { events: ['customer.created'], readableTypes: ['customer.created'] });
  await happen(dealer.ctx, 1, 'customer.created');
  await settleAs(service, me, await claimAs(service, me), false);
  for (let n = 0; n < 4; n++) await endpointRow(dealer);
  await happen(dealer.ctx, 40);
  const busy = await claimAs(service, me);
  assert.equal(busy.length, 16);
  await service.pools.doors.query('update delivery set next_at = now() where endpoint_id = $1', [retried]);
  assert.deepEqual(await claimAs(service, me), [], 'it waits for a place like all others');
  await settleAs(service, me, busy.slice(0, 2), true);
  const next = await claimAs(service, me);
  assert.equal(next.filter((one) => one.endpoint_id === retried).length, 1);
  assert.equal(next.length, 2, 'never more than sixteen');
  await settleAs(service, me, [...busy.slice(2), ...next], true);
  assert.equal((await claimAs(service, me)).length, 16, 'nothing is kept free for nobody');
});

test('the walk over more endpoints than one claim visits comes round to all of them', async () => {
  const dealers = [];
  for (let n = 0; n < 10; n++) dealers.push(await dealership());
  const endpoints: string[] = [];
  for (const dealer of dealers) for (let n = 0; n < 15; n++) endpoints.push(await endpointRow(dealer));
  for (const dealer of dealers) await happen(dealer.ctx);
  const [{ service }] = dealers as [Dealership];
  const seen = new Set<string>();
  let from: string | null = null;
  let claims = 0;
  do {
    const { taken, next }: { taken: readonly Claimed[]; next: string | null } = await claimDeliveries(service, {
      ...{ ownerId: me, places: 5, troubledPlaces: 5, slow: [], ended: [], retries: false, from },
    });
    for (const one of taken) seen.add(one.endpoint_id);
    await settleAs(service, me, taken, true);
    from = next;
    claims++;
  } while (from !== null || seen.size < endpoints.length);
  assert.equal(seen.size, 150);
  assert.ok(claims >= 30);
});

test('endpoints that have nothing but retries are not visited by those who look for what is new', async () => {
  const dealer = await dealership();
  await oneDelivery(dealer).then(({ delivery }) => settleAs(dealer.service, me, [delivery], false));
  await dealer.service.pools.doors.query('update delivery set next_at = now()');
  assert.deepEqual(await claimAs(dealer.service, me, { retries: false }), []);
  assert.equal((await claimAs(dealer.service, me, { retries: true })).length, 1);
});

test('a claim brings all that is needed to send', async () => {
  const dealer = await dealership();
  const { endpoint, delivery } = await oneDelivery(dealer);
  const { rows } = await dealer.service.pools.doors.query(
    'select e.*, w.url, w.secret_enc from event e, webhook_endpoint w where w.id = $1 and e.id = $2',
    [endpoint, delivery.event_id],
  );
  const { url, secret_enc, type, sequence, branch_id, data, actor, calling_dealer_id, request_id, created_at } = rows[0];
  const expected = {
    ...{ dealer_id: dealer.id, id: null, manual: false, endpoint_id: endpoint, event_id: delivery.event_id, event_at: created_at },
    ...{ attempt: 1, troubled: false, url, endpoint_dealer_id: dealer.id, secret_enc, old_secret_enc: null },
    ...{ type, sequence, branch_id, data, actor, calling_dealer_id, request_id },
  };
  assert.deepEqual(Object.fromEntries(Object.keys(expected).map((name) => [name, { ...delivery, id: null }[name as 'id']])), expected);
});

test('a secret that was rolled comes along as long as it signs', async () => {
  const dealer = await dealership();
  const endpoint = await endpointRow(dealer);
  const rolled = async (minutes: number) => {
    await dealer.service.pools.doors.query(
      `update webhook_endpoint set old_secret_enc = '\\x01', old_secret_until = now() + $2 * interval '1 minute' where id = $1`,
      [endpoint, minutes],
    );
    await happen(dealer.ctx);
    const [delivery] = (await claimAs(dealer.service, me)) as [Claimed];
    return delivery.old_secret_enc;
  };
  assert.deepEqual(await rolled(1), Buffer.from([1]));
  assert.equal(await rolled(-1), null);
});

test('what has nobody to go to any more goes nowhere', async () => {
  const dealer = await dealership();
  const endpoint = await endpointRow(dealer);
  await happen(dealer.ctx);
  await dealer.service.pools.doors.query('delete from webhook_endpoint where id = $1', [endpoint]);
  assert.deepEqual(await claimAs(dealer.service, me), []);
  assert.deepEqual(await deliveriesAt(dealer.service, [endpoint]), []);
});

test('a row that somebody holds is passed over, and nobody waits for it', async () => {
  const dealer = await dealership();
  await endpointRow(dealer);
  await happen(dealer.ctx, 2);
  await inTransaction(dealer.ctx, async (tx) => {
    await tx.tx!.connection.query('select from delivery where dealer_id = $1 order by id limit 1 for update', [dealer.id]);
    assert.equal((await claimAs(dealer.service, me)).length, 1);
  });
  assert.equal((await claimAs(dealer.service, me)).length, 1);
});

// ---- What comes of it ----

test('each attempt that fails is followed by the next at its exact time, the eighth by none', async () => {
  const dealer = await dealership();
  const { service, clock } = dealer;
  clock.set('2031-03-01T08:00:00.123456Z');
  const endpoint = await endpointRow(dealer);
  await happen(dealer.ctx);
  const seconds = [60, 300, 1_800, 7_200, 21_600, 43_200, 86_400];
  for (const [index, delay] of seconds.entries()) {
    const [delivery] = (await claimAs(service, me)) as [Claimed];
    assert.equal(delivery.attempt, index + 1);
    const endedAt = service.clock()!;
    await settleAs(service, me, [delivery], false);
    const [next] = await deliveriesAt(service, [endpoint]);
    assert.deepEqual([next!.state, next!.attempt, next!.next_at], ['due', index + 2, after(endedAt, delay * 1_000)]);
    clock.set(after(endedAt, delay * 1_000 - 0.001));
    assert.deepEqual(await claimAs(service, me), [], 'not a microsecond early');
    clock.set(after(endedAt, delay * 1_000));
  }
  const last = await claimAs(service, me);
  assert.equal(last[0]!.attempt, 8);
  await settleAs(service, me, last, false);
  assert.deepEqual(await deliveriesAt(service, [endpoint]), []);
  const log = await logOf(dealer, endpoint);
  assert.deepEqual(
    log.map(({ attempt, next_attempt_at: next }) => [attempt, next !== null]),
    [1, 2, 3, 4, 5, 6, 7, 8].map((attempt) => [attempt, attempt < 8]),
  );
  assert.equal(new Set(log.map((row) => row.delivery_id)).size, 1);
});

test('the time to the next attempt counts from the end of this one, however late that is written', async () => {
  const dealer = await dealership();
  const { endpoint, delivery } = await oneDelivery(dealer);
  const { rows } = await dealer.service.pools.doors.query('select clock_timestamp() as now');
  await settleDeliveries(dealer.service, me, [ended(dealer.service, delivery, false, { ended_ms_ago: 30_000 })]);
  const { next_at: next } = (await deliveriesAt(dealer.service, [endpoint]))[0]!;
  assert.ok(next >= after(rows[0].now, 30_000), 'never early');
  assert.ok(next < after(rows[0].now, 40_000));
});

test('what was delivered is gone', async () => {
  const dealer = await dealership();
  const { endpoint, delivery } = await oneDelivery(dealer);
  await settleAs(dealer.service, me, [delivery], true);
  assert.deepEqual(await deliveriesAt(dealer.service, [endpoint]), []);
});

test('an attempt whose owner died is made again with the same number, and counts no retry', async () => {
  const dealer = await dealership();
  const { endpoint, delivery } = await oneDelivery(dealer);
  await resumeOverdue(dealer.service, 'of the last minute');
  assert.deepEqual(await statesOf(dealer, [endpoint]), [['sending', 1]], 'not while its lease lasts');
  await dealer.service.pools.doors.query("update delivery set lease_until = clock_timestamp() - interval '1 ms'");
  await untilResumed(dealer, endpoint);
  const [again] = (await claimAs(dealer.service, another)) as [Claimed];
  assert.deepEqual([again.id, again.attempt], [delivery.id, 1]);
});

/** For some seconds after its start the database lets those tell first who live. */
async function untilResumed(dealer: Dealership, endpoint: string): Promise<void> {
  while ((await statesOf(dealer, [endpoint]))[0]![0] !== 'due') await resumeOverdue(dealer.service, 'of the last minute');
}

test('an outcome that comes after another has taken over is in the log, and settles nothing', async () => {
  const dealer = await dealership();
  const { endpoint, delivery } = await oneDelivery(dealer);
  await dealer.service.pools.doors.query("update delivery set lease_until = clock_timestamp() - interval '1 ms'");
  await untilResumed(dealer, endpoint);
  const taken: Claimed[] = [];
  for (const [late, success] of [
    ['before anybody takes it', true],
    ['and while they have it', false],
  ] as const) {
    await settleAs(dealer.service, me, [delivery], success);
    assert.equal((await deliveriesAt(dealer.service, [endpoint])).length, 1, late);
    taken.push(...(await claimAs(dealer.service, another)));
  }
  assert.deepEqual(await statesOf(dealer, [endpoint]), [['sending', 1]]);
  assert.deepEqual(
    (await logOf(dealer, endpoint)).map(({ success, next_attempt_at: next }) => [success, next]),
    [
      [true, null],
      [false, null],
    ],
  );
  assert.deepEqual(
    (await healthOf(dealer.ctx, [endpoint])).map((health) => [health.failing_since, health.last_success_at]),
    [[null, null]],
  );
  await settleAs(dealer.service, another, taken, true);
  assert.deepEqual(await deliveriesAt(dealer.service, [endpoint]), []);
});

test('an outcome of what was handed back settles nothing, though the same courier has it again', async () => {
  const dealer = await dealership();
  const { endpoint, delivery } = await oneDelivery(dealer);
  await handBack(dealer.service, me);
  await settleAs(dealer.service, me, [delivery], true);
  assert.deepEqual(await statesOf(dealer, [endpoint]), [['due', 1]]);
  await claimAs(dealer.service, me);
  await settleAs(dealer.service, me, [delivery], true);
  assert.deepEqual(await statesOf(dealer, [endpoint]), [['sending', 1]]);
});

test('said twice is as if said once', async () => {
  const dealer = await dealership();
  const { endpoint, delivery } = await oneDelivery(dealer);
  const attempt = ended(dealer.service, delivery, false);
  for (let time = 0; time < 2; time++) {
    const { written } = await settleDeliveries(dealer.service, me, [attempt]);
    assert.deepEqual([...written], [attempt.attempt_id]);
  }
  assert.deepEqual(await statesOf(dealer, [endpoint]), [['due', 2]]);
  assert.equal((await logOf(dealer, endpoint)).length, 1);
});

test('outcomes at an endpoint that somebody holds wait, and those at others do not', async () => {
  const dealer = await dealership();
  const [held, free] = [await endpointRow(dealer), await endpointRow(dealer)];
  await happen(dealer.ctx);
  const taken = await claimAs(dealer.service, me);
  const attempts = taken.map((delivery) => ended(dealer.service, delivery, true));
  await inTransaction(dealer.ctx, async (tx) => {
    await forgetFailures(tx, [held]);
    const { written } = await settleDeliveries(dealer.service, me, attempts);
    assert.deepEqual(
      [...written],
      attempts.filter((one) => one.endpoint_id === free).map((one) => one.attempt_id),
    );
  });
  assert.equal((await settleDeliveries(dealer.service, me, attempts)).written.size, 2);
  assert.deepEqual(await deliveriesAt(dealer.service, [held, free]), []);
});

test('an endpoint fails since its first failure, until one succeeds', async () => {
  const dealer = await dealership();
  const { service, clock } = dealer;
  const endpoint = await endpointRow(dealer);
  const health = async () => {
    const [one] = await healthOf(dealer.ctx, [endpoint]);
    return [one?.failing_since, one?.last_failure_at, one?.last_success_at].map((at) => at?.slice(11, 16) ?? null);
  };
  const attempt = async (time: string, success: boolean) => {
    clock.set(`2031-03-02T${time}:00Z`);
    await happen(dealer.ctx);
    await settleAs(service, me, (await claimAs(service, me)).slice(-1), success);
  };
  await attempt('08:00', true);
  assert.deepEqual(await health(), [null, null, '08:00']);
  await attempt('09:00', false);
  assert.deepEqual(await health(), ['09:00', '09:00', '08:00']);
  await attempt('10:00', false);
  assert.deepEqual(await health(), ['09:00', '10:00', '08:00']);
  await attempt('11:00', true);
  assert.deepEqual(await health(), [null, '10:00', '11:00']);
  await attempt('12:00', false);
  assert.deepEqual(await health(), ['12:00', '12:00', '11:00']);
});

test('of several outcomes at once a success clears what failed before it, and not what failed after', async () => {
  const dealer = await dealership();
  const endpoint = await endpointRow(dealer);
  await happen(dealer.ctx, 3);
  const [first, second, third] = (await claimAs(dealer.service, me)) as [Claimed, Claimed, Claimed];
  await settleDeliveries(dealer.service, me, [
    ended(dealer.service, third, false, { ended_ms_ago: 1_000 }),
    ended(dealer.service, first, false, { ended_ms_ago: 3_000 }),
    ended(dealer.service, second, true, { ended_ms_ago: 2_000 }),
  ]);
  const { failing_since: since, last_success_at: succeeded } = (await healthOf(dealer.ctx, [endpoint]))[0]!;
  assert.ok(since! > succeeded!);
});

test('what is sent by hand is sent once, and neither its failure nor its success changes how the endpoint fares', async () => {
  const dealer = await dealership();
  const { endpoint, delivery } = await oneDelivery(dealer);
  await settleAs(dealer.service, me, [delivery], false);
  const [before] = await healthOf(dealer.ctx, [endpoint]);
  const event = { id: delivery.event_id, created_at: delivery.event_at };
  for (const success of [false, true]) {
    await inTransaction(dealer.ctx, (tx) => sendAgain(tx, endpoint, [event]));
    const [manual] = (await claimAs(dealer.service, me)) as [Claimed];
    assert.deepEqual([manual.manual, manual.id, manual.attempt], [true, delivery.id, 1]);
    await settleAs(dealer.service, me, [manual], success);
    const [after] = await healthOf(dealer.ctx, [endpoint]);
    assert.deepEqual({ ...after, last_attempt_at: null }, { ...before, last_attempt_at: null });
    assert.deepEqual(await statesOf(dealer, [endpoint]), [['due', 2]], 'what waits for its retry waits');
  }
});

test('a lease that ran out long ago is found too, once in a while', async () => {
  const dealer = await dealership();
  const { endpoint } = await oneDelivery(dealer);
  await dealer.service.pools.doors.query("update delivery set lease_until = clock_timestamp() - interval '1 day'");
  await resumeOverdue(dealer.service, 'of the last minute');
  assert.deepEqual(await statesOf(dealer, [endpoint]), [['sending', 1]]);
  assert.deepEqual(await resumeOverdue(dealer.service, 'all'), { count: 1, looked: true });
  assert.deepEqual(await statesOf(dealer, [endpoint]), [['due', 1]]);
});

test('what came of an attempt at an endpoint that is gone, with all that was known of it, is in the log', async () => {
  const dealer = await dealership();
  const { endpoint, delivery } = await oneDelivery(dealer);
  for (const table of ['delivery', 'endpoint_health'])
    await dealer.service.pools.doors.query(`delete from ${table} where endpoint_id = $1`, [endpoint]);
  const attempt = ended(dealer.service, delivery, true);
  const { written } = await settleDeliveries(dealer.service, me, [attempt]);
  assert.deepEqual([...written], [attempt.attempt_id]);
  assert.equal((await logOf(dealer, endpoint)).length, 1);
});

test('what was cancelled while it was under way is in the log, and changes nothing', async () => {
  const dealer = await dealership();
  const { endpoint, delivery } = await oneDelivery(dealer);
  await happen(dealer.ctx, 3);
  const kept = await endpointRow(dealer);
  await happen(dealer.ctx);
  await inTransaction(dealer.ctx, (tx) => cancelDeliveries(tx, [endpoint]));
  assert.deepEqual(await deliveriesAt(dealer.service, [endpoint]), []);
  assert.equal((await deliveriesAt(dealer.service, [kept])).length, 1);
  await settleAs(dealer.service, me, [delivery], false);
  assert.equal((await logOf(dealer, endpoint)).length, 1);
  assert.equal((await healthOf(dealer.ctx, [endpoint]))[0]!.failing_since, null);
});

// ---- Past events ----

test('past events are delivered once more with all retries: those of the time, types and branches asked for, and no pending one twice', async () => {
  const dealer = await dealership();
  const { service, clock } = dealer;
  const endpoint = await endpointRow(dealer);
  const { id: branch } = dealer.branch;
  const at = (hour: number) => `2031-03-05T${String(hour).padStart(2, '0')}:00:00.000000Z`;
  for (const [hour, type, branchId] of [
    [8, 'vehicle.created', null],
    [9, 'vehicle.created', branch],
    [10, 'customer.created', null],
    [11, 'vehicle.created', null],
  ] as const) {
    clock.set(at(hour));
    await happen(dealer.ctx, 1, type, branchId);
  }
  clock.set(at(12));
  const asked = { since: at(8), until: null, types: ['vehicle.created'], onlyFailed: false, branches: 'all' as const };
  const count = (change: object) => inTransaction(dealer.ctx, (tx) => replay(tx, endpoint, { ...asked, ...change }));
  assert.equal(await count({}), 0, 'all of them are pending');
  const [first, second, third] = (await claimAs(service, me)) as [Claimed, Claimed, Claimed];
  await settleAs(service, me, [first, second], true);
  assert.equal(await count({}), 2);
  await service.pools.doors.query('delete from delivery');
  await settleAs(service, me, [third], false);
  assert.equal(await count({ onlyFailed: true }), 1);
  await service.pools.doors.query('delete from delivery');
  for (const [change, expected] of [
    [{}, 3],
    [{ since: at(9) }, 2],
    [{ until: at(9) }, 2],
    [{ branches: [] }, 2],
    [{ branches: [branch] }, 3],
    [{ types: ['vehicle.created', 'customer.created'] }, 4],
  ] as const) {
    assert.equal(await count(change), expected, JSON.stringify(change));
    await service.pools.doors.query('delete from delivery');
  }
  await count({});
  assert.deepEqual(await statesOf(dealer, [endpoint]), [
    ['due', 1],
    ['due', 1],
    ['due', 1],
  ]);
});

// ---- The log ----

test('the log is read in the order in which it was written, page by page, for exactly 30 days', async () => {
  const dealer = await dealership();
  const { service, clock } = dealer;
  const start = '2031-03-10T08:00:00.000000Z';
  clock.set(start);
  const endpoint = await endpointRow(dealer);
  await happen(dealer.ctx, 4);
  const taken = await claimAs(service, me);
  for (const delivery of taken) {
    clock.move({ seconds: 1 });
    await settleAs(service, me, [delivery], delivery !== taken[0]);
  }
  const ctx = { ...dealer.ctx, now: service.clock()! };
  const first = await pageOfAttempts(ctx, endpoint, { limit: 3, types: null }, ({ delivery_id: id }) => id);
  const rest = await pageOfAttempts(ctx, endpoint, { limit: 3, types: null, cursor: first.meta.next_cursor! }, ({ delivery_id: id }) => id);
  assert.deepEqual(
    [...first.data, ...rest.data],
    taken.map(({ id }) => id),
  );
  const ofOne = async (query: object) => (await logOf(dealer, endpoint, query)).length;
  assert.equal(await ofOne({ success: false }), 1);
  assert.equal(await ofOne({ event_id: [taken[1]!.event_id, taken[2]!.event_id] }), 2);
  assert.equal(await ofOne({ delivery_id: [taken[1]!.id] }), 1);
  assert.equal(await ofOne({ types: ['customer.created'] }), 0);
  assert.equal(await ofOne({ created_since: '2031-03-10T08:00:03Z' }), 2);

  const [oldest] = await logOf(dealer, endpoint);
  const byId = (now: string) => attemptById({ ...dealer.ctx, now }, endpoint, oldest!.id);
  const thirty = after(oldest!.attempted_at, 30 * day);
  assert.equal((await byId(thirty))?.id, oldest!.id);
  assert.equal(await byId(after(thirty, 0.001)), undefined);
  assert.equal(await attemptById(ctx, randomUUID(), oldest!.id), undefined, 'of another endpoint');
});

test('no row of the log has an earlier time than one that was there before, be it that the clock was set back', async () => {
  const dealer = await dealership();
  const { service, clock } = dealer;
  clock.set('2031-03-11T08:00:00Z');
  const endpoint = await endpointRow(dealer);
  await happen(dealer.ctx, 3);
  const taken = await claimAs(service, me);
  const times: string[] = [];
  for (const delivery of taken) {
    await settleAs(service, me, [delivery], true);
    times.push(...(await logOf(dealer, endpoint)).map(({ updated_at: at }) => at).filter((at) => !times.includes(at)));
    clock.move({ seconds: -1 });
  }
  assert.equal(times.length, 3);
  assert.deepEqual(times, [...times].sort());
});

test('a test that was made for somebody is in the log, and changes nothing of how the endpoint fares', async () => {
  const dealer = await dealership();
  const endpoint = await endpointRow(dealer);
  const outcome = {
    success: false,
    responseStatus: 500,
    requestHeaders: { a: 'b' },
    responseBody: 'No',
    error: 'status',
    durationMs: 3,
  } as const;
  const event = { id: randomUUID(), created_at: dealer.ctx.now, type: 'ping' };
  const row = await inTransaction(dealer.ctx, (tx) =>
    recordAttempt(tx, { endpointId: endpoint, event, attemptedAt: dealer.ctx.now, requestBody: '{}', outcome }),
  );
  assert.deepEqual(
    await logOf(dealer, endpoint),
    [row].map((one) => ({ ...one, created_at: one.attempted_at })),
  );
  const [health] = await healthOf(dealer.ctx, [endpoint]);
  assert.deepEqual([health!.failing_since, health!.last_failure_at, health!.last_attempt_at], [null, null, dealer.ctx.now]);
});

// ---- What is told to the operator ----

test('what is due counts as due, be it kept back by a cap, and what waits for a later time does not', async () => {
  const dealer = await dealership();
  const { service, clock } = dealer;
  clock.set('2031-03-12T08:00:00Z');
  await endpointRow(dealer);
  assert.deepEqual(await backlog(service), { due: 0, oldestSeconds: 0 });
  await happen(dealer.ctx, 10);
  await claimAs(service, me);
  clock.move({ seconds: 90 });
  assert.deepEqual(await backlog(service), { due: 6, oldestSeconds: 90 });
  await service.pools.doors.query("update delivery set next_at = '2031-03-12T09:00:00Z'");
  assert.deepEqual(await backlog(service), { due: 0, oldestSeconds: 0 });
});
