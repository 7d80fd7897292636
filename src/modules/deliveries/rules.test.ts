import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { after } from '#platform/dates.ts';
import { delayAfter, entriesFor, isDelinquent, noticesDue, placesLeft } from './rules.ts';

const start = '2026-01-31T08:00:00.000000Z';
const at = (hours: number, ms = 0) => after(start, hours * 3_600_000 + ms);

test('an attempt that failed is followed by another 1 and 5 and 30 minutes, 2, 6, 12 and 24 hours later, eight in 44 hours and 36 minutes', () => {
  const delays = [1, 2, 3, 4, 5, 6, 7, 8].map(delayAfter);
  assert.deepEqual(delays, [60, 300, 1_800, 7_200, 21_600, 43_200, 86_400, null]);
  assert.equal(
    delays.reduce<number>((sum, delay) => sum + (delay ?? 0), 0),
    (44 * 60 + 36) * 60,
  );
});

test('an endpoint is given up once it has failed for three days, not a moment sooner', () => {
  assert.equal(isDelinquent(start, at(72, -1)), false);
  assert.equal(isDelinquent(start, at(72)), true);
});

test('mails are due after an hour, a day and two days', () => {
  for (const [hours, ms, due] of [
    [0, 0, 0],
    [1, -1, 0],
    [1, 0, 1],
    [24, -1, 1],
    [24, 0, 2],
    [48, -1, 2],
    [48, 0, 3],
    [71, 0, 3],
  ] as const)
    assert.equal(noticesDue(start, at(hours, ms)), due, `${hours} h ${ms} ms`);
});

test('a type is meant by itself, by its family and by *', () => {
  assert.deepEqual(entriesFor('vehicle.status_changed'), ['*', 'vehicle.status_changed', 'vehicle.*']);
  assert.deepEqual(entriesFor('ping'), ['*', 'ping']);
});

test('what is in trouble never has more than half of the places, and never keeps the rest from the other half', () => {
  assert.deepEqual(placesLeft(256, { calm: 0, troubled: 0 }), { places: 224, troubledPlaces: 128 });
  assert.deepEqual(placesLeft(256, { calm: 224, troubled: 0 }), { places: 0, troubledPlaces: 32 });
  assert.deepEqual(placesLeft(256, { calm: 100, troubled: 128 }), { places: 28, troubledPlaces: 0 });
  // All that was begun hangs.
  assert.deepEqual(placesLeft(256, { calm: 0, troubled: 256 }), { places: 128, troubledPlaces: 0 });
  const count = fc.integer({ min: 0, max: 600 });
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 300 }), count, count, (most, calm, troubled) => {
      const { places, troubledPlaces } = placesLeft(most, { calm, troubled });
      assert.ok(places >= 0 && troubledPlaces >= 0);
      assert.ok(troubledPlaces === 0 || troubled + troubledPlaces <= most / 2);
      assert.ok(places === 0 || calm + troubled + places <= 2 * most, 'there is an end to it');
      if (calm === 0 && troubled <= most) assert.ok(places >= Math.floor(most / 2));
    }),
  );
});
