import assert from 'node:assert/strict';
import { test } from 'node:test';
import { house } from '../../../test/support/dealership.ts';
import { textArray } from './text-array.ts';

test('texts arrive as they were sent, whatever is in them', async () => {
  const { service } = await house();
  for (const texts of [[], [''], ['a', '{"b":"c\\"d\\n"}', 'Škoda € 🚗', '{null}', 'x'.repeat(100_000)]]) {
    const { rows } = await service.pools.doors.query('select $1::text[] as texts', [textArray(texts)]);
    assert.deepEqual(rows[0].texts, texts);
  }
});
