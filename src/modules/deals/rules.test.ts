import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { tradeVatRates, vatRateBps } from '#modules/parts/contract.ts';
import { Refusal } from '#platform/errors.ts';
import type { DealStatus } from './contract.ts';
import { dealStatuses, exchangeStatuses, financeStatuses } from './contract.ts';
import type { Car, Lead, Standing, Terms } from './rules.ts';
import * as rules from './rules.ts';

const deal: Standing = {
  id: 'd',
  status: 'QUOTE',
  vehicle_id: 'v',
  enquiry_id: 'e',
  customer_id: 'c',
  vehicle_status_before: null,
  cancellation_reason: null,
  vehicle_price: 1_000_000,
  discount: null,
  extras: [],
  part_exchanges: [],
  finance: null,
  metadata: {},
};
const car: Car = { id: 'v', status: 'FOR_SALE', branch_id: 'north', deal_id: null, vat_scheme: 'MARGIN' };
const nothing = { paid: 0, financed: 0 };
const lead: Lead = { id: 'e', status: 'NEGOTIATING', customer_id: 'c', has_other_deal: false, has_other_sale: false };
const exchange = { id: 'p', allowance: 100, settlement: null, status: 'AGREED' } as const;

const answerOf = (work: () => unknown): string => {
  try {
    work();
  } catch (refusal) {
    assert.ok(refusal instanceof Refusal);
    return refusal.fields ? Object.keys(refusal.fields).join() : refusal.code;
  }
  return 'allowed';
};

// ---- What it comes to ----

const amount = fc.integer({ min: 0, max: 9_999_999_999 });
const maybe = <T>(some: fc.Arbitrary<T>) => fc.option(some, { nil: null });

const terms: fc.Arbitrary<Terms> = fc.record({
  vehicle_price: maybe(amount),
  discount: maybe(amount),
  extras: fc.array(
    fc.record({
      id: fc.constant('x'),
      quantity: fc.integer({ min: 1, max: 999 }),
      unit_price: amount,
      vat_code: fc.constantFrom(...tradeVatRates),
    }),
    { maxLength: 50 },
  ),
  part_exchanges: fc.array(
    fc.record({ id: fc.constant('p'), allowance: maybe(amount), settlement: maybe(amount), status: fc.constantFrom(...exchangeStatuses) }),
    { maxLength: 10 },
  ),
  finance: maybe(fc.record({ advance: maybe(amount), status: maybe(fc.constantFrom(...financeStatuses)) })),
});
const schemes = fc.constantFrom('MARGIN', 'VAT_QUALIFYING', 'NO_VAT', null);
const big = (value: number | null) => BigInt(value ?? 0);

test('the totals of any deal add up to the penny', () => {
  fc.assert(
    fc.property(terms, schemes, amount, (some, scheme, paid) => {
      const { vehicle, extras, discount, part_exchange_net, total, finance_advance, balance_due, ...rest } = rules.totalsOf(some, scheme, {
        paid,
        financed: 0,
      });
      for (const value of [extras, part_exchange_net, total, balance_due, rest.vat]) assert.ok(Number.isSafeInteger(value));
      assert.equal(
        big(extras),
        some.extras.reduce((all, { quantity, unit_price }) => all + big(quantity) * big(unit_price), 0n),
      );
      assert.deepEqual([big(vehicle), big(discount), rest.paid], [big(some.vehicle_price), big(some.discount), paid]);
      assert.equal(big(total), big(vehicle) + big(extras) - big(discount));
      const given = some.part_exchanges.filter(({ status }) => status !== 'WITHDRAWN');
      assert.equal(
        big(part_exchange_net),
        given.reduce((all, { allowance, settlement }) => all + big(allowance) - big(settlement), 0n),
      );
      assert.equal(big(balance_due), big(total) - big(part_exchange_net) - big(finance_advance) - big(paid));
    }),
  );
});

test('the VAT of a line leaves the nearest amount without it, and that of a deal is the sum of its lines', () => {
  const bare: Terms = { ...deal, vehicle_price: null };
  fc.assert(
    fc.property(terms, schemes, (some, scheme) => {
      let vat = 0;
      for (const extra of some.extras) {
        const line = rules.totalsOf({ ...bare, extras: [extra] }, scheme, nothing);
        const whole = 10_000n + big(vatRateBps[extra.vat_code]);
        const off = big(line.total) * 10_000n - big(line.total - line.vat) * whole;
        assert.ok(2n * off > -whole - 1n && 2n * off < whole, `${line.total}: ${line.vat}`);
        vat += line.vat;
      }
      const { vehicle_price, discount } = some;
      vat += rules.totalsOf({ ...bare, vehicle_price, discount }, scheme, nothing).vat;
      assert.equal(rules.totalsOf(some, scheme, nothing).vat, vat);
    }),
  );
  const vatIn = (unit_price: number) =>
    rules.totalsOf({ ...bare, extras: [{ id: 'x', quantity: 1, unit_price, vat_code: 'STANDARD' }] }, null, nothing).vat;
  assert.deepEqual([3, 9, 15, 9_999_999_999].map(vatIn), [0, 1, 2, 1_666_666_666], 'halves of what is without it go up');
});

test('a car under the margin scheme shows no VAT, its extras do; a qualifying one shows its own', () => {
  const some: Terms = {
    ...deal,
    vehicle_price: 1_200_000,
    discount: 60_000,
    extras: [{ id: 'x', quantity: 2, unit_price: 6_001, vat_code: 'STANDARD' }],
  };
  assert.equal(rules.totalsOf(some, 'MARGIN', nothing).vat, 2_000);
  assert.equal(rules.totalsOf(some, 'NO_VAT', nothing).vat, 2_000);
  assert.equal(rules.totalsOf(some, null, nothing).vat, 2_000);
  assert.equal(rules.totalsOf(some, 'VAT_QUALIFYING', nothing).vat, 192_000);
});

test('finance that was declined or has expired pays nothing, a part exchange that is withdrawn neither', () => {
  const of = (status: (typeof financeStatuses)[number] | null) =>
    rules.totalsOf({ ...deal, finance: { advance: 5, status } }, null, nothing).finance_advance;
  assert.deepEqual(
    financeStatuses.filter((status) => of(status) === 0),
    ['DECLINED', 'EXPIRED'],
  );
  assert.equal(of(null), 5);
  const net = (status: (typeof exchangeStatuses)[number]) =>
    rules.totalsOf({ ...deal, part_exchanges: [{ ...exchange, settlement: 150, status }] }, null, nothing).part_exchange_net;
  assert.deepEqual(exchangeStatuses.map(net), [-50, -50, -50, 0]);
  assert.equal(rules.netOf({ allowance: null, settlement: null }), null);
  assert.equal(rules.netOf({ allowance: null, settlement: 5 }), -5);
});

// ---- The record's state ----

test('a cancelled deal is closed but for its filing; a sold one keeps what was invoiced', () => {
  const fields = ['status', 'enquiry_id', 'customer_id', 'vehicle_id', 'vehicle_price', 'discount', 'extras', 'part_exchanges', 'finance'];
  const free = ['type', 'salesperson_id', 'deposit', 'handover'];
  for (const status of dealStatuses) {
    const answer = (field: string) => answerOf(() => rules.checkOpen({ ...deal, status }, [field]));
    const sold = status === 'SOLD' || status === 'DELIVERED';
    for (const field of fields) assert.equal(answer(field), status === 'CANCELLED' ? 'deal_closed' : sold ? 'deal_sold' : 'allowed');
    for (const field of free) assert.equal(answer(field), status === 'CANCELLED' ? 'deal_closed' : 'allowed');
    assert.equal(answer('branch_id'), status === 'CANCELLED' ? 'deal_closed' : sold ? 'branch_id' : 'allowed');
    for (const field of ['metadata', 'external_id']) assert.equal(answer(field), 'allowed');
    assert.equal(
      answerOf(() => rules.checkOpen({ ...deal, status }, [])),
      'allowed',
    );
  }
});

test('to hold a car a deal needs it and an enquiry; a quote needs neither', () => {
  const answer = (status: DealStatus, [a, b]: [Car | null, Lead | null], before: Standing | null = deal) =>
    answerOf(() => rules.checkHold(before, { ...deal, status }, a, b, 'all'));
  for (const status of ['RESERVED', 'ORDERED'] as const) {
    assert.equal(answer(status, [car, lead]), 'allowed');
    assert.equal(answer(status, [null, lead]), 'deal_has_no_vehicle');
    assert.equal(answer(status, [car, null]), 'deal_has_no_enquiry');
    assert.equal(answer(status, [null, null], null), 'deal_has_no_vehicle');
  }
  for (const status of ['QUOTE', 'CANCELLED'] as const) assert.equal(answer(status, [null, null]), 'allowed');
  const reserved = { ...deal, status: 'RESERVED' } as const;
  const held = { ...car, status: 'RESERVED', deal_id: 'd' };
  assert.equal(answer('RESERVED', [held, null], reserved), 'allowed', 'its enquiry may have been deleted since');
  assert.equal(answer('ORDERED', [held, null], reserved), 'deal_has_no_enquiry');
  assert.equal(
    answerOf(() => rules.checkHold(reserved, { ...reserved, vehicle_id: null }, null, lead, 'all')),
    'deal_has_no_vehicle',
  );
  assert.equal(
    answerOf(() => rules.checkHold(reserved, { ...reserved, enquiry_id: null }, held, null, 'all')),
    'deal_has_no_enquiry',
  );
});

test('a car is held by one deal, and not once it is sold or disposed of, nor beyond the branches of whoever asks', () => {
  const take = (of: Partial<Car>, status: DealStatus = 'RESERVED', reach: 'all' | string[] = 'all') =>
    answerOf(() => rules.checkHold(null, { ...deal, status }, { ...car, ...of }, lead, reach));
  assert.equal(take({ deal_id: 'other' }), 'vehicle_in_deal');
  assert.equal(take({ status: 'SOLD' }), 'vehicle_in_deal');
  assert.equal(take({ status: 'DELIVERED' }), 'vehicle_in_deal');
  assert.equal(take({ status: 'DISPOSED' }), 'request_refused');
  assert.equal(take({}, 'ORDERED', ['south']), 'vehicle_id');
  assert.equal(take({ deal_id: 'other' }, 'QUOTE'), 'allowed', 'a quote holds nothing');
  assert.equal(take({ status: 'DISPOSED' }, 'QUOTE'), 'request_refused');
  assert.equal(
    answerOf(() => rules.checkHold(deal, deal, { ...car, status: 'DISPOSED' }, lead, 'all')),
    'allowed',
    'named before',
  );
});

// ---- What follows ----

test('a held car is RESERVED until it is sold; let go it is what it was, or in preparation when it comes back', () => {
  assert.deepEqual(
    (['RESERVED', 'ORDERED', 'SOLD', 'DELIVERED'] as const).map((status) => rules.statusOfHeld({ status })),
    ['RESERVED', 'RESERVED', 'SOLD', 'DELIVERED'],
  );
  const before = 'NOT_FOR_SALE' as const;
  const letGo = (status: DealStatus) => rules.statusLetGo({ status, vehicle_status_before: before });
  assert.deepEqual(
    [letGo('RESERVED'), letGo('ORDERED'), letGo('SOLD'), letGo('DELIVERED')],
    [before, before, 'IN_PREPARATION', 'IN_PREPARATION'],
  );
  assert.deepEqual(
    dealStatuses.filter((status) => rules.carHeld({ status, vehicle_id: 'v' }) === 'v'),
    ['RESERVED', 'ORDERED', 'SOLD', 'DELIVERED'],
  );
});

test('a sale wins the enquiry; a cancellation loses it with the same reason, unless it has another deal', () => {
  const outcome = (status: DealStatus, of: Partial<Lead> = {}, reason: string | null = 'CONDITION') =>
    rules.outcomeFor({ status, cancellation_reason: reason }, { ...lead, ...of });
  const lost = { status: 'LOST', reason: 'CONDITION' };
  assert.deepEqual(outcome('SOLD'), { status: 'WON', reason: null });
  assert.equal(outcome('SOLD', { status: 'WON' }), null);
  assert.deepEqual(outcome('SOLD', { status: 'LOST' }), { status: 'WON', reason: null });
  assert.deepEqual(outcome('CANCELLED'), lost);
  assert.deepEqual(outcome('CANCELLED', { status: 'WON' }), lost);
  assert.deepEqual(outcome('CANCELLED', {}, 'X_MOVED'), { ...lost, reason: 'OTHER' });
  assert.deepEqual(outcome('CANCELLED', {}, null), { ...lost, reason: 'OTHER' });
  for (const facts of [{ has_other_deal: true }, { status: 'LOST' }, { status: 'DISQUALIFIED' }])
    assert.equal(outcome('CANCELLED', facts), null);
  const credited = (has_other_sale: boolean) => outcome('CANCELLED', { status: 'WON', has_other_deal: true, has_other_sale });
  assert.deepEqual([credited(false), credited(true)], [{ status: 'NEGOTIATING', reason: null }, null], 'nothing stays won without a sale');
  for (const status of ['QUOTE', 'RESERVED', 'ORDERED', 'DELIVERED'] as const) assert.equal(outcome(status), null);
  assert.equal(rules.outcomeFor({ status: 'SOLD', cancellation_reason: null }, null), null);
});

// ---- In the DMS ----

test('each step in the DMS is taken from its own status', () => {
  const steps = {
    sell: (status: DealStatus) => answerOf(() => rules.sellable({ ...deal, status })),
    deliver: (status: DealStatus) => answerOf(() => rules.checkDeliverable({ ...deal, status })),
    credit: (status: DealStatus) => answerOf(() => rules.checkCreditable({ ...deal, status })),
    remove: (status: DealStatus) => answerOf(() => rules.checkDeletable({ ...deal, status })),
    receive: (status: DealStatus) => answerOf(() => rules.checkReceivable({ ...deal, status }, exchange)),
  };
  const [yes, no, sold, closed] = ['allowed', 'request_refused', 'deal_sold', 'deal_closed'];
  assert.deepEqual(dealStatuses.map(steps.sell), [no, no, yes, sold, sold, closed]);
  assert.deepEqual(dealStatuses.map(steps.deliver), [no, no, no, yes, yes, closed]);
  assert.deepEqual(dealStatuses.map(steps.credit), [no, no, no, yes, yes, closed]);
  assert.deepEqual(dealStatuses.map(steps.remove), [yes, no, no, sold, sold, yes]);
  assert.deepEqual(dealStatuses.map(steps.receive), [yes, yes, yes, yes, yes, closed]);
  const ordered = { ...deal, status: 'ORDERED' } as const;
  assert.equal(
    answerOf(() => rules.sellable({ ...ordered, vehicle_price: null })),
    no,
  );
  assert.equal(
    answerOf(() => rules.sellable({ ...ordered, customer_id: null })),
    no,
  );
  for (const status of exchangeStatuses) {
    const may = status === 'OFFERED' || status === 'AGREED';
    assert.equal(
      answerOf(() => rules.checkReceivable(deal, { status })),
      may ? yes : no,
    );
  }
});

// ---- The deal itself ----

test('a cancellation says why, and only a cancellation', () => {
  const answer = (before: Standing, of: Partial<Standing>, body: Parameters<typeof rules.checkDeal>[2]) =>
    answerOf(() => rules.checkDeal(before, { ...before, ...of }, body));
  assert.equal(answer(deal, { status: 'CANCELLED' }, { status: 'CANCELLED' }), 'cancellation_reason');
  assert.equal(answer(deal, { status: 'CANCELLED', cancellation_reason: 'CONDITION' }, { status: 'CANCELLED' }), 'allowed');
  assert.equal(answer(deal, {}, { cancellation_reason: 'CONDITION', cancellation_note: 'x' }), 'cancellation_reason,cancellation_note');
  assert.equal(answer({ ...deal, status: 'CANCELLED' }, {}, { metadata: {} }), 'allowed', 'a credit need not say why');
});

test('a discount is no more than the price; a part exchange that came stays; an item is named once', () => {
  const answer = (of: Partial<Standing>, body: Parameters<typeof rules.checkDeal>[2], before: Standing = deal) =>
    answerOf(() => rules.checkDeal(before, { ...before, ...of }, body));
  assert.equal(answer({ discount: 1_000_001 }, { discount: 1_000_001 }), 'discount');
  assert.equal(answer({ discount: 1_000_000 }, { discount: 1_000_000 }), 'allowed');
  assert.equal(answer({ discount: 1, vehicle_price: null }, { vehicle_price: null }), 'discount');
  assert.equal(answer({ discount: null, vehicle_price: null }, { vehicle_price: null }), 'allowed');
  const received = { ...deal, part_exchanges: [{ ...exchange, status: 'RECEIVED' as const }] };
  assert.equal(answer({ part_exchanges: [] }, { part_exchanges: [] }, received), 'part_exchanges');
  assert.equal(answer({ part_exchanges: [{ ...exchange, allowance: 1 }] }, { part_exchanges: [] }, received), 'part_exchanges');
  assert.equal(answer({}, { part_exchanges: [{ id: 'p' }] }, received), 'allowed');
  assert.equal(
    answer({}, { part_exchanges: [{ id: 'p' }, { id: 'p' }, { id: 'q' }] }, received),
    'part_exchanges.1.id,part_exchanges.2.id',
  );
  assert.equal(answer({}, { extras: [{ id: 'p' }] }), 'extras.0.id');
});

test('what a finance company paid counts, agreed or not', () => {
  const bought: Terms = { ...deal, extras: [], part_exchanges: [], discount: null, finance: null, vehicle_price: 1_000_000 };
  const figures = (finance: Terms['finance'], financed: number) => {
    const { finance_advance, balance_due } = rules.totalsOf(finance ? { ...bought, finance } : bought, null, { paid: 0, financed });
    return [finance_advance, balance_due];
  };
  assert.deepEqual(figures(null, 600_000), [600_000, 400_000]);
  assert.deepEqual(figures({ advance: 600_000, status: 'PAID_OUT' }, 600_000), [600_000, 400_000]);
  assert.deepEqual(figures({ advance: 600_000, status: 'DECLINED' }, 700_000), [700_000, 300_000]);
});
