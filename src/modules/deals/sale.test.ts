import assert from 'node:assert/strict';
import { test } from 'node:test';
import { receivePartExchange as receive } from '#modules/deals/index.ts';
import type { Context } from '#platform/context.ts';
import type { Dealership } from '../../../test/support/dealership.ts';
import { dealership } from '../../../test/support/dealership.ts';
import type { DealStatus } from './contract.ts';
import { dealStatuses } from './contract.ts';
import { cancelByCredit, deleteDeal, deliverDeal, sellDeal } from './index.ts';

const kim = { first_name: 'Kim', last_name: 'Ash', email: 'kim.ash@customer.example' };
const nobody = '00000000-0000-4000-8000-000000000000';

type Json = ReturnType<typeof JSON.parse>;
type Told = { type: string; request: string; data: Json };

/** What is told from here on. */
async function listenTo({ service, id }: Dealership): Promise<() => Promise<Told[]>> {
  const events = async (after: number): Promise<(Told & { sequence: number })[]> => {
    const { rows } = await service.pools.doors.query(
      'select sequence, type, request_id as request, data from event where dealer_id = $1 and sequence > $2 order by sequence',
      [id, after],
    );
    return rows.map((row) => ({ ...row, data: JSON.parse(row.data) }));
  };
  const last = (await events(0)).at(-1)?.sequence ?? 0;
  return () => events(last);
}

/** A deal on a car for sale, of an enquiry, led by the steps before a status. */
async function dealIn(d: Dealership, status: DealStatus) {
  const car = { condition: 'USED', make: 'Ford', model: 'Focus', asking_price: 1_000_000, status: 'FOR_SALE', vat_scheme: 'MARGIN' };
  const vehicle = await d.api.post('/v1/vehicles', car).succeeds(201);
  const enquiry = await d.api.post('/v1/enquiries', { contact: kim }).succeeds(201);
  await d.api.patch(`/v1/enquiries/${enquiry.id}`, { status: 'NEGOTIATING' }).succeeds();
  const body = { vehicle_id: vehicle.id, enquiry_id: enquiry.id, vehicle_price: 995_000 };
  const { id } = await d.api.post('/v1/deals', body).succeeds(201);
  const path = `/v1/deals/${id}`;
  if (status === 'CANCELLED') await d.api.patch(path, { status, cancellation_reason: 'UNAFFORDABLE' }).succeeds();
  else if (status === 'RESERVED') await d.api.patch(path, { status }).succeeds();
  else if (status !== 'QUOTE') {
    await d.api.patch(path, { status: 'ORDERED' }).succeeds();
    if (status !== 'ORDERED') await sellDeal(d.ctx, id);
    if (status === 'DELIVERED') await deliverDeal(d.ctx, id);
  }
  return { id, path, vehicle, enquiry };
}

/** What is there to be seen of a deal, its car and its enquiry. */
async function seen({ api }: Dealership, { path, vehicle, enquiry }: Awaited<ReturnType<typeof dealIn>>) {
  const { status: car, deal_id: heldBy } = await api.get(`/v1/vehicles/${vehicle.id}`).succeeds();
  const { status: lead, lost_reason: reason } = await api.get(`/v1/enquiries/${enquiry.id}`).succeeds();
  return { deal: (await api.get(path).succeeds()).status as DealStatus, car, held: heldBy !== null, lead, reason };
}

const steps = ['QUOTE', 'RESERVED', 'ORDERED', 'SOLD', 'DELIVERED', 'CANCELLED', 'sell', 'deliver', 'credit', 'delete'] as const;
type Step = (typeof steps)[number];

/** Takes a step through the API or as staff do, and says how it was refused. */
async function take(
  d: Dealership,
  step: Step,
  { id, path }: { id: string; path: string },
): Promise<{ refused: string | null; request: string }> {
  if (dealStatuses.some((status) => status === step)) {
    const body = { status: step, ...(step === 'CANCELLED' && { cancellation_reason: 'CONDITION' }) };
    const answer = await d.api.patch(path, body);
    return { refused: answer.status === 200 ? null : answer.body.code, request: answer.headers['x-request-id']! };
  }
  const commands: Record<string, (ctx: Context) => Promise<unknown>> = {
    sell: (ctx) => sellDeal(ctx, id),
    deliver: (ctx) => deliverDeal(ctx, id),
    credit: (ctx) => cancelByCredit(ctx, id, 'CONDITION'),
    delete: (ctx) => deleteDeal(ctx, id),
  };
  const request = `${step} ${id}`;
  const refused = await commands[step]!({ ...d.ctx, requestId: request }).then(
    () => null,
    ({ code }: { code: string }) => code,
  );
  return { refused, request };
}

const held = { car: 'RESERVED', held: true, lead: 'NEGOTIATING', reason: null };
const free = { car: 'FOR_SALE', held: false, lead: 'NEGOTIATING', reason: null };
const gone = { car: 'FOR_SALE', held: false, lead: 'LOST' };

/** What is there to be seen in each status. */
const states: Record<DealStatus, object> = {
  QUOTE: free,
  RESERVED: held,
  ORDERED: held,
  SOLD: { ...held, car: 'SOLD', lead: 'WON' },
  DELIVERED: { ...held, car: 'DELIVERED', lead: 'WON' },
  CANCELLED: { ...gone, reason: 'UNAFFORDABLE' },
};

const unchanged: string[] = [];
const deal = 'deal.status_changed';
const vehicle = ['vehicle.updated', 'vehicle.status_changed'];
const enquiry = 'enquiry.updated';
const returned = { car: 'IN_PREPARATION', held: false, lead: 'LOST', reason: 'CONDITION' };
const lost = { ...gone, reason: 'CONDITION' };

/** Where each step leads from each status, with the events in their order: what is seen then, or the code of the refusal. */
const moves: Record<DealStatus, Partial<Record<Step, [DealStatus, string[], object?]>> & { others: Partial<Record<Step, string>> }> = {
  QUOTE: {
    QUOTE: ['QUOTE', unchanged],
    RESERVED: ['RESERVED', [deal, ...vehicle]],
    ORDERED: ['ORDERED', [deal, ...vehicle]],
    CANCELLED: ['CANCELLED', [deal, enquiry], lost],
    others: { sell: 'request_refused', deliver: 'request_refused', credit: 'request_refused' },
  },
  RESERVED: {
    QUOTE: ['QUOTE', [deal, ...vehicle]],
    RESERVED: ['RESERVED', unchanged],
    ORDERED: ['ORDERED', [deal]],
    CANCELLED: ['CANCELLED', [deal, ...vehicle, enquiry], lost],
    others: { sell: 'request_refused', deliver: 'request_refused', credit: 'request_refused', delete: 'request_refused' },
  },
  ORDERED: {
    QUOTE: ['QUOTE', [deal, ...vehicle]],
    RESERVED: ['RESERVED', [deal]],
    ORDERED: ['ORDERED', unchanged],
    CANCELLED: ['CANCELLED', [deal, ...vehicle, enquiry], lost],
    sell: ['SOLD', [deal, ...vehicle, enquiry]],
    others: { deliver: 'request_refused', credit: 'request_refused', delete: 'request_refused' },
  },
  SOLD: {
    deliver: ['DELIVERED', [deal, ...vehicle]],
    credit: ['CANCELLED', [deal, ...vehicle, enquiry], returned],
    others: {
      QUOTE: 'deal_sold',
      RESERVED: 'deal_sold',
      ORDERED: 'deal_sold',
      CANCELLED: 'deal_sold',
      sell: 'deal_sold',
      delete: 'deal_sold',
    },
  },
  DELIVERED: {
    deliver: ['DELIVERED', unchanged],
    credit: ['CANCELLED', [deal, ...vehicle, enquiry], returned],
    others: {
      QUOTE: 'deal_sold',
      RESERVED: 'deal_sold',
      ORDERED: 'deal_sold',
      CANCELLED: 'deal_sold',
      sell: 'deal_sold',
      delete: 'deal_sold',
    },
  },
  CANCELLED: {
    others: {
      ...{ QUOTE: 'deal_closed', RESERVED: 'deal_closed', ORDERED: 'deal_closed', CANCELLED: 'deal_closed' },
      ...{ sell: 'deal_closed', deliver: 'deal_closed', credit: 'deal_closed' },
    },
  },
};

test('every move of a deal, with what it makes of vehicle and enquiry, told in order under one request', async () => {
  const d = await dealership();
  for (const from of dealStatuses) {
    for (const step of steps) {
      const of = await dealIn(d, from);
      const name = `${from} by ${step}`;
      assert.deepEqual(await seen(d, of), { deal: from, ...states[from] }, from);
      const heard = await listenTo(d);
      const { refused, request } = await take(d, step, of);
      const told = await heard();
      assert.deepEqual([...new Set(told.map((event) => event.request))], told.length > 0 ? [request] : [], name);
      if (step === 'delete' && refused === null) {
        assert.ok(from === 'QUOTE' || from === 'CANCELLED', name);
        assert.deepEqual(told, [], 'a tombstone, and no event');
        await d.api.get(of.path).refuses(404, 'not_found');
        continue;
      }
      const move = moves[from][step];
      if (!move) {
        assert.equal(refused, moves[from].others[step] ?? 'validation_failed', name);
        assert.deepEqual(told, [], name);
        assert.deepEqual(await seen(d, of), { deal: from, ...states[from] }, name);
        continue;
      }
      const [to, events, end = states[to]] = move;
      assert.equal(refused, null, name);
      assert.deepEqual(await seen(d, of), { deal: to, ...end }, name);
      assert.deepEqual(
        told.map(({ type }) => type),
        events,
        name,
      );
      for (const { type, data } of told) {
        if (type === deal) assert.deepEqual([data.previous_status, data.object.status, data.object.id], [from, to, of.id], name);
        else if (type === enquiry) assert.equal(data.object.id, of.enquiry.id);
        else assert.equal(data.object.id, of.vehicle.id);
      }
    }
  }
});

test('a deal remembers when it was ordered, sold and delivered, and what was agreed of VAT', async () => {
  const d = await dealership();
  const of = await dealIn(d, 'QUOTE');
  const at = async (hour: string, step: Step) => {
    d.clock.set(`2099-01-01T${hour}:00:00Z`);
    assert.equal((await take(d, step, of)).refused, null);
    const now = await d.api.get(of.path).succeeds();
    assert.equal(now.status_changed_at, `2099-01-01T${hour}:00:00Z`);
    return [now.ordered_at, now.sold_at, now.delivered_at, now.cancelled_at]
      .map((time) => time?.slice(11, 13) ?? null)
      .concat(now.vat_scheme);
  };
  assert.deepEqual(await at('10', 'ORDERED'), ['10', null, null, null, 'MARGIN']);
  assert.deepEqual(await at('11', 'RESERVED'), [null, null, null, null, null]);
  await d.api.patch(`/v1/vehicles/${of.vehicle.id}`, { vat_scheme: 'VAT_QUALIFYING' }).succeeds();
  assert.deepEqual(await at('12', 'ORDERED'), ['12', null, null, null, 'VAT_QUALIFYING']);
  await d.api.patch(`/v1/vehicles/${of.vehicle.id}`, { vat_scheme: 'NO_VAT' }).succeeds();
  assert.deepEqual(await at('13', 'sell'), ['12', '13', null, null, 'VAT_QUALIFYING']);
  assert.equal((await d.api.get(of.path).succeeds()).totals.vat.amount, 165_833);
  assert.deepEqual(await at('14', 'deliver'), ['12', '13', '14', null, 'VAT_QUALIFYING']);
  assert.equal((await d.api.get(of.path).succeeds()).handover.completed_at, '2099-01-01T14:00:00Z');
  assert.deepEqual(await at('15', 'credit'), ['12', '13', '14', '15', 'VAT_QUALIFYING']);
  d.clock.release();
});

test('a sold deal says what its invoice is made of', async () => {
  const d = await dealership();
  const of = await dealIn(d, 'QUOTE');
  const terms = {
    discount: 5_000,
    extras: [{ kind: 'WARRANTY', unit_price: 39_900 }],
    part_exchanges: [
      { make: 'Ford', allowance: 1, status: 'AGREED' },
      { make: 'Opel', status: 'WITHDRAWN' },
    ],
    deposit: { required: 10_000 },
    finance: { type: 'HP', advance: 500_000 },
    status: 'ORDERED',
  };
  const { extras, part_exchanges } = await d.api.patch(of.path, terms).succeeds();
  const { extras: lines, part_exchanges: exchanges, finance, ...sold } = await sellDeal(d.ctx, of.id);
  assert.deepEqual(sold, {
    id: of.id,
    branch_id: d.branch.id,
    customer_id: of.enquiry.customer_id,
    vehicle_id: of.vehicle.id,
    vehicle_price: 995_000,
    discount: 5_000,
    vat_scheme: 'MARGIN',
    deposit_required: 10_000,
  });
  assert.deepEqual(
    lines.map(({ id, kind, quantity, unit_price, vat_code }) => [id, kind, quantity, unit_price, vat_code]),
    [[extras[0].id, 'WARRANTY', 1, 39_900, 'STANDARD']],
  );
  assert.deepEqual(
    exchanges.map(({ id, allowance }) => [id, allowance]),
    [[part_exchanges[0].id, 1]],
  );
  assert.equal(finance?.advance, 500_000);
  const unpriced = await dealIn(d, 'ORDERED');
  await d.api.patch(unpriced.path, { vehicle_price: null }).succeeds();
  await assert.rejects(sellDeal(d.ctx, unpriced.id), { code: 'request_refused' });
});

test('a car in part exchange is received once, into stock, and the enquiry that offered it is told', async () => {
  const d = await dealership();
  const of = await dealIn(d, 'ORDERED');
  await assert.rejects(receive(d.ctx, of.id, nobody), { code: 'not_found' });
  await d.api.patch(`/v1/enquiries/${of.enquiry.id}`, { part_exchange: { registration: 'PX12 OLD' } }).succeeds();
  const offered = [
    { registration: 'px12old', make: 'Opel', model: 'Astra', mileage: 64_000, allowance: 300_000, settlement: 50_000, status: 'AGREED' },
    { registration: 'PX13OLD', make: 'Opel', status: 'AGREED' },
    { make: 'Opel', model: 'Corsa', status: 'WITHDRAWN' },
  ];
  const { part_exchanges: exchanges } = await d.api.patch(of.path, { part_exchanges: offered }).succeeds();
  const heard = await listenTo(d);
  await assert.rejects(receive(d.ctx, of.id, exchanges[0].id, { mileage: -1 }), { code: 'validation_failed' });
  const received = await receive({ ...d.ctx, requestId: 'received' }, of.id, exchanges[0].id);
  const [exchange] = received.part_exchanges;
  const vehicle = await d.api.get(`/v1/vehicles/${exchange?.stock_vehicle_id}`).succeeds();
  assert.deepEqual(
    [vehicle.registration, vehicle.make, vehicle.model, vehicle.mileage, vehicle.condition, vehicle.status, vehicle.branch_id],
    ['PX12OLD', 'Opel', 'Astra', 64_000, 'USED', 'IN_PREPARATION', d.branch.id],
  );
  const { purchase_price, purchase_source, supplier_name, purchased_on } = vehicle.costs;
  assert.deepEqual([purchase_price.amount, purchase_source, supplier_name], [300_000, 'PART_EXCHANGE', 'Kim Ash']);
  assert.equal(purchased_on, vehicle.stocked_on);
  assert.deepEqual([exchange?.status, received.updated_at], ['RECEIVED', vehicle.created_at]);
  const told = await heard();
  assert.deepEqual(
    told.map(({ type, request }) => [type, request]),
    [
      ['vehicle.created', 'received'],
      ['enquiry.updated', 'received'],
    ],
  );
  assert.equal(told[1]?.data.object.part_exchange.vehicle_id, vehicle.id);

  await assert.rejects(receive(d.ctx, of.id, exchanges[0].id), { code: 'request_refused' });
  await assert.rejects(receive(d.ctx, of.id, exchanges[2].id), { code: 'request_refused' });
  await assert.rejects(receive(d.ctx, of.id, exchanges[1].id), { code: 'vehicle_not_created' });
  const kept = [{ id: exchanges[0].id }];
  assert.deepEqual((await d.api.patch(of.path, { part_exchanges: kept }).succeeds()).part_exchanges, [exchange]);
  for (const part_exchanges of [[], null, [{ ...kept[0], allowance: 1 }]]) {
    const { errors } = await d.api.patch(of.path, { part_exchanges }).refuses(422, 'validation_failed');
    assert.deepEqual(Object.keys(errors), ['part_exchanges']);
  }
  await d.api.patch(of.path, { status: 'CANCELLED', cancellation_reason: 'CONDITION' }).succeeds();
  await d.api.delete(`/v1/enquiries/${of.enquiry.id}`).refuses(409, 'enquiry_has_part_exchange');
});

test('staff at a counter without the right to see costs receive a part exchange as well', async () => {
  const d = await dealership();
  const of = await dealIn(d, 'ORDERED');
  const offer = [{ make: 'Opel', model: 'Astra', allowance: 300_000 }];
  const { part_exchanges: exchanges } = await d.api.patch(of.path, { part_exchanges: offer }).succeeds();
  const scopes = d.ctx.caller.scopes.filter((scope) => scope !== 'vehicles:costs');
  const clerk = { ...d.ctx, caller: { ...d.ctx.caller, scopes, granted: scopes, branches: [d.branch.id] } };
  const { part_exchanges: now } = await receive(clerk, of.id, exchanges[0].id);
  const { costs } = await d.api.get(`/v1/vehicles/${now[0]?.stock_vehicle_id}`).succeeds();
  assert.equal(costs.purchase_price.amount, 300_000);
});

test('an enquiry with another deal is not lost with one of them, and a second sale wins it again', async () => {
  const d = await dealership();
  const first = await dealIn(d, 'SOLD');
  const car = await d.api.post('/v1/vehicles', { condition: 'USED', make: 'Ford', model: 'Puma' }).succeeds(201);
  const body = { vehicle_id: car.id, enquiry_id: first.enquiry.id, vehicle_price: 1 };
  const second = await d.api.post('/v1/deals', body).succeeds(201);
  const lead = async () => (await d.api.get(`/v1/enquiries/${first.enquiry.id}`).succeeds()).status;
  await cancelByCredit(d.ctx, first.id);
  assert.equal(await lead(), 'NEGOTIATING', 'there is a quote, and no sale');
  await d.api.patch(`/v1/deals/${second.id}`, { status: 'CANCELLED', cancellation_reason: 'CONDITION' }).succeeds();
  assert.equal(await lead(), 'LOST');
  const third = await d.api.post('/v1/deals', { ...body, status: 'ORDERED' }).succeeds(201);
  await sellDeal(d.ctx, third.id);
  const { status, lost_reason, lost_note } = await d.api.get(`/v1/enquiries/${first.enquiry.id}`).succeeds();
  assert.deepEqual([status, lost_reason, lost_note], ['WON', null, null]);
});

test('a deal whose enquiry was deleted is cancelled and sold without it', async () => {
  const d = await dealership();
  const of = await dealIn(d, 'ORDERED');
  await d.api.delete(`/v1/enquiries/${of.enquiry.id}`).succeeds();
  await sellDeal(d.ctx, of.id);
  await cancelByCredit(d.ctx, of.id);
  const { status, cancellation_reason } = await d.api.get(of.path).succeeds();
  assert.deepEqual([status, cancellation_reason], ['CANCELLED', null]);
});

test('a deleted deal is a tombstone in the list, and its external id is free', async () => {
  const d = await dealership();
  const of = await dealIn(d, 'QUOTE');
  await d.api.patch(of.path, { external_id: 'x' }).succeeds();
  const tombstone = await deleteDeal(d.ctx, of.id);
  assert.deepEqual(await d.api.get('/v1/deals?include_deleted=true&status=SOLD').succeeds(), [tombstone]);
  assert.deepEqual(await d.api.get('/v1/deals').succeeds(), []);
  await d.api.post('/v1/deals', { external_id: 'x' }).succeeds(201);
  await assert.rejects(deleteDeal(d.ctx, of.id), { code: 'not_found' });
  const { rows } = await d.service.pools.doors.query('select action from activity where record_id = $1 order by at', [of.id]);
  assert.deepEqual(
    rows.map(({ action }) => action),
    ['created', 'updated', 'deleted'],
  );
});
