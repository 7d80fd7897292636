import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dealership } from '../../../test/support/dealership.ts';
import { completedJobCard, exchange, extra, orderedDeal } from '../../../test/support/selling.ts';
import {
  creditInvoice,
  draftInvoice,
  raiseDepositInvoice,
  raisePartsInvoice,
  raiseSalesInvoice,
  raiseWorkshopInvoice,
  recordPayment,
} from './index.ts';

const cashSale = { bill_to: { name: 'Cash sale' }, lines: [{ description: 'Oil', quantity: 4.5, unit_price: 1_233, discount: 49 }] };

type Json = ReturnType<typeof JSON.parse>;
const amounts = ({ totals }: Json) => Object.fromEntries(Object.entries<Json>(totals).map(([name, { amount }]) => [name, amount]));
const refuses = (work: Promise<unknown>, code: string) => assert.rejects(work, { code });

test('a credit note takes back the whole of an invoice, and what was paid is given back', async () => {
  const d = await dealership();
  const invoice = await raisePartsInvoice(d.ctx, cashSale);
  assert.deepEqual(amounts(invoice), { net: 5_500, vat: 1_100, gross: 6_600, paid: 0, outstanding: 6_600 });
  await recordPayment(d.ctx, invoice.id, { method: 'CARD', amount: 4_000 });
  const { id } = await creditInvoice(d.ctx, invoice.id);
  const note = await d.api.get(`/v1/invoices/${id}`).succeeds();
  assert.deepEqual([note.number, note.type, note.status, note.credit_note_of_id], ['CRN-000001', 'CREDIT_NOTE', 'ISSUED', invoice.id]);
  assert.deepEqual(note.bill_to, invoice.bill_to);
  assert.deepEqual(note.credit_note_of, { id: invoice.id, number: 'PRT-000001', status: 'CREDITED' });
  assert.match(note.statements[0], /^Credits invoice PRT-000001 of \d{4}-\d\d-\d\d in full\.$/);
  // 26.00 was never paid.
  assert.deepEqual(amounts(note), { net: -5_500, vat: -1_100, gross: -6_600, paid: -2_600, outstanding: -4_000 });
  assert.deepEqual(
    note.lines.map(({ quantity, unit_price, discount, net, vat, gross }: Json) => [
      quantity,
      ...[unit_price, discount, net, vat, gross].map(({ amount }) => amount),
    ]),
    [[-4.5, 1_233, -49, -5_500, -1_100, -6_600]],
  );
  assert.deepEqual(
    note.vat_summary.map(({ vat_code, rate_bps, net, vat }: Json) => [vat_code, rate_bps, net.amount, vat.amount]),
    [['STANDARD', 2000, -5_500, -1_100]],
  );
  const credited = await d.api.get(`/v1/invoices/${invoice.id}`).succeeds();
  assert.deepEqual(
    [credited.status, credited.number, amounts(credited).outstanding, credited.payments.length],
    ['CREDITED', 'PRT-000001', 0, 1],
  );
  assert.equal(credited.updated_at, note.updated_at);

  await refuses(recordPayment(d.ctx, invoice.id, { method: 'CARD', amount: 1 }), 'request_refused');
  await refuses(recordPayment(d.ctx, note.id, { method: 'CARD', amount: 4_001 }), 'validation_failed');
  const part = await recordPayment(d.ctx, note.id, { method: 'CARD', amount: 1_000 });
  assert.deepEqual([part.status, amounts(part).outstanding], ['PART_PAID', -3_000]);
  const returned = await recordPayment(d.ctx, note.id, { method: 'CARD', amount: 3_000 });
  assert.deepEqual([returned.status, returned.payments[0]?.amount.amount, amounts(returned).outstanding], ['PAID', -1_000, 0]);
});

test('of what nobody paid nothing is given back; what is paid is given back whole', async () => {
  const d = await dealership();
  const unpaid = await creditInvoice(d.ctx, (await raisePartsInvoice(d.ctx, cashSale)).id);
  assert.deepEqual([unpaid.status, unpaid.totals.outstanding.amount, unpaid.payments], ['PAID', 0, []]);
  const paid = await raisePartsInvoice(d.ctx, cashSale);
  await recordPayment(d.ctx, paid.id, { method: 'CASH', amount: 6_600 });
  const note = await creditInvoice(d.ctx, paid.id);
  assert.deepEqual([note.status, note.totals.paid.amount, note.totals.outstanding.amount], ['ISSUED', 0, -6_600]);
});

test('an invoice is credited once; a draft and a credit note not at all', async () => {
  const d = await dealership();
  const { id } = await raisePartsInvoice(d.ctx, cashSale);
  const note = await creditInvoice(d.ctx, id);
  await refuses(creditInvoice(d.ctx, id), 'request_refused');
  await refuses(creditInvoice(d.ctx, note.id), 'request_refused');
  await refuses(creditInvoice(d.ctx, (await draftInvoice(d.ctx, cashSale)).id), 'request_refused');
  await refuses(creditInvoice(d.ctx, '00000000-0000-4000-8000-000000000000'), 'not_found');
  for (const reason of ['WHIM', 'X_NEVER'])
    await refuses(creditInvoice(d.ctx, '00000000-0000-4000-8000-000000000000', { reason }), 'validation_failed');
});

test('crediting the sale of a car cancels its deal, and the car comes back with the same stock number', async () => {
  const d = await dealership();
  const terms = { deposit_required: 25_000, part_exchanges: [exchange(100_000)], extras: [extra('WARRANTY', 39_900)] };
  const deal = await orderedDeal(d, terms);
  const deposit = await raiseDepositInvoice(d.ctx, deal.id);
  await recordPayment(d.ctx, deposit.id, { method: 'CARD', amount: 25_000 });
  const sale = await raiseSalesInvoice(d.ctx, deal.id);
  const note = await creditInvoice(d.ctx, sale.id, { reason: 'CONDITION' });
  assert.deepEqual([note.deal_id, note.deal?.status, note.margin_scheme, note.vehicle_id], [deal.id, 'CANCELLED', true, deal.vehicle.id]);
  // The deposit and the part exchange.
  assert.deepEqual(amounts(note), { net: -1_082_750, vat: -6_650, gross: -1_089_400, paid: -964_400, outstanding: -125_000 });
  assert.equal(note.lines[0]?.vat, null);
  const car = await d.api.get(`/v1/vehicles/${deal.vehicle.id}`).succeeds();
  assert.deepEqual([car.status, car.stock_number, car.deal_id], ['IN_PREPARATION', deal.vehicle.stock_number, null]);
  await refuses(creditInvoice(d.ctx, deposit.id), 'request_refused');
});

test('who is given back the worth of a part exchange as well has paid nothing in the end, not less than nothing', async () => {
  const d = await dealership();
  const deal = await orderedDeal(d, { part_exchanges: [exchange(400_000)] });
  const deposit = await raiseDepositInvoice(d.ctx, deal.id, { amount: 25_000 });
  await recordPayment(d.ctx, deposit.id, { method: 'CARD', amount: 25_000 });
  const sale = await raiseSalesInvoice(d.ctx, deal.id);
  await recordPayment(d.ctx, sale.id, { method: 'CARD', amount: 624_500 });
  const seen = async () => {
    const { totals, deposit } = await d.api.get(`/v1/deals/${deal.id}`).succeeds();
    return [totals.paid.amount, deposit.paid.amount];
  };
  assert.deepEqual(await seen(), [649_500, 25_000]);
  const note = await creditInvoice(d.ctx, sale.id);
  await recordPayment(d.ctx, note.id, { method: 'BANK_TRANSFER', amount: 630_000 });
  assert.deepEqual(await seen(), [19_500, 19_500]);
  await recordPayment(d.ctx, note.id, { method: 'BANK_TRANSFER', amount: 419_500 });
  assert.deepEqual(await seen(), [0, 0]);
});

test('a part exchange worth more than the car is paid out, and the deal is settled', async () => {
  const d = await dealership();
  const deal = await orderedDeal(d, { part_exchanges: [exchange(1_149_500)] });
  const sale = await raiseSalesInvoice(d.ctx, deal.id);
  await recordPayment(d.ctx, sale.id, { method: 'BANK_TRANSFER', amount: 100_000 });
  const { paid, balance_due } = (await d.api.get(`/v1/deals/${deal.id}`).succeeds()).totals;
  assert.deepEqual([paid.amount, balance_due.amount], [-100_000, 0]);
});

test('who takes a car back whose finance the dealership has cleared pays that on the credit note', async () => {
  const d = await dealership();
  const deal = await orderedDeal(d, { part_exchanges: [exchange(90_000, 120_000)] });
  const note = await creditInvoice(d.ctx, (await raiseSalesInvoice(d.ctx, deal.id)).id);
  assert.equal(note.totals.outstanding.amount, 30_000);
  await recordPayment(d.ctx, note.id, { method: 'CARD', amount: 30_000 });
  assert.equal((await d.api.get(`/v1/deals/${deal.id}`).succeeds()).totals.paid.amount, 30_000);
});

test('a sale is not credited while its car is in stock anew: a car is in stock once', async () => {
  const d = await dealership();
  const vin = 'WF0AXXGCDA1234567';
  const deal = await orderedDeal(d, {}, { vin });
  const sale = await raiseSalesInvoice(d.ctx, deal.id);
  const bought = { condition: 'USED', make: 'Ford', model: 'Focus' };
  for (const same of [{ registration: deal.vehicle.registration }, { vin }]) {
    const { id } = await d.api.post('/v1/vehicles', { ...bought, ...same }).succeeds(201);
    await refuses(creditInvoice(d.ctx, sale.id), 'request_refused');
    const [stands, car] = [
      await d.api.get(`/v1/deals/${deal.id}`).succeeds(),
      await d.api.get(`/v1/vehicles/${deal.vehicle.id}`).succeeds(),
    ];
    assert.deepEqual([stands.status, car.status, stands.invoice_ids], ['SOLD', 'SOLD', [sale.id]]);
    await d.api.patch(`/v1/vehicles/${id}`, { status: 'DISPOSED' }).succeeds();
  }
  await creditInvoice(d.ctx, sale.id);
  assert.equal((await d.api.get(`/v1/vehicles/${deal.vehicle.id}`).succeeds()).status, 'IN_PREPARATION');
});

test('a deposit of a deal that comes to nothing is credited, and given back', async () => {
  const d = await dealership();
  const deal = await orderedDeal(d);
  const deposit = await raiseDepositInvoice(d.ctx, deal.id, { amount: 10_000 });
  await recordPayment(d.ctx, deposit.id, { method: 'CARD', amount: 10_000 });
  const note = await creditInvoice(d.ctx, deposit.id);
  assert.deepEqual([note.status, note.totals.outstanding.amount], ['ISSUED', -10_000]);
  const car = await d.api.get(`/v1/vehicles/${deal.vehicle.id}`).succeeds();
  assert.equal(car.status, 'RESERVED', 'the deal stands');
});

test('a job card whose invoice is credited can be invoiced again', async () => {
  const d = await dealership();
  const card = await completedJobCard(d, [{ unit_price: 5_000 }]);
  const first = await raiseWorkshopInvoice(d.ctx, card.id);
  await refuses(raiseWorkshopInvoice(d.ctx, card.id), 'request_refused');
  await creditInvoice(d.ctx, first.id);
  const second = await raiseWorkshopInvoice(d.ctx, card.id);
  assert.deepEqual([first.number, second.number], ['WKS-000001', 'WKS-000002']);
});
