import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deliverDeal, receivePartExchange } from '#modules/deals/index.ts';
import { raiseDepositInvoice, raiseSalesInvoice, raiseWorkshopInvoice, recordPayment } from '#modules/invoices/index.ts';
import { addJobLines } from '#modules/job-cards/index.ts';
import { createPart, partStock, receiveParts } from '#modules/parts/index.ts';
import { dealership } from '../support/dealership.ts';

const person = { first_name: 'Kim', last_name: 'Ash', email: 'kim.ash@customer.example', mobile: '07700 900123' };

test('a car is asked for, seen, ordered against a part exchange, sold, delivered and serviced, and the event log tells it in the order of commits', async () => {
  const dealer = await dealership();
  const { api, ctx, branch, owner, service } = dealer;
  const settled = async (id: string) => {
    const { totals } = await api.get(`/v1/invoices/${id}`).succeeds();
    await recordPayment(ctx, id, { method: 'BANK_TRANSFER', amount: totals.outstanding.amount, reference: null });
    return api.get(`/v1/invoices/${id}`).succeeds();
  };

  // A car for sale, and somebody who asks for it and offers an old one.
  const car = { condition: 'USED', make: 'Ford', model: 'Focus', registration: 'AB12CDE', status: 'FOR_SALE', asking_price: 1_299_500 };
  const vehicle = await api.post('/v1/vehicles', { ...car, vat_scheme: 'MARGIN', costs: { purchase_price: 900_000 } }).succeeds(201);
  const old = { registration: 'XY12ZZZ', make: 'Ford', model: 'Ka', mileage: 64_000 };
  const enquiry = await api.post('/v1/enquiries', { contact: person, vehicle_id: vehicle.id, part_exchange: old }).succeeds(201);

  // They come to see it.
  const visit = { type: 'VIEWING', starts_at: '2026-06-06T09:00:00Z', enquiry_id: enquiry.id, customer_id: enquiry.customer_id };
  const appointment = await api.post('/v1/appointments', { ...visit, vehicle_id: vehicle.id, assigned_to_id: owner.id }).succeeds(201);
  for (const status of ['ARRIVED', 'COMPLETED']) await api.patch(`/v1/appointments/${appointment.id}`, { status }).succeeds();

  // They order it: the old car in part exchange, a deposit on the table.
  const quote = {
    enquiry_id: enquiry.id,
    vehicle_id: vehicle.id,
    vehicle_price: 1_249_500,
    extras: [{ kind: 'WARRANTY', description: '12 months', unit_price: 39_900 }],
    part_exchanges: [{ ...old, allowance: 200_000, settlement: 50_000 }],
    deposit: { required: 50_000 },
  };
  const deal = await api.post('/v1/deals', quote).succeeds(201);
  await api.patch(`/v1/deals/${deal.id}`, { status: 'RESERVED' }).succeeds();
  assert.equal((await api.get(`/v1/vehicles/${vehicle.id}`).succeeds()).status, 'RESERVED');
  await settled((await raiseDepositInvoice(ctx, deal.id)).id);
  const ordered = await api.patch(`/v1/deals/${deal.id}`, { status: 'ORDERED' }).succeeds();
  const { total, part_exchange_net, balance_due } = ordered.totals;
  assert.deepEqual([total.amount, part_exchange_net.amount, balance_due.amount], [1_289_400, 150_000, 1_089_400]);

  // The office invoices it, takes the old car in, and hands the new one over.
  const sale = await raiseSalesInvoice(ctx, deal.id);
  assert.equal((await settled(sale.id)).status, 'PAID');
  await receivePartExchange(ctx, deal.id, deal.part_exchanges[0].id);
  await deliverDeal(ctx, deal.id);
  const [won, sold, delivered] = await Promise.all(
    [`/v1/enquiries/${enquiry.id}`, `/v1/vehicles/${vehicle.id}`, `/v1/deals/${deal.id}`].map((path) => api.get(path).succeeds()),
  );
  assert.deepEqual([won.status, won.deal_id, won.appointment_ids], ['WON', deal.id, [appointment.id]]);
  assert.deepEqual(
    [sold.status, sold.deal_id, delivered.status, delivered.totals.balance_due.amount],
    ['DELIVERED', deal.id, 'DELIVERED', 0],
  );
  const [taken] = await api.get('/v1/vehicles?registration=XY12ZZZ').succeeds();
  assert.deepEqual(
    [taken.status, taken.costs.purchase_price.amount, taken.costs.purchase_source],
    ['IN_PREPARATION', 200_000, 'PART_EXCHANGE'],
  );

  // A year later it comes back for its service.
  const filter = await createPart(ctx, { part_number: 'OF-1', description: 'Oil filter', unit_price: 1_150, unit_cost: 520 });
  await receiveParts(ctx, { branch_id: branch.id, note: 'Delivery', lines: [{ part_id: filter.id, quantity: 2 }] });
  const bought = { registration: car.registration, make: car.make, model: car.model };
  const card = await api
    .post('/v1/job-cards', { customer_id: enquiry.customer_id, customer_vehicle: bought, concern: 'Service', status: 'BOOKED' })
    .succeeds(201);
  await addJobLines(ctx, card.id, [
    { kind: 'LABOUR', description: 'Service', hours: 1.5, unit_price: 8_500, authorised: true },
    { kind: 'PART', part_number: 'OF-1', quantity: 1, authorised: true },
  ]);
  for (const status of ['IN_PROGRESS', 'COMPLETED']) await api.patch(`/v1/job-cards/${card.id}`, { status }).succeeds();
  const [shelf] = (await partStock(ctx, filter.id)).filter(({ branch_id }) => branch_id === branch.id);
  assert.deepEqual([shelf?.on_hand, shelf?.reserved], [1, 0]);
  const bill = await settled((await raiseWorkshopInvoice(ctx, card.id)).id);
  assert.deepEqual([bill.status, bill.totals.net.amount, bill.totals.gross.amount], ['PAID', 13_900, 16_680]);
  const closed = await api.get(`/v1/job-cards/${card.id}`).succeeds();
  assert.deepEqual([closed.status, closed.is_paid, closed.invoice_id], ['INVOICED', true, bill.id]);
  await api.patch(`/v1/job-cards/${card.id}`, { status: 'IN_PROGRESS' }).refuses(409, 'job_card_paid');

  const { rows } = await service.pools.doors.query(
    'select type, resource_id, request_id, sequence, created_at from event where dealer_id = $1 order by created_at, sequence',
    [dealer.id],
  );
  assert.deepEqual(
    rows.map(({ sequence }) => sequence),
    rows.map((_, at) => at + 1),
    'the order of times is the order of commits, without a gap',
  );
  const names = new Map([
    [vehicle.id, 'car'],
    [enquiry.id, 'enquiry'],
    [enquiry.customer_id, 'customer'],
    [appointment.id, 'appointment'],
    [deal.id, 'deal'],
    [taken.id, 'old car'],
    [card.id, 'job card'],
  ]);
  assert.deepEqual(
    rows.map(({ type, resource_id }) => `${names.get(resource_id)}: ${type}`),
    [
      'car: vehicle.created',
      'enquiry: enquiry.created',
      'customer: customer.created',
      'appointment: appointment.created',
      'appointment: appointment.updated',
      'appointment: appointment.updated',
      'deal: deal.created',
      'deal: deal.status_changed',
      'car: vehicle.updated',
      'car: vehicle.status_changed',
      'deal: deal.status_changed',
      'deal: deal.status_changed',
      'car: vehicle.updated',
      'car: vehicle.status_changed',
      'enquiry: enquiry.updated',
      'old car: vehicle.created',
      'enquiry: enquiry.updated',
      'deal: deal.status_changed',
      'car: vehicle.updated',
      'car: vehicle.status_changed',
      'job card: job_card.created',
      'job card: job_card.updated',
      'job card: job_card.updated',
      'job card: job_card.updated',
      'job card: job_card.updated',
      'job card: job_card.updated',
    ],
  );
});
