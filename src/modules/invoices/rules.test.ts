import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { VatRate } from '#modules/parts/contract.ts';
import { vatRateBps, vatRates } from '#modules/parts/contract.ts';
import type { Priced, Standing } from './rules.ts';
import * as rules from './rules.ts';

const line = (some: Partial<Priced>): Priced => ({ quantity: 1, unit_price: 1_000, discount: 0, vat_code: 'STANDARD', ...some });
const amounts = (some: Partial<Priced>, including: boolean) => {
  const { net, vat, gross } = rules.amountsOf(line(some), including);
  return [net, vat, gross];
};

test('VAT is added to a price without it, and found in one with it, halves up, line by line', () => {
  assert.deepEqual(amounts({ unit_price: 12_333 }, false), [12_333, 2_467, 14_800]);
  assert.deepEqual(amounts({ unit_price: 10, vat_code: 'REDUCED' }, false), [10, 1, 11]);
  assert.deepEqual(amounts({ unit_price: 9, vat_code: 'REDUCED' }, false), [9, 0, 9]);
  assert.deepEqual(amounts({ unit_price: 12_000 }, true), [10_000, 2_000, 12_000]);
  // 99 × 10000 / 12000 = 82.5
  assert.deepEqual(amounts({ unit_price: 99 }, true), [83, 16, 99]);
  assert.deepEqual(amounts({ quantity: 1.5, unit_price: 8_333, discount: 100 }, false), [12_400, 2_480, 14_880]);
  assert.deepEqual(amounts({ unit_price: 9_999_999_999 }, true), [8_333_333_333, 1_666_666_666, 9_999_999_999]);
});

test('a margin line shows no VAT and no rate; its net is its gross', () => {
  const margin = rules.amountsOf(line({ vat_code: 'MARGIN' }), true);
  assert.deepEqual(margin, { vat_rate_bps: null, net: 1_000, vat: null, gross: 1_000 });
});

test('what is exempt or outside the scope has no rate, and no VAT', () => {
  for (const vat_code of ['EXEMPT', 'OUTSIDE_SCOPE'] as const)
    assert.deepEqual(rules.amountsOf(line({ vat_code }), false), { vat_rate_bps: null, net: 1_000, vat: 0, gross: 1_000 });
  assert.equal(rules.amountsOf(line({ vat_code: 'ZERO' }), false).vat_rate_bps, 0);
});

/** What `checkLines` lets pass. */
const priced = fc
  .record({
    quantity: fc.integer({ min: 1, max: 999_999_999 }).map((thousandths) => thousandths / 1000),
    unit_price: fc.oneof(fc.integer({ min: 0, max: 99_999 }), fc.integer({ min: 0, max: 9_999_999_999 })),
    vat_code: fc.constantFrom<VatRate>(...vatRates),
    off: fc.double({ min: 0, max: 1, noNaN: true }),
  })
  .filter((one) => rules.amountsOf({ ...one, discount: 0 }, false).gross <= 9_999_999_999);
const some = fc.array(priced, { minLength: 1, maxLength: 30 });
const discounted = ({ off, ...rest }: { off: number } & Omit<Priced, 'discount'>): Priced => {
  const { net } = rules.amountsOf({ ...rest, discount: 0 }, false);
  return { ...rest, discount: Math.floor(net * off) };
};

test('the totals and the VAT summary of any invoice add up to the penny', () => {
  fc.assert(
    fc.property(some, fc.boolean(), (given, including) => {
      const lines = given.map(discounted).map((one) => ({ ...one, ...rules.amountsOf(one, including) }));
      const { net, vat, gross, vat_summary, margin_scheme } = rules.sumsOf(lines);
      const sum = (numbers: (number | null)[]) => numbers.reduce<bigint>((all, one) => all + BigInt(one ?? 0), 0n);
      for (const one of lines) assert.equal(BigInt(one.net) + BigInt(one.vat ?? 0), BigInt(one.gross));
      assert.deepEqual(
        [BigInt(net), BigInt(vat), BigInt(gross)],
        [sum(lines.map((one) => one.net)), sum(lines.map((one) => one.vat)), sum(lines.map((one) => one.gross))],
      );
      assert.equal(net + vat, gross);
      assert.deepEqual([sum(vat_summary.map((one) => one.net)), sum(vat_summary.map((one) => one.vat))], [BigInt(net), BigInt(vat)]);
      assert.deepEqual(new Set(vat_summary.map(({ vat_code }) => vat_code)), new Set(lines.map(({ vat_code }) => vat_code)));
      assert.equal(
        margin_scheme,
        lines.some(({ vat_code }) => vat_code === 'MARGIN'),
      );
      for (const { vat_code, rate_bps, vat } of vat_summary) {
        assert.equal(vat === null, vat_code === 'MARGIN');
        assert.ok(rate_bps === null || rate_bps === vatRateBps[vat_code]);
      }
    }),
    { numRuns: 500 },
  );
});

test('a credit note takes back every line to the penny', () => {
  fc.assert(
    fc.property(some, fc.boolean(), (given, including) => {
      const lines = given.map(discounted).map((one) => ({ ...one, ...rules.amountsOf(one, including) }));
      const back = lines.map(rules.reversed);
      const [there, here] = [rules.sumsOf(lines), rules.sumsOf(back)];
      assert.deepEqual([there.net + here.net, there.vat + here.vat, there.gross + here.gross], [0, 0, 0]);
      for (const [at, one] of back.entries()) {
        // Reckoned anew it would be the same.
        const { net, vat, gross } = rules.amountsOf(one, including);
        assert.deepEqual([net, vat, gross], [one.net, one.vat, one.gross]);
        assert.equal(one.unit_price, lines[at]!.unit_price);
      }
    }),
  );
});

test('a line is not given away below nothing, nor worth more than an amount may be', () => {
  const refused = (one: Partial<Priced>, field: string, including = false) =>
    assert.throws(
      () => rules.checkLines([line(one)], including),
      (error: { fields: object }) => Object.keys(error.fields).join() === field,
    );
  refused({ discount: 1_001 }, 'lines.0.discount');
  refused({ quantity: 2, unit_price: 9_999_999_999 }, 'lines.0.quantity');
  refused({ unit_price: 9_999_999_999 }, 'lines.0.quantity');
  rules.checkLines([line({ unit_price: 9_999_999_999 })], true);
  rules.checkLines([line({ discount: 1_000 })], false);
  assert.throws(() => rules.checkLines([], false), { code: 'request_refused' });
});

test('the scheme a car was ordered under decides on its VAT, and without one it is not invoiced', () => {
  assert.deepEqual(['MARGIN', 'VAT_QUALIFYING', 'NO_VAT'].map(rules.vatOfCar), ['MARGIN', 'STANDARD', 'EXEMPT']);
  assert.throws(() => rules.vatOfCar(null), { code: 'request_refused' });
});

test('who pays for a job card follows from its type; an internal one is nobody’s to pay', () => {
  assert.deepEqual(['RETAIL', 'FLEET', 'X_TAXI', 'WARRANTY', 'INSURANCE'].map(rules.payerOf), [
    ...['CUSTOMER', 'CUSTOMER', 'CUSTOMER', 'WARRANTY', 'INSURANCE'],
  ]);
  assert.throws(() => rules.payerOf('INTERNAL'), { code: 'request_refused' });
});

const invoice = (some: Partial<Standing>): Standing => ({
  type: 'PARTS',
  status: 'ISSUED',
  number: 'PRT-000001',
  gross: 1_000,
  paid: 0,
  ...some,
});
const cash = (amount: number, method = 'CASH') => ({ amount, method });

test('an invoice is paid when nothing is left of it, and part paid while something is', () => {
  const statuses = [0, 1, 999, 1_000, 1_001].map((paid) => rules.statusOf({ gross: 1_000, paid }));
  assert.deepEqual(statuses, ['ISSUED', 'PART_PAID', 'PART_PAID', 'PAID', 'PART_PAID']);
  assert.equal(rules.statusOf({ gross: 0, paid: 0 }), 'PAID');
});

test('nothing is outstanding of a draft, and of what is void or credited', () => {
  const left = (status: Standing['status']) => rules.outstandingOf(invoice({ status, paid: 400 }));
  assert.deepEqual((['DRAFT', 'ISSUED', 'PART_PAID', 'PAID', 'CREDITED', 'VOID'] as const).map(left), [0, 600, 600, 0, 0, 0]);
});

test('a payment is taken up to what is outstanding, and of a credit note it is money given back', () => {
  assert.equal(rules.checkPayment(invoice({ paid: 400 }), [], cash(600)), 600);
  assert.throws(() => rules.checkPayment(invoice({ paid: 400 }), [], cash(601)), { code: 'validation_failed' });
  assert.equal(rules.checkPayment(invoice({ type: 'CREDIT_NOTE', gross: -1_000, paid: -400 }), [], cash(600)), -600);
  for (const status of ['DRAFT', 'PAID', 'CREDITED', 'VOID'] as const)
    assert.throws(() => rules.checkPayment(invoice({ status }), [], cash(1)), { code: 'request_refused' });
  for (const method of ['DEPOSIT', 'PART_EXCHANGE'])
    assert.throws(() => rules.checkPayment(invoice({}), [], cash(1, method)), { code: 'validation_failed' });
});

test('only a draft is issued or becomes void, and only what is issued is credited, once', () => {
  rules.checkDraft(invoice({ status: 'DRAFT', number: null }));
  for (const status of ['ISSUED', 'PART_PAID', 'PAID', 'CREDITED', 'VOID'] as const)
    assert.throws(() => rules.checkDraft(invoice({ status })), { code: 'request_refused' });
  for (const status of ['ISSUED', 'PART_PAID', 'PAID'] as const) rules.checkCreditable(invoice({ status }), []);
  for (const status of ['DRAFT', 'CREDITED', 'VOID'] as const)
    assert.throws(() => rules.checkCreditable(invoice({ status }), []), { code: 'request_refused' });
  assert.throws(() => rules.checkCreditable(invoice({ type: 'CREDIT_NOTE' }), []), { code: 'request_refused' });
});

test('a deposit is spent once its deal is invoiced, even if that was credited since', () => {
  const deposit = invoice({ type: 'DEPOSIT' });
  for (const status of ['ISSUED', 'PAID', 'CREDITED'] as const) {
    assert.throws(() => rules.checkPayment(deposit, [{ type: 'VEHICLE_SALE', status }], cash(1)), { code: 'request_refused' });
    assert.throws(() => rules.checkCreditable(deposit, [{ type: 'VEHICLE_SALE', status }]), { code: 'request_refused' });
  }
  rules.checkCreditable(deposit, [{ type: 'DEPOSIT', status: 'PAID' }]);
});

const paidBy = (pay_type: string) => ({ pay_type });

test('a job card is invoiced to one payer: the house’s own lines are left out, a third party’s refuse it', () => {
  assert.deepEqual(rules.billed('RETAIL', [paidBy('CUSTOMER'), paidBy('INTERNAL'), paidBy('GOODWILL')]), [paidBy('CUSTOMER')]);
  assert.deepEqual(rules.billed('WARRANTY', [paidBy('WARRANTY'), paidBy('INTERNAL')]), [paidBy('WARRANTY')]);
  assert.throws(() => rules.billed('RETAIL', [paidBy('CUSTOMER'), paidBy('WARRANTY')]), { code: 'request_refused', message: /WARRANTY/ });
});

test('a deposit that another customer paid is credited before the sale', () => {
  const paid = { ...invoice({ type: 'DEPOSIT', status: 'PAID' }), customer_id: 'x' };
  rules.checkDeposits([paid], 'x');
  assert.throws(() => rules.checkDeposits([paid], 'y'), { code: 'request_refused', message: /another customer/ });
});
