import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { eventType } from '#platform/contract.ts';
import { inTransaction, undoneIfThrown } from '#platform/db/transaction.ts';
import type { Dealership } from '../../../test/support/dealership.ts';
import { dealership } from '../../../test/support/dealership.ts';
import { recordActivity } from '../activity/index.ts';
import { dropOldEventDays, emit, makeEventDays } from './index.ts';

const happened = eventType({
  type: 'test.happened',
  summary: 'Something happened',
  object: z.object({ id: z.string(), count: z.int() }),
  scopes: [],
});
const resourceId = '01900000-0000-7000-8000-000000000001';
const about = { resourceId, branchId: null };

const eventsOf = async ({ service, id }: Dealership) => {
  const { rows } = await service.pools.doors.query(
    "select * from event where dealer_id = $1 and type = 'test.happened' order by sequence",
    [id],
  );
  return rows;
};

const partitions = async ({ service }: Dealership) => {
  const { rows } = await service.pools.doors.query(
    "select inhrelid::regclass::text as name from pg_inherits where inhparent in ('event'::regclass, 'delivery_attempt'::regclass)",
  );
  return rows.map(({ name }: { name: string }) => name);
};

test('events are numbered without gaps in the order in which they happened, and stamped with the time of the turn', async () => {
  const dealer = await dealership();
  for (const count of [3, 1]) {
    await inTransaction(dealer.ctx, async (tx) => {
      for (let n = 0; n < count; n++) emit(tx, happened, { id: resourceId, count: n, secret: 'not in the contract' }, about);
    });
  }
  const events = await eventsOf(dealer);
  assert.deepEqual(
    events.map(({ sequence }: { sequence: number }) => sequence),
    [1, 2, 3, 4],
  );
  assert.deepEqual(
    events.map(({ data }: { data: string }) => data),
    [0, 1, 2, 0].map((count) => `{"object":{"id":"${resourceId}","count":${count}}}`),
  );
  assert.equal(new Set(events.map(({ created_at }: { created_at: string }) => created_at)).size, 2);
  assert.deepEqual(events[0].actor, { kind: 'system', id: null, name: 'Forecourt' });
});

test('what changed and the status before travel with the event', async () => {
  const dealer = await dealership();
  await inTransaction(dealer.ctx, async (tx) =>
    emit(tx, happened, { id: resourceId, count: 1 }, { ...about, changed: ['status'], previousStatus: 'FOR_SALE' }),
  );
  const [event] = await eventsOf(dealer);
  assert.deepEqual(JSON.parse(event.data), {
    object: { id: resourceId, count: 1 },
    changed: ['status'],
    previous_status: 'FOR_SALE',
  });
});

test('what is undone was never told, neither as event nor in the activity log, and leaves no gap', async () => {
  const dealer = await dealership();
  const tell = (count: number) =>
    inTransaction(dealer.ctx, async (tx) => {
      emit(tx, happened, { id: resourceId, count }, about);
      recordActivity(tx, 'updated', 'test', resourceId, [String(count)]);
      if (count === 2) throw new Error('undone');
      const inner = undoneIfThrown(tx, async () => {
        emit(tx, happened, { id: resourceId, count: 99 }, about);
        recordActivity(tx, 'updated', 'test', resourceId, ['99']);
        throw new Error('undone alone');
      });
      await assert.rejects(inner, /undone alone/);
    });
  await tell(1);
  await assert.rejects(tell(2), /undone/);
  await tell(3);
  const events = await eventsOf(dealer);
  assert.deepEqual(
    events.map(({ sequence, data }: { sequence: number; data: string }) => [sequence, JSON.parse(data).object.count]),
    [
      [1, 1],
      [2, 3],
    ],
  );
  const { rows } = await dealer.service.pools.doors.query(
    "select fields, caller_kind from activity where dealer_id = $1 and record_type = 'test' order by at",
    [dealer.id],
  );
  assert.deepEqual(rows, [
    { fields: ['1'], caller_kind: 'system' },
    { fields: ['3'], caller_kind: 'system' },
  ]);
});

test('a day without a partition gets one when something happens on it, and keeps it though the write is undone', async () => {
  const dealer = await dealership();
  dealer.clock.set('2031-05-06T12:00:00Z');
  try {
    const tell = (fails: boolean) =>
      inTransaction(dealer.ctx, async (tx) => {
        emit(tx, happened, { id: resourceId, count: 1 }, about);
        // Written after the events, and refused by the database.
        if (fails) recordActivity(tx, 'updated', 'test', 'no uuid', []);
      });
    await assert.rejects(tell(true));
    assert.ok((await partitions(dealer)).includes('event_20310506'));
    await tell(false);
    assert.equal((await eventsOf(dealer))[0].created_at, '2031-05-06T12:00:00.000000Z');
  } finally {
    dealer.clock.release();
  }
});

test('a week of days is made ahead, for events and for the attempts to deliver them', async () => {
  const dealer = await dealership();
  dealer.clock.set('2032-02-27T23:00:00Z');
  try {
    await makeEventDays(dealer.service);
  } finally {
    dealer.clock.release();
  }
  const days = ['0227', '0228', '0229', '0301', '0302', '0303', '0304', '0305'];
  const made = await partitions(dealer);
  assert.deepEqual(
    ['event', 'delivery_attempt'].flatMap((table) => days.map((day) => `${table}_2032${day}`)).filter((name) => !made.includes(name)),
    [],
  );
});

test('a day is dropped when an event of its last moment can be delivered no more, and not while a delivery waits for one', async () => {
  const dealer = await dealership();
  const { service, ctx, clock, id } = dealer;
  const days = async () => (await partitions(dealer)).filter((name) => /_203303/.test(name)).sort();
  try {
    clock.set('2033-03-01T23:59:59.999999Z');
    await inTransaction(ctx, async (tx) => emit(tx, happened, { id: resourceId, count: 1 }, about));
    await makeEventDays(service, 0);
    assert.deepEqual(await days(), ['delivery_attempt_20330301', 'event_20330301']);
    await service.pools.doors.query(
      `insert into delivery (dealer_id, id, endpoint_id, event_id, event_at, next_at)
       select dealer_id, gen_random_uuid(), gen_random_uuid(), id, created_at, created_at from event where dealer_id = $1`,
      [id],
    );
    clock.set('2033-04-02T23:59:59Z');
    await dropOldEventDays(service);
    assert.deepEqual(await days(), ['delivery_attempt_20330301', 'event_20330301']);
    clock.set('2033-04-03T00:00:00Z');
    await dropOldEventDays(service);
    assert.deepEqual(await days(), ['event_20330301']);
    await service.pools.doors.query('delete from delivery where dealer_id = $1', [id]);
    await dropOldEventDays(service);
    assert.deepEqual(await days(), []);
    assert.deepEqual(await eventsOf(dealer), []);
  } finally {
    clock.release();
  }
});
