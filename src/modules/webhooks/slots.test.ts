import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slotsOf } from './slots.ts';

test('places are taken and given back, and who waits for the last is told', async () => {
  const slots = slotsOf(16);
  const calm = { endpoint_id: 'a', troubled: false };
  const leave = [slots.take(calm), slots.take(calm), slots.take({ endpoint_id: 'b', troubled: true })];
  assert.equal(slots.count(), 3);
  assert.deepEqual(slots.free(), { places: 12, troubledPlaces: 7, slow: [] });
  let isEmpty = false;
  const told = slots.empty().then(() => {
    isEmpty = true;
  });
  leave[0]!();
  leave[1]!();
  await new Promise((turn) => setImmediate(turn));
  assert.equal(isEmpty, false);
  leave[2]!();
  await told;
  await slots.empty();
});
