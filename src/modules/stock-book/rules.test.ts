import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { marginOf, vatDueOn } from './rules.ts';

test('the VAT due is a sixth of the margin, rounded half up; a loss owes none', () => {
  assert.equal(marginOf(1_000_000, 850_000), 150_000);
  const due = [150_000, 1, 2, 3, 4, 9, 15, 0, -1, -150_000].map(vatDueOn);
  // A sixth of 3 is a half, and so are those of 9 and 15.
  assert.deepEqual(due, [25_000, 0, 0, 1, 1, 2, 3, 0, 0, 0]);
});

test('the VAT due is never further than half a penny from a sixth', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 9_999_999_999 }), (margin) => {
      const off = vatDueOn(margin) * 6 - margin;
      assert.ok(off > -3 && off <= 3);
    }),
  );
});
