import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Dealership } from '../../../test/support/dealership.ts';
import { dealership } from '../../../test/support/dealership.ts';
import { cardWith, invoiceFor, lineOf, partWith, setInvoice, shelf } from '../../../test/support/workshop.ts';
import type { NewJobLine } from './contract.ts';
import {
  addJobLines,
  changeJobLine,
  collectVehicle,
  createJobCard,
  deleteJobCard,
  invoiceChanged,
  markInvoiced,
  updateJobCard,
} from './index.ts';

type Json = ReturnType<typeof JSON.parse>;

const eventsOf = async ({ service, id }: Dealership): Promise<{ type: string; data: Json }[]> => {
  const { rows } = await service.pools.doors.query('select type, data from event where dealer_id = $1 order by sequence', [id]);
  return rows.map(({ type, data }) => ({ type, data: JSON.parse(data) }));
};

// ---- What invoices ask for ----

test('an invoice that is raised, paid and credited is told as a change of its job card', async () => {
  const dealer = await dealership();
  const { ctx } = dealer;
  const part = await partWith(dealer, 2);
  const card = await cardWith(dealer, [lineOf(part)], { status: 'BOOKED' });
  const invoiceId = await invoiceFor(dealer, card.id, 'ISSUED');
  const invoiced = await markInvoiced(ctx, card.id);
  assert.deepEqual(
    [invoiced.status, invoiced.invoice_id, invoiced.invoice_status, invoiced.is_paid],
    ['INVOICED', invoiceId, 'ISSUED', false],
  );
  assert.deepEqual([invoiced.completed_at, await shelf(dealer, part)], [invoiced.updated_at, '1/0'], 'what was put by is issued');
  await setInvoice(dealer, invoiceId, 'PAID', 1200);
  assert.equal((await invoiceChanged(ctx, card.id)).is_paid, true);
  await setInvoice(dealer, invoiceId, 'CREDITED', 1200);
  const credited = await invoiceChanged(ctx, card.id);
  assert.deepEqual([credited.status, credited.invoice_status, credited.is_paid], ['INVOICED', 'CREDITED', false]);
  assert.equal(await shelf(dealer, part), '1/0', 'a credit moves no parts; the next status does');

  const told = (await eventsOf(dealer)).filter(({ type }) => type === 'job_card.updated').slice(1);
  assert.deepEqual(
    told.map(({ data }) => [data.object.invoice_status, data.object.is_paid, data.changed.toSorted()]),
    [
      ['ISSUED', false, ['completed_at', 'invoice_id', 'invoice_status', 'lines', 'status']],
      ['PAID', true, ['invoice_status', 'is_paid']],
      ['CREDITED', false, ['invoice_status', 'is_paid']],
    ],
  );
});

test('what is credited without having been paid was not paid before either', async () => {
  const dealer = await dealership();
  const card = await cardWith(dealer);
  await setInvoice(dealer, await invoiceFor(dealer, card.id, 'ISSUED', 100), 'CREDITED', 100);
  await invoiceChanged(dealer.ctx, card.id);
  assert.deepEqual((await eventsOf(dealer)).at(-1)?.data.changed, ['invoice_status']);
});

test('the invoice of a card is the one that stands; void ones and credit notes are none', async () => {
  const dealer = await dealership();
  const card = await cardWith(dealer);
  const seen = async () => (await dealer.api.get(`/v1/job-cards/${card.id}`).succeeds()).invoice_status;
  await invoiceFor(dealer, card.id, 'VOID');
  assert.equal(await seen(), null);
  await invoiceFor(dealer, card.id, 'ISSUED');
  await invoiceFor(dealer, card.id, 'CREDITED');
  await invoiceFor(dealer, card.id, 'DRAFT');
  assert.equal(await seen(), 'ISSUED');
});

test('an invoice waits for parts that are not there, and is not raised for work that was called off', async () => {
  const dealer = await dealership();
  const part = await partWith(dealer, 0);
  const card = await cardWith(dealer, [lineOf(part)]);
  await assert.rejects(markInvoiced(dealer.ctx, card.id), { code: 'request_refused' });
  await updateJobCard(dealer.ctx, card.id, { status: 'CANCELLED' });
  await assert.rejects(markInvoiced(dealer.ctx, card.id), { code: 'request_refused' });
});

// ---- The rest of what the DMS does ----

test('a car is collected once the work is completed, once', async () => {
  const dealer = await dealership();
  const { ctx, clock } = dealer;
  const card = await cardWith(dealer);
  await assert.rejects(collectVehicle(ctx, card.id), { code: 'request_refused' });
  await updateJobCard(ctx, card.id, { status: 'COMPLETED' });
  clock.set('2099-01-01T17:00:00Z');
  const collected = await collectVehicle(ctx, card.id);
  assert.equal(collected.collected_at, '2099-01-01T17:00:00Z');
  clock.move({ hours: 1 });
  assert.deepEqual(await collectVehicle(ctx, card.id), collected);
  assert.deepEqual((await eventsOf(dealer)).at(-1)?.data.changed, ['collected_at']);
  assert.equal((await updateJobCard(ctx, card.id, { status: 'IN_PROGRESS' })).collected_at, null, 'it is back');
  clock.release();
});

test('a card that was never billed is deleted in the DMS: a tombstone, no event, and what was put by is put back', async () => {
  const dealer = await dealership();
  const { api, ctx } = dealer;
  const part = await partWith(dealer, 2);
  const card = await cardWith(dealer, [lineOf(part, 2)], { status: 'BOOKED' });
  const before = await eventsOf(dealer);
  const tombstone = await deleteJobCard(ctx, card.id);
  assert.deepEqual(Object.keys(tombstone).sort(), ['deleted', 'deleted_at', 'id']);
  await api.get(`/v1/job-cards/${card.id}`).refuses(404, 'not_found');
  await api.patch(`/v1/job-cards/${card.id}`, { concern: 'x' }).refuses(404, 'not_found');
  await assert.rejects(deleteJobCard(ctx, card.id), { code: 'not_found' });
  assert.deepEqual(await api.get('/v1/job-cards').succeeds(), []);
  assert.deepEqual(await api.get('/v1/job-cards?include_deleted=true&status=CANCELLED').succeeds(), [tombstone]);
  assert.equal(await shelf(dealer, part), '2/0');
  assert.deepEqual(await eventsOf(dealer), before);
  const { rows } = await dealer.service.pools.doors.query('select action from activity where record_id = $1 order by at', [card.id]);
  assert.equal(rows.at(-1).action, 'deleted');
});

test('a card with an invoice, credited or not, or with issued parts is not deleted', async () => {
  const dealer = await dealership();
  const { ctx } = dealer;
  for (const status of ['DRAFT', 'ISSUED', 'PAID', 'CREDITED']) {
    const card = await cardWith(dealer);
    await invoiceFor(dealer, card.id, status);
    await assert.rejects(deleteJobCard(ctx, card.id), { code: 'request_refused' }, status);
  }
  const part = await partWith(dealer, 1);
  const fitted = await cardWith(dealer, [lineOf(part)]);
  await updateJobCard(ctx, fitted.id, { status: 'COMPLETED' });
  await assert.rejects(deleteJobCard(ctx, fitted.id), { code: 'request_refused' });
  await updateJobCard(ctx, fitted.id, { status: 'CANCELLED' });
  await deleteJobCard(ctx, fitted.id);
  const voided = await cardWith(dealer);
  await invoiceFor(dealer, voided.id, 'VOID');
  await deleteJobCard(ctx, voided.id);
});

// ---- The preparation of stock ----

test('the finished internal cards of a vehicle of the stock are what its preparation has cost', async () => {
  const dealer = await dealership();
  const { api, ctx } = dealer;
  const vehicle = await api
    .post('/v1/vehicles', { condition: 'USED', make: 'Ford', model: 'Focus', costs: { purchase_price: 500_000 } })
    .succeeds(201);
  const costs = async () => {
    const { preparation, stand_in_value } = (await api.get(`/v1/vehicles/${vehicle.id}`).succeeds()).costs;
    return [preparation?.amount ?? null, stand_in_value.amount];
  };
  const work: NewJobLine = { kind: 'LABOUR', description: 'Valet', unit_price: 8_000, pay_type: 'INTERNAL', authorised: true };
  const open = async (type: string) => {
    const { id } = await createJobCard(ctx, { type, vehicle_id: vehicle.id });
    await addJobLines(ctx, id, [work, { ...work, authorised: false }]);
    return id;
  };
  const [first, second, retail] = [await open('INTERNAL'), await open('INTERNAL'), await open('RETAIL')];
  assert.deepEqual(await costs(), [null, 500_000]);
  await api.patch(`/v1/job-cards/${retail}`, { status: 'COMPLETED' }).succeeds();
  assert.deepEqual(await costs(), [null, 500_000], 'a customer pays for it');
  const { headers } = await api.patch(`/v1/job-cards/${first}`, { status: 'COMPLETED' });
  assert.deepEqual(await costs(), [8_000, 508_000]);

  const { rows } = await dealer.service.pools.doors.query(
    'select type, data from event where dealer_id = $1 and request_id = $2 order by sequence',
    [dealer.id, headers['x-request-id']],
  );
  assert.deepEqual(
    rows.map(({ type }) => type),
    ['job_card.updated', 'vehicle.updated'],
  );
  assert.deepEqual([JSON.parse(rows[1].data).changed, JSON.parse(rows[1].data).object.costs], [['costs'], null]);

  await updateJobCard(ctx, second, { status: 'COMPLETED' });
  const { lines } = await addJobLines(ctx, second, [{ ...work, discount: 500 }]);
  assert.deepEqual(await costs(), [23_500, 523_500]);
  await changeJobLine(ctx, second, lines[2]!.id, { status: 'DECLINED' });
  assert.deepEqual(await costs(), [16_000, 516_000]);
  await updateJobCard(ctx, first, { status: 'IN_PROGRESS' });
  assert.deepEqual(await costs(), [8_000, 508_000]);
  await deleteJobCard(ctx, second);
  assert.deepEqual(await costs(), [null, 500_000]);
});
