import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { vatRateBps } from '#modules/parts/contract.ts';
import { Refusal } from '#platform/errors.ts';
import { jobLineKinds, jobLineStatuses } from './contract.ts';
import type { Line, Standing } from './rules.ts';
import * as rules from './rules.ts';

const line = (facts: Partial<Line> = {}): Line => ({
  id: 'l',
  kind: 'PART',
  part_id: 'p',
  quantity: 1,
  unit_price: 1_000,
  discount: 0,
  vat_code: 'STANDARD',
  authorised: true,
  status: 'OPEN',
  stock_state: 'NONE',
  stock_branch_id: null,
  ...facts,
});

const card = (facts: Partial<Standing> = {}): Standing => ({
  status: 'BOOKED',
  branch_id: 'a',
  mileage_in: null,
  mileage_out: null,
  metadata: {},
  lines: [],
  invoice: null,
  ...facts,
});

const refuses = (code: string, work: () => unknown, field?: string) =>
  assert.throws(work, (error: unknown) => error instanceof Refusal && error.code === code && (!field || field in (error.fields ?? {})));

test('a paid card keeps its status, an invoiced one too until the invoice is credited, and both keep their branch', () => {
  const billed = (status: string) => card({ status: 'INVOICED', invoice: { status } });
  for (const status of ['DRAFT', 'CREDITED']) rules.checkInvoice(billed(status), card({ status: 'IN_PROGRESS', branch_id: 'b' }));
  rules.checkInvoice(card(), card({ status: 'IN_PROGRESS', branch_id: 'b' }));
  for (const [status, code] of [
    ['PAID', 'job_card_paid'],
    ['ISSUED', 'request_refused'],
    ['PART_PAID', 'request_refused'],
  ] as const) {
    refuses(code, () => rules.checkInvoice(billed(status), card({ status: 'IN_PROGRESS', branch_id: 'b' })));
    refuses('validation_failed', () => rules.checkInvoice(billed(status), card({ status: 'INVOICED', branch_id: 'b' })), 'branch_id');
    rules.checkInvoice(billed(status), billed(status));
  }
});

test('mileage does not run backwards; what stands already is not complained about', () => {
  refuses('validation_failed', () => rules.checkCard(card({ mileage_in: 9, mileage_out: 8 }), { mileage_in: 9 }), 'mileage_out');
  rules.checkCard(card({ mileage_in: 9, mileage_out: 8 }), {});
  rules.checkCard(card({ mileage_in: 8, mileage_out: 8 }), { mileage_out: 8 });
});

test('only authorised parts that are not declined are asked of the stock', () => {
  const lines = [
    line({ id: 'a' }),
    line({ id: 'b', authorised: false }),
    line({ id: 'c', status: 'DECLINED' }),
    line({ id: 'd', kind: 'LABOUR', part_id: null }),
  ];
  const asked = (status: Standing['status']) =>
    rules.partMoves(card({ status }), card({ status, lines })).map(({ lineId, to }) => `${lineId} ${to?.state}`);
  for (const status of ['BOOKED', 'CHECKED_IN', 'IN_PROGRESS', 'AWAITING_PARTS', 'AWAITING_AUTHORISATION'] as const)
    assert.deepEqual(asked(status), ['a RESERVED']);
  for (const status of ['COMPLETED', 'INVOICED'] as const) assert.deepEqual(asked(status), ['a ISSUED']);
  for (const status of ['ESTIMATE', 'CANCELLED'] as const) assert.deepEqual(asked(status), []);
});

test('parts are asked for anew by a change of status, branch or lines alone', () => {
  const before = card({ lines: [line()] });
  assert.deepEqual(rules.partMoves(before, { ...before, lines: [line()], mileage_in: 5 }), []);
  for (const after of [{ status: 'AWAITING_PARTS' as const }, { branch_id: 'b' }, { lines: [line({ discount: 1 })] }])
    assert.equal(rules.partMoves(before, { ...before, ...after }).length, 1);
});

test('when a card moves, what is put by moves along, and what is fitted stays where it was taken from', () => {
  const held = (stock_state: Line['stock_state']) => card({ lines: [line({ stock_state, stock_branch_id: 'a' })] });
  const moved = (state: Line['stock_state'], status: Standing['status']) =>
    rules.partMoves(held(state), { ...held(state), status, branch_id: 'b' }).map(({ to }) => to && `${to.state} ${to.branchId}`);
  assert.deepEqual(moved('RESERVED', 'BOOKED'), ['RESERVED b']);
  assert.deepEqual(moved('RESERVED', 'COMPLETED'), ['ISSUED b']);
  assert.deepEqual(moved('ISSUED', 'COMPLETED'), ['ISSUED a']);
  assert.deepEqual(moved('ISSUED', 'IN_PROGRESS'), ['RESERVED b']);
});

test('a line is rounded half up by itself', () => {
  const amounts = (facts: Partial<Line>) => Object.values(rules.amountsOf(line(facts)));
  assert.deepEqual(amounts({ unit_price: 1_050, quantity: 1.5, discount: 75 }), [1_500, 300, 1_800]);
  assert.deepEqual(amounts({ unit_price: 1, quantity: 0.5 }), [1, 0, 1], 'half a penny');
  assert.deepEqual(amounts({ unit_price: 10, vat_code: 'REDUCED' }), [10, 1, 11], 'half a penny of VAT');
  assert.deepEqual(amounts({ unit_price: 9_999_999_999 }), [9_999_999_999, 2_000_000_000, 11_999_999_999]);
  for (const vat_code of ['ZERO', 'EXEMPT', 'OUTSIDE_SCOPE'] as const) assert.deepEqual(amounts({ vat_code }), [1_000, 0, 1_000]);
});

test('totals add up to the penny, whatever the lines', () => {
  const lines = fc.array(
    fc
      .record({
        kind: fc.constantFrom(...jobLineKinds),
        quantity: fc.integer({ min: 1, max: 999_999_000 }).map((n) => n / 1000),
        unit_price: fc.oneof(fc.nat(100_000), fc.nat(9_999)),
        off: fc.nat(100),
        vat_code: fc.constantFrom(...(Object.keys(vatRateBps) as (keyof typeof vatRateBps)[])),
        authorised: fc.boolean(),
        status: fc.constantFrom(...jobLineStatuses),
      })
      .map(({ off, ...facts }) => line({ ...facts, discount: Math.floor((rules.amountsOf(line(facts)).net * off) / 100) })),
    { maxLength: 40 },
  );
  fc.assert(
    fc.property(lines, (lines) => {
      const { labour, parts, sublet, other, discount, net, vat, gross, authorised } = rules.totalsOf(lines);
      const counting = lines.filter(({ status }) => status !== 'DECLINED').map((one) => ({ one, ...rules.amountsOf(one) }));
      assert.equal(labour + parts + sublet + other - discount, net);
      assert.equal(net + vat, gross);
      assert.equal(
        gross,
        counting.reduce((sum, { gross }) => sum + gross, 0),
      );
      assert.ok(authorised >= 0 && authorised <= gross && Number.isSafeInteger(gross));
      for (const { one, net, vat, gross } of counting) {
        assert.ok([net, vat, gross].every((amount) => Number.isSafeInteger(amount) && amount >= 0));
        // Half up by whole numbers: twice the VAT is nearest to twice the exact one.
        const exact = BigInt(net) * BigInt(vatRateBps[one.vat_code]);
        assert.ok(2n * BigInt(vat) * 10_000n <= 2n * exact + 10_000n && 2n * BigInt(vat) * 10_000n > 2n * exact - 10_000n);
      }
    }),
  );
});

test('a line comes to no more than an amount may be, and to no less than nothing', () => {
  assert.deepEqual(rules.wrongWithLine(line()), {});
  assert.deepEqual(Object.keys(rules.wrongWithLine(line({ quantity: 1.001, unit_price: 9_999_999_999 }))), ['quantity']);
  assert.deepEqual(Object.keys(rules.wrongWithLine(line({ discount: 1_001 }))), ['discount']);
  assert.deepEqual(Object.keys(rules.wrongWithLine(line({ kind: 'MOT' }))), ['vat_code']);
  assert.deepEqual(Object.keys(rules.wrongWithLine(line({ kind: 'NOTE' }))), ['unit_price']);
});

test('what preparing a vehicle has cost is what was authorised, without VAT', () => {
  assert.equal(rules.costOf([line(), line({ authorised: false }), line({ status: 'DECLINED' }), line({ discount: 100 })]), 1_900);
});
