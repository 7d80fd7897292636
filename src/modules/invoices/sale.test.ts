import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Dealership } from '../../../test/support/dealership.ts';
import { dealership } from '../../../test/support/dealership.ts';
import type { Ordered } from '../../../test/support/selling.ts';
import { exchange, extra, finance, orderedDeal, toldUnder } from '../../../test/support/selling.ts';
import { creditInvoice, raiseDepositInvoice, raiseSalesInvoice, recordPayment } from './index.ts';

const nobody = '00000000-0000-4000-8000-000000000000';

type Json = ReturnType<typeof JSON.parse>;

const refuses = (work: Promise<unknown>, code: string, message?: RegExp) =>
  assert.rejects(work, (error: { code: string; message: string }) => {
    assert.equal(error.code, code);
    if (message) assert.match(error.message, message);
    return true;
  });

const statusOf = async ({ service, id }: Dealership, { id: dealId }: Ordered): Promise<string> => {
  const { rows } = await service.pools.doors.query('select status from deal where dealer_id = $1 and id = $2', [id, dealId]);
  return rows[0].status;
};

const carOf = async ({ api }: Dealership, { vehicle }: Ordered): Promise<Json> => api.get(`/v1/vehicles/${vehicle.id}`).succeeds();

const paymentsOf = ({ payments }: Json) => payments.map(({ method, amount, reference }: Json) => [method, amount.amount, reference]).sort();

const amounts = ({ totals }: Json) => Object.fromEntries(Object.entries<Json>(totals).map(([name, { amount }]) => [name, amount]));

test('the sale of a car under the margin scheme shows no VAT on it, and sells the deal and the car', async () => {
  const d = await dealership();
  const deal = await orderedDeal(d, { discount: 49_500, extras: [extra('WARRANTY', 39_900), extra('ROAD_TAX', 19_000, 'OUTSIDE_SCOPE')] });
  const { id } = await raiseSalesInvoice(d.ctx, deal.id);
  const invoice = await d.api.get(`/v1/invoices/${id}`).succeeds();
  assert.deepEqual(
    [invoice.number, invoice.type, invoice.status, invoice.prices_include_vat, invoice.margin_scheme],
    ['SAL-000001', 'VEHICLE_SALE', 'ISSUED', true, true],
  );
  assert.deepEqual([invoice.deal_id, invoice.customer_id, invoice.vehicle_id], [deal.id, deal.customer.id, deal.vehicle.id]);
  assert.deepEqual([invoice.deal.status, invoice.vehicle.stock_number], ['SOLD', deal.vehicle.stock_number]);
  assert.deepEqual(invoice.bill_to, { name: 'Kim Ash', address: deal.enquiry.contact.address, vat_number: null });
  assert.deepEqual(invoice.statements, ['VAT: margin scheme – second-hand goods.']);
  assert.deepEqual(
    invoice.lines.map(({ kind, description, unit_price, discount, vat_code, vat_rate_bps, net, vat, gross, vehicle_id }: Json) => [
      ...[kind, description, unit_price.amount, discount.amount, vat_code, vat_rate_bps, net.amount, vat?.amount ?? null, gross.amount],
      vehicle_id,
    ]),
    [
      [
        'VEHICLE',
        `2020 Ford Focus, registration ${deal.vehicle.registration}, stock number ${deal.vehicle.stock_number}`,
        ...[1_049_500, 49_500, 'MARGIN', null, 1_000_000, null, 1_000_000, deal.vehicle.id],
      ],
      ['WARRANTY', 'Warranty', 39_900, 0, 'STANDARD', 2000, 33_250, 6_650, 39_900, null],
      ['ROAD_TAX', 'Road tax', 19_000, 0, 'OUTSIDE_SCOPE', null, 19_000, 0, 19_000, null],
    ],
  );
  assert.deepEqual(amounts(invoice), { net: 1_052_250, vat: 6_650, gross: 1_058_900, paid: 0, outstanding: 1_058_900 });
  assert.deepEqual(
    invoice.vat_summary.map(({ vat_code, rate_bps, net, vat }: Json) => [vat_code, rate_bps, net.amount, vat?.amount ?? null]),
    [
      ['STANDARD', 2000, 33_250, 6_650],
      ['OUTSIDE_SCOPE', null, 19_000, 0],
      ['MARGIN', null, 1_000_000, null],
    ],
  );
  assert.deepEqual([await statusOf(d, deal), (await carOf(d, deal)).status], ['SOLD', 'SOLD']);
});

test('a VAT qualifying car has VAT in its price, one without VAT is exempt, and one without a scheme is not invoiced', async () => {
  const d = await dealership();
  const price = { vehicle_price: 1_200_001 };
  const qualifying = await raiseSalesInvoice(d.ctx, (await orderedDeal(d, price, { vat_scheme: 'VAT_QUALIFYING' })).id);
  assert.deepEqual(amounts(qualifying), { net: 1_000_001, vat: 200_000, gross: 1_200_001, paid: 0, outstanding: 1_200_001 });
  assert.deepEqual([qualifying.margin_scheme, qualifying.statements, qualifying.lines[0]?.vat_rate_bps], [false, [], 2000]);
  const exempt = await raiseSalesInvoice(d.ctx, (await orderedDeal(d, price, { vat_scheme: 'NO_VAT' })).id);
  assert.deepEqual([exempt.totals.vat.amount, exempt.lines[0]?.vat_code, exempt.margin_scheme], [0, 'EXEMPT', false]);
  const unknown = await orderedDeal(d, {}, { vat_scheme: null });
  await refuses(raiseSalesInvoice(d.ctx, unknown.id), 'request_refused', /no VAT scheme/);
  assert.equal(await statusOf(d, unknown), 'ORDERED');
  assert.equal((await raiseSalesInvoice(d.ctx, (await orderedDeal(d)).id)).number, 'SAL-000003', 'what was refused took no number');
});

test('a deal copies the VAT scheme of its car when it is sold, where the car had none when it was ordered; its invoice goes by that', async () => {
  const d = await dealership();
  const deal = await orderedDeal(d, {}, { vat_scheme: null });
  await d.api.patch(`/v1/vehicles/${deal.vehicle.id}`, { vat_scheme: 'MARGIN' }).succeeds();
  const { margin_scheme, lines } = await raiseSalesInvoice(d.ctx, deal.id);
  assert.deepEqual([margin_scheme, lines[0]?.vat_code], [true, 'MARGIN']);
  assert.equal((await d.api.get(`/v1/deals/${deal.id}`).succeeds()).vat_scheme, 'MARGIN');
});

test('a deposit is invoiced without VAT, paid, and counts as a payment of the sale', async () => {
  const d = await dealership();
  const deal = await orderedDeal(d, { deposit_required: 25_000 });
  const deposit = await raiseDepositInvoice(d.ctx, deal.id);
  assert.deepEqual(
    [deposit.number, deposit.type, deposit.status, deposit.deal_id, deposit.vehicle_id, deposit.prices_include_vat],
    ['DEP-000001', 'DEPOSIT', 'ISSUED', deal.id, deal.vehicle.id, true],
  );
  assert.deepEqual(amounts(deposit), { net: 25_000, vat: 0, gross: 25_000, paid: 0, outstanding: 25_000 });
  assert.deepEqual([deposit.lines[0]?.kind, deposit.lines[0]?.vat_code, deposit.statements.length], ['DEPOSIT', 'OUTSIDE_SCOPE', 1]);

  await refuses(raiseSalesInvoice(d.ctx, deal.id), 'request_refused', /DEP-000001 is not paid/);
  assert.equal(await statusOf(d, deal), 'ORDERED');
  await recordPayment(d.ctx, deposit.id, { method: 'CARD', amount: 25_000 });
  const second = await raiseDepositInvoice(d.ctx, deal.id, { amount: 5_000, due_on: '2031-01-01' });
  await recordPayment(d.ctx, second.id, { method: 'CASH', amount: 5_000 });
  const unwanted = await raiseDepositInvoice(d.ctx, deal.id, { amount: 1 });
  await creditInvoice(d.ctx, unwanted.id);

  const sale = await raiseSalesInvoice(d.ctx, deal.id);
  assert.deepEqual(paymentsOf(sale), [
    ['DEPOSIT', 25_000, 'DEP-000001'],
    ['DEPOSIT', 5_000, 'DEP-000002'],
  ]);
  assert.deepEqual([sale.status, sale.totals.outstanding.amount], ['PART_PAID', 1_019_500]);
  await refuses(creditInvoice(d.ctx, deposit.id), 'request_refused', /counted/);
});

test('a deposit needs an amount, a customer and a car, and a deal that is still to be invoiced', async () => {
  const d = await dealership();
  await refuses(raiseDepositInvoice(d.ctx, (await orderedDeal(d)).id), 'request_refused', /nothing to invoice/);
  await refuses(raiseDepositInvoice(d.ctx, (await orderedDeal(d, { customer_id: null })).id, { amount: 1 }), 'request_refused', /customer/);
  await refuses(raiseDepositInvoice(d.ctx, (await orderedDeal(d, { vehicle_id: null })).id, { amount: 1 }), 'request_refused', /vehicle/);
  const sold = await orderedDeal(d);
  await raiseSalesInvoice(d.ctx, sold.id);
  await refuses(raiseDepositInvoice(d.ctx, sold.id, { amount: 1 }), 'request_refused', /SOLD/);
  await refuses(raiseDepositInvoice(d.ctx, nobody, { amount: 1 }), 'not_found');
});

test('a part exchange counts as a payment, and what is owed on it is added', async () => {
  const d = await dealership();
  const terms = {
    part_exchanges: [exchange(400_000, 150_000), exchange(100_000, null, 'WITHDRAWN'), exchange(90_000, 120_000, 'RECEIVED')],
  };
  const sale = await raiseSalesInvoice(d.ctx, (await orderedDeal(d, terms)).id);
  assert.deepEqual(paymentsOf(sale), [
    ['PART_EXCHANGE', -30_000, 'PX01OLD'],
    ['PART_EXCHANGE', 250_000, 'PX01OLD'],
  ]);
  assert.deepEqual(amounts(sale), { net: 1_049_500, vat: 0, gross: 1_049_500, paid: 220_000, outstanding: 829_500 });
});

test('finance that was paid out counts as a payment; what is still to come is noted when it comes', async () => {
  const d = await dealership();
  const out = await raiseSalesInvoice(d.ctx, (await orderedDeal(d, { finance: finance(1_049_500, 'PAID_OUT') })).id);
  assert.deepEqual([out.status, paymentsOf(out)], ['PAID', [['FINANCE', 1_049_500, 'HP-1']]]);
  const later = await raiseSalesInvoice(d.ctx, (await orderedDeal(d, { finance: finance(1_049_500, 'ACCEPTED') })).id);
  assert.deepEqual([later.status, later.payments], ['ISSUED', []]);
  const paid = await recordPayment(d.ctx, later.id, { method: 'FINANCE', amount: 1_049_500, reference: 'HP-1' });
  assert.equal(paid.status, 'PAID');
});

test('a car in part exchange may be worth more than the car that is bought: the difference is given back', async () => {
  const d = await dealership();
  const sale = await raiseSalesInvoice(d.ctx, (await orderedDeal(d, { part_exchanges: [exchange(1_149_500)] })).id);
  assert.deepEqual([sale.status, sale.totals.outstanding.amount], ['PART_PAID', -100_000]);
  const settled = await recordPayment(d.ctx, sale.id, { method: 'BANK_TRANSFER', amount: 100_000 });
  assert.deepEqual([settled.status, settled.totals.paid.amount, settled.totals.outstanding.amount], ['PAID', 1_049_500, 0]);
});

test('a deal is invoiced once, and only by who reaches it', async () => {
  const d = await dealership();
  const away = await d.newBranch();
  const deal = await orderedDeal(d);
  const elsewhere = { ...d.ctx, caller: { ...d.ctx.caller, branches: [away.id] } };
  await refuses(raiseSalesInvoice(elsewhere, deal.id), 'not_found');
  await refuses(raiseSalesInvoice(d.ctx, nobody), 'not_found');
  const both = await Promise.allSettled([raiseSalesInvoice(d.ctx, deal.id), raiseSalesInvoice(d.ctx, deal.id)]);
  const refused = both.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason.code] : []));
  assert.deepEqual(refused, ['deal_sold']);
  const listed = await d.api.get(`/v1/invoices?deal_id=${deal.id}`).succeeds();
  assert.deepEqual(
    listed.map(({ number }: Json) => number),
    ['SAL-000001'],
  );
});

test('what an invoice says of customer and car stays as it was when it was raised', async () => {
  const d = await dealership();
  const deal = await orderedDeal(d);
  const { id, bill_to, lines } = await raiseSalesInvoice(d.ctx, deal.id);
  await d.api.patch(`/v1/customers/${deal.customer.id}`, { last_name: 'Elm' }).succeeds();
  await d.api.patch(`/v1/vehicles/${deal.vehicle.id}`, { derivative: 'ST' }).succeeds();
  const read = await d.api.get(`/v1/invoices/${id}`).succeeds();
  assert.deepEqual([read.bill_to, read.lines], [bill_to, lines]);
  assert.equal(read.customer.display_name, 'Kim Elm');
});

test('a sale that is invoiced tells of the deal, with its invoice, then of the car, then of the enquiry; and so does its credit', async () => {
  const d = await dealership();
  const deal = await orderedDeal(d);
  const deposit = await raiseDepositInvoice(d.ctx, deal.id, { amount: 25_000 });
  await recordPayment(d.ctx, deposit.id, { method: 'CARD', amount: 25_000 });
  const sale = await raiseSalesInvoice({ ...d.ctx, requestId: 'raise' }, deal.id);
  const order = ['deal.status_changed', 'vehicle.updated', 'vehicle.status_changed', 'enquiry.updated'];
  const [raised, ...others] = await toldUnder(d, 'raise');
  assert.deepEqual(
    [raised, ...others].map((event) => event?.type),
    order,
  );
  assert.deepEqual([raised?.object.invoice_ids, raised?.object.totals.paid.amount], [[deposit.id, sale.id], 25_000]);

  await recordPayment(d.ctx, sale.id, { method: 'CARD', amount: 100_000 });
  const owed = async () => (await d.api.get(`/v1/deals/${deal.id}`).succeeds()).totals;
  assert.deepEqual([(await owed()).paid.amount, (await owed()).balance_due.amount], [125_000, 924_500]);
  assert.equal((await d.api.get(`/v1/invoices/${sale.id}`).succeeds()).totals.outstanding.amount, 924_500);

  const note = await creditInvoice({ ...d.ctx, requestId: 'credit' }, sale.id, { reason: 'CONDITION' });
  const credited = await toldUnder(d, 'credit');
  assert.deepEqual(
    credited.map(({ type }) => type),
    order,
  );
  const { status, cancellation_reason, invoice_ids } = credited[0]?.object ?? {};
  assert.deepEqual([status, cancellation_reason, invoice_ids.includes(note.id)], ['CANCELLED', 'CONDITION', true]);
  await recordPayment(d.ctx, note.id, { method: 'CARD', amount: 125_000 });
  assert.equal((await owed()).paid.amount, 0, 'all of it was given back');
});
