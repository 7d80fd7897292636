import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Refusal } from '#platform/errors.ts';
import type { Balance, Hold, PartMove } from './contract.ts';
import * as rules from './rules.ts';

const stock = (on_hand: number, reserved = 0, branch_id = 'a'): Balance => ({ branch_id, part_id: 'p', on_hand, reserved });
const hold = (state: 'RESERVED' | 'ISSUED', quantity = 1, branchId = 'a'): Hold => ({ state, branchId, quantity });
const move = (from: Hold, to: Hold, lineId = 'l'): PartMove => ({ lineId, partId: 'p', from, to });

const moved = (moves: PartMove[], ...before: Balance[]) => {
  const { movements, balances, lacking, holds } = rules.movesOf(moves, before);
  return {
    kinds: movements.map(({ kind, branch_id, on_hand, reserved }) => `${kind} ${branch_id} ${on_hand} ${reserved}`),
    stock: balances.map(({ branch_id, on_hand, reserved }) => `${branch_id} ${on_hand}/${reserved}`),
    lacking,
    holds: [...holds.values()].map((held) => held?.state ?? 'NONE'),
  };
};

test('each step of a line is one movement, and the step back is its reverse', () => {
  for (const [from, to, kind, after, back] of [
    [null, hold('RESERVED'), 'RESERVED a 0 1', 'a 5/2', 'RELEASED a 0 -1'],
    [null, hold('ISSUED'), 'ISSUED a -1 0', 'a 4/1', 'RETURNED a 1 0'],
    [hold('RESERVED'), hold('ISSUED'), 'ISSUED a -1 -1', 'a 4/0', 'RETURNED a 1 1'],
  ] as const) {
    const there = moved([move(from, to)], stock(5, 1));
    assert.deepEqual([there.kinds, there.stock], [[kind], [after]]);
    const [onHand, reserved] = after.slice(2).split('/').map(Number);
    const again = moved([move(to, from)], stock(onHand!, reserved!));
    assert.deepEqual([again.kinds, again.stock], [[back], ['a 5/1']]);
  }
});

test('what is not free is not reserved, without an error; what cannot be issued is lacking', () => {
  assert.deepEqual(moved([move(null, hold('RESERVED', 2))], stock(2, 1)), { kinds: [], stock: [], lacking: [], holds: ['NONE'] });
  assert.deepEqual(moved([move(null, hold('ISSUED', 2))], stock(2, 1)).lacking, ['p']);
  assert.deepEqual(moved([move(null, hold('RESERVED'), 'l'), move(null, hold('RESERVED'), 'm')], stock(1)).holds, ['RESERVED', 'NONE']);
  assert.deepEqual(moved([move(null, hold('RESERVED'))]).holds, ['NONE'], 'a part nobody has seen at the branch');
  assert.throws(
    () => rules.checkEnough(['OF-1 (Oil filter)']),
    (error: unknown) => error instanceof Refusal && error.code === 'request_refused' && error.message.includes('OF-1'),
  );
});

test('what is given back can be taken in the same step, at whatever branch', () => {
  assert.deepEqual(moved([move(null, hold('RESERVED'), 'l'), move(hold('RESERVED'), null, 'm')], stock(1, 1)).holds, ['RESERVED', 'NONE']);
  assert.deepEqual(moved([move(hold('RESERVED', 1), hold('RESERVED', 3))], stock(3, 1)).kinds, ['RELEASED a 0 -1', 'RESERVED a 0 3']);
  const across = moved([move(hold('RESERVED'), hold('RESERVED', 1, 'b'))], stock(1, 1), stock(1, 0, 'b'));
  assert.deepEqual(
    [across.kinds, across.stock],
    [
      ['RELEASED a 0 -1', 'RESERVED b 0 1'],
      ['a 1/0', 'b 1/1'],
    ],
  );
});

test('a delivery adds, a stocktake sets, and counts no fewer than are reserved', () => {
  const came = rules.received('a', [{ part_id: 'p', quantity: 2.5 }], [stock(0.2)]);
  assert.deepEqual(came.balances, [stock(2.7)]);
  const { movements } = rules.counted('a', [{ part_id: 'p', on_hand: 4 }], [stock(6, 4)]);
  assert.deepEqual([movements[0]?.kind, movements[0]?.on_hand], ['COUNTED', -2]);
  assert.deepEqual(rules.counted('a', [{ part_id: 'p', on_hand: 6 }], [stock(6)]).movements, []);
  assert.throws(() => rules.counted('a', [{ part_id: 'p', on_hand: 3 }], [stock(6, 4)]), { code: 'request_refused' });
});

test('whatever moves, balances differ by the sum of the movements, and nothing is below zero or reserved twice', () => {
  const quantity = fc.integer({ min: 1, max: 3_000 }).map((n) => n / 1000);
  const held = fc.option(fc.record({ state: fc.constantFrom('RESERVED', 'ISSUED'), branchId: fc.constantFrom('a', 'b'), quantity }), {
    nil: null,
  }) as fc.Arbitrary<Hold>;
  const thousandths = (n: number) => Math.round(n * 1000);
  fc.assert(
    fc.property(fc.array(fc.tuple(held, held), { maxLength: 6 }), fc.nat(5), (pairs, spare) => {
      const moves = pairs.map(([from, to], index) => move(from, to, String(index)));
      const reserved = (branchId: string) =>
        pairs.reduce(
          (total, [from]) => total + (from?.state === 'RESERVED' && from.branchId === branchId ? thousandths(from.quantity) : 0),
          0,
        ) / 1000;
      const before = ['a', 'b'].map((branchId) => stock(Math.ceil(reserved(branchId)) + spare, reserved(branchId), branchId));
      const { movements, balances } = rules.movesOf(moves, before);
      for (const after of balances) {
        const was = before.find(({ branch_id }) => branch_id === after.branch_id)!;
        const sum = (field: 'on_hand' | 'reserved') =>
          movements.reduce((total, one) => total + (one.branch_id === after.branch_id ? thousandths(one[field]) : 0), 0);
        assert.equal(thousandths(after.on_hand), thousandths(was.on_hand) + sum('on_hand'));
        assert.equal(thousandths(after.reserved), thousandths(was.reserved) + sum('reserved'));
        assert.ok(after.reserved >= 0 && after.on_hand >= after.reserved, JSON.stringify(after));
      }
      assert.ok(movements.every(({ cause_line_id, on_hand, reserved }) => cause_line_id !== null && (on_hand !== 0 || reserved !== 0)));
    }),
  );
});
