import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arrangeList } from '#modules/reference/index.ts';
import { setUser } from '#modules/staff/index.ts';
import { uuidv7 } from '#platform/secrets.ts';
import type { Dealership } from '../../../test/support/dealership.ts';
import { dealership } from '../../../test/support/dealership.ts';
import { deleteDeal, deliverDeal, sellDeal } from './index.ts';

const nobody = '00000000-0000-4000-8000-000000000000';
const kim = { first_name: 'Kim', last_name: 'Ash', email: 'kim.ash@customer.example' };
const car = { condition: 'USED', make: 'Ford', model: 'Focus', asking_price: 1_200_000, vat_scheme: 'VAT_QUALIFYING', status: 'FOR_SALE' };

type Json = ReturnType<typeof JSON.parse>;
type Api = Dealership['api'];

const gbp = (amount: number) => ({ amount, currency: 'GBP' });
const vehicleOf = async (api: Api, more: object = {}) => await api.post('/v1/vehicles', { ...car, ...more }).succeeds(201);
const enquiryOf = async (api: Api, more: object = {}) => await api.post('/v1/enquiries', { contact: kim, ...more }).succeeds(201);
const dealOf = async (api: Api, body: object = {}) => await api.post('/v1/deals', body).succeeds(201);
/** A deal that holds a car. */
const heldBy = async (api: Api, more: object = {}) =>
  dealOf(api, {
    vehicle_id: (await vehicleOf(api)).id,
    enquiry_id: (await enquiryOf(api)).id,
    status: 'RESERVED',
    vehicle_price: 1,
    ...more,
  });

const eventsOf = async ({ service, id }: Dealership, family = ''): Promise<{ type: string; request: string; data: Json }[]> => {
  const { rows } = await service.pools.doors.query(
    'select type, request_id, data from event where dealer_id = $1 and type like $2 order by sequence',
    [id, `${family}%`],
  );
  return rows.map(({ type, request_id, data }) => ({ type, request: request_id, data: JSON.parse(data) }));
};

test('a deal is created, read and changed', async () => {
  const dealer = await dealership();
  const { api, owner } = dealer;
  const [vehicle, enquiry] = [await vehicleOf(api, { registration: 'AB12CDE' }), await enquiryOf(api)];
  const body = {
    external_id: 'd-1',
    type: 'FLEET',
    enquiry_id: enquiry.id,
    vehicle_id: vehicle.id,
    salesperson_id: owner.id,
    vehicle_price: 1_200_000,
    discount: 60_000,
    extras: [
      { kind: 'WARRANTY', description: '24 months', quantity: 2, unit_price: 6_001 },
      { kind: 'ROAD_TAX', unit_price: 19_500, vat_code: 'OUTSIDE_SCOPE' },
    ],
    part_exchanges: [
      {
        registration: 'xy 12 zzz',
        make: 'Opel',
        mileage: 64_000,
        condition: 'GOOD',
        allowance: 300_000,
        settlement: 350_000,
        stand_in_value: 280_000,
      },
      { make: 'Opel', allowance: 99, status: 'WITHDRAWN' },
    ],
    deposit: { required: 50_000 },
    finance: {
      type: 'PCP',
      provider: 'Example Finance',
      advance: 700_000,
      term_months: 48,
      balloon: 400_000,
      apr_bps: 990,
      status: 'ACCEPTED',
    },
    handover: { method: 'DELIVERY', scheduled_at: '2026-05-02T11:00:00+01:00', address: { line1: '1 Station Road', postcode: 'bs14dj' } },
    metadata: { order: '7' },
  };
  const created = await api.post('/v1/deals', body);
  assert.equal(created.status, 201, JSON.stringify(created.body));
  const deal = created.body.data;
  assert.equal(created.headers.location, `/v1/deals/${deal.id}`);
  assert.deepEqual([deal.reference, deal.status, deal.status_changed_at], ['DEAL-000001', 'QUOTE', deal.created_at]);
  assert.deepEqual(deal.branch, { id: dealer.branch.id, name: dealer.branch.name });
  assert.deepEqual(deal.enquiry, { id: enquiry.id, reference: 'ENQ-000001', status: 'NEW' });
  assert.deepEqual(deal.customer, { id: enquiry.customer_id, reference: 'CUS-000001', display_name: 'Kim Ash' }, 'the enquiry’s');
  assert.deepEqual(deal.vehicle, { id: vehicle.id, stock_number: '1', registration: 'AB12CDE', make: 'Ford', model: 'Focus' });
  assert.deepEqual(deal.salesperson, { id: owner.id, name: 'A Member' });
  const [warranty, roadTax] = deal.extras;
  assert.deepEqual(warranty, {
    id: warranty.id,
    kind: 'WARRANTY',
    description: '24 months',
    quantity: 2,
    unit_price: gbp(6_001),
    vat_code: 'STANDARD',
    total: gbp(12_002),
  });
  assert.deepEqual([roadTax.quantity, roadTax.description, roadTax.total], [1, null, gbp(19_500)]);
  const [exchange, withdrawn] = deal.part_exchanges;
  assert.deepEqual(exchange, {
    id: exchange.id,
    registration: 'XY12ZZZ',
    make: 'Opel',
    model: null,
    mileage: 64_000,
    condition: 'GOOD',
    allowance: gbp(300_000),
    settlement: gbp(350_000),
    net: gbp(-50_000),
    stand_in_value: gbp(280_000),
    stock_vehicle_id: null,
    status: 'OFFERED',
  });
  assert.equal(withdrawn.status, 'WITHDRAWN');
  assert.deepEqual(deal.deposit, { required: gbp(50_000), paid: gbp(0), paid_at: null });
  assert.deepEqual([deal.finance.advance, deal.finance.deposit, deal.finance.apr_bps], [gbp(700_000), null, 990]);
  assert.deepEqual(deal.totals, {
    vehicle: gbp(1_200_000),
    extras: gbp(31_502),
    discount: gbp(60_000),
    part_exchange_net: gbp(-50_000),
    vat: gbp(192_000),
    total: gbp(1_171_502),
    paid: gbp(0),
    finance_advance: gbp(700_000),
    balance_due: gbp(521_502),
  });
  assert.deepEqual([deal.vat_scheme, deal.ordered_at, deal.invoice_ids], [null, null, []]);
  assert.deepEqual([deal.handover.scheduled_at, deal.handover.completed_at], ['2026-05-02T10:00:00Z', null]);
  assert.deepEqual([deal.handover.address.postcode, deal.handover.address.city], ['BS1 4DJ', null]);
  assert.deepEqual(await api.get(`/v1/deals/${deal.id}`).succeeds(), deal);
  assert.deepEqual(await api.get('/v1/deals').succeeds(), [deal]);
  const lead = await api.get(`/v1/enquiries/${enquiry.id}`).succeeds();
  assert.deepEqual([lead.deal_id, lead.deal], [deal.id, { id: deal.id, reference: 'DEAL-000001', status: 'QUOTE' }]);
  const seen = await (await dealer.apiWith({ scopes: ['enquiries:read'] })).get(`/v1/enquiries/${enquiry.id}`).succeeds();
  assert.deepEqual([seen.deal_id, seen.deal], [deal.id, null]);
  assert.equal((await api.get(`/v1/customers/${enquiry.customer_id}`).succeeds()).deal_count, 1);

  const changed = await api
    .patch(`/v1/deals/${deal.id}`, {
      extras: [
        { kind: 'OTHER', unit_price: 1 },
        { id: warranty.id, quantity: 1, description: null },
      ],
      part_exchanges: [{ id: exchange.id, settlement: null, status: 'AGREED' }],
      finance: { advance: null, status: 'DECLINED' },
      handover: { address: { city: 'Bristol' }, scheduled_at: null },
      deposit: null,
      vehicle_price: null,
      discount: null,
      salesperson_id: null,
      metadata: { order: null, more: 'x' },
    })
    .succeeds();
  assert.deepEqual(changed.extras.slice(1), [{ ...warranty, quantity: 1, description: null, total: gbp(6_001) }], 'in the order given');
  assert.deepEqual(changed.part_exchanges, [{ ...exchange, settlement: null, net: gbp(300_000), status: 'AGREED' }]);
  assert.deepEqual([changed.finance.advance, changed.finance.balloon, changed.finance.status], [null, gbp(400_000), 'DECLINED']);
  assert.deepEqual([changed.handover.method, changed.handover.scheduled_at], ['DELIVERY', null]);
  assert.deepEqual([changed.handover.address.city, changed.handover.address.line1], ['Bristol', '1 Station Road']);
  assert.deepEqual([changed.deposit.required, changed.vehicle_price, changed.discount, changed.salesperson], [null, null, null, null]);
  assert.deepEqual([changed.totals.vehicle, changed.totals.total, changed.totals.balance_due], [gbp(0), gbp(6_002), gbp(-293_998)]);
  assert.deepEqual(changed.metadata, { more: 'x' });
  assert.deepEqual(await api.get(`/v1/deals/${deal.id}`).succeeds(), changed);

  const events = await eventsOf(dealer, 'deal.');
  assert.deepEqual(
    events.map(({ type, request }) => [type, request]),
    [['deal.created', created.headers['x-request-id']]],
    'prices have no event',
  );
  const hidden = { branch: null, enquiry: null, customer: null, vehicle: null };
  assert.deepEqual(
    events[0]?.data.object,
    { ...deal, ...hidden, part_exchanges: [exchange, withdrawn].map((one) => ({ ...one, stand_in_value: null })) },
    'the single read with sales:read alone',
  );
  const { rows } = await dealer.service.pools.doors.query('select action, fields from activity where record_id = $1 order by at', [
    deal.id,
  ]);
  assert.deepEqual(
    rows.map(({ action }) => action),
    ['created', 'updated'],
  );
  assert.deepEqual(rows[1].fields.toSorted(), [
    ...['deposit', 'discount', 'extras', 'finance', 'handover', 'metadata', 'part_exchanges', 'salesperson_id', 'vehicle_price'],
  ]);
});

test('only a key with the scope and its owner’s permission reaches deals', async () => {
  const { api, apiWith, newUser, ctx } = await dealership();
  const { id } = await dealOf(api);
  const member = await newUser();
  const [none, reading, writing, ofMember, publishable] = [
    await apiWith({ scopes: ['vehicles:read', 'vehicles:write', 'enquiries:write', 'customers:read'] }),
    await apiWith({ scopes: ['sales:read'] }),
    await apiWith({ scopes: ['sales:write'] }),
    await apiWith({ scopes: ['sales:read', 'sales:write'], ownerId: member.id }),
    await apiWith({ kind: 'publishable' }),
  ];
  await setUser(ctx, member.email, { without: ['SALES_VIEW', 'SALES_EDIT'] });
  const path = `/v1/deals/${id}`;
  for (const [ask, allowed] of [
    [(of: Api) => of.get('/v1/deals'), reading],
    [(of: Api) => of.get(path), reading],
    [(of: Api) => of.post('/v1/deals', {}), writing],
    [(of: Api) => of.patch(path, { discount: null }), writing],
  ] as const) {
    await ask(api.as(null)).refuses(401, 'missing_api_key');
    await ask(none).refuses(403, 'insufficient_scope');
    await ask(allowed === reading ? writing : reading).refuses(403, 'insufficient_scope');
    await ask(ofMember).refuses(403, 'scope_not_permitted_for_owner');
    await ask(publishable).refuses(403, 'secret_key_required');
    assert.ok((await ask(allowed)).status < 300);
  }
  await api.delete(path).refuses(405, 'method_not_allowed');
});

test('a stand-in value is of the costs: written and shown with their scope alone', async () => {
  const { api, apiWith, newUser, ctx } = await dealership();
  const plain = await apiWith({ scopes: ['sales:read', 'sales:write'] });
  const member = await newUser();
  const ofMember = await apiWith({ scopes: ['sales:read', 'sales:write', 'vehicles:costs'], ownerId: member.id });
  await setUser(ctx, member.email, { without: ['STOCK_COSTS'] });
  const part_exchanges = [{ make: 'Opel', allowance: 5, stand_in_value: 4 }];
  const { id } = await dealOf(api, { part_exchanges });
  for (const [of, code] of [
    [plain, 'insufficient_scope'],
    [ofMember, 'scope_not_permitted_for_owner'],
  ] as const) {
    const refusal = await of.post('/v1/deals', { part_exchanges }).refuses(403, code);
    assert.equal(refusal.required.scope, 'vehicles:costs');
    await of.patch(`/v1/deals/${id}`, { part_exchanges }).refuses(403, code);
    const [shown] = (await of.get(`/v1/deals/${id}`).succeeds()).part_exchanges;
    assert.deepEqual([shown.allowance.amount, shown.stand_in_value], [5, null]);
    const [kept] = (await of.patch(`/v1/deals/${id}`, { part_exchanges: [{ id: shown.id, mileage: 7 }] }).succeeds()).part_exchanges;
    assert.deepEqual([kept.mileage, kept.stand_in_value], [7, null]);
  }
  assert.equal((await api.get(`/v1/deals/${id}`).succeeds()).part_exchanges[0].stand_in_value.amount, 4);
});

test('summaries are for keys with the scope of what they sum up; the ids stay', async () => {
  const { api, apiWith } = await dealership();
  const deal = await heldBy(api);
  const seen = await (await apiWith({ scopes: ['sales:read'] })).get(`/v1/deals/${deal.id}`).succeeds();
  for (const what of ['branch', 'enquiry', 'customer', 'vehicle'])
    assert.deepEqual([seen[what], seen[`${what}_id`]], [null, deal[`${what}_id`]]);
});

test('what is wrong with a deal is said by field', async () => {
  const { api } = await dealership();
  const fields = async (body: object) => Object.keys((await api.post('/v1/deals', body).refuses(422, 'validation_failed')).errors).sort();
  const changing = async (id: string, body: object) =>
    Object.keys((await api.patch(`/v1/deals/${id}`, body).refuses(422, 'validation_failed')).errors).sort();
  assert.deepEqual(await fields({ type: 'LOAN', price: 1, vehicle_price: -1, discount: 1.5, salesperson: nobody }), [
    ...['discount', 'price', 'salesperson', 'type', 'vehicle_price'],
  ]);
  assert.deepEqual(
    await fields({ extras: [{ description: 'x' }, { id: nobody, unit_price: -1 }, { kind: 'HAT', unit_price: 1, vat_code: 'MARGIN' }] }),
    [...['extras.0.kind', 'extras.0.unit_price', 'extras.1.unit_price', 'extras.2.kind', 'extras.2.vat_code']],
  );
  assert.deepEqual(await fields({ extras: [{ id: nobody }], part_exchanges: [{ id: nobody }] }), ['extras.0.id', 'part_exchanges.0.id']);
  assert.deepEqual(await fields({ part_exchanges: [{}, { make: 'Opel', status: 'RECEIVED', net: 1 }] }), [
    ...['part_exchanges.0.registration', 'part_exchanges.1.net', 'part_exchanges.1.status'],
  ]);
  assert.deepEqual(await fields({ finance: { apr: 1, type: 'GIFT' }, handover: { method: 'POST' }, deposit: { paid: 1 } }), [
    ...['deposit.paid', 'finance.apr', 'finance.type', 'handover.method'],
  ]);
  assert.deepEqual(await fields({ discount: 1 }), ['discount']);
  assert.deepEqual(await fields({ vehicle_price: 5, discount: 6 }), ['discount']);
  assert.deepEqual(await fields({ enquiry_id: nobody, customer_id: nobody, vehicle_id: nobody, salesperson_id: nobody }), [
    ...['customer_id', 'enquiry_id', 'salesperson_id', 'vehicle_id'],
  ]);
  assert.deepEqual(await fields({ branch_id: nobody }), ['branch_id']);
  assert.deepEqual(await fields({ type: 'X_NEVER', extras: [{ kind: 'X_NEVER', unit_price: 1 }] }), ['extras.0.kind', 'type']);
  for (const status of ['SOLD', 'DELIVERED', 'CANCELLED', 'LOST']) assert.deepEqual(await fields({ status }), ['status']);
  const { id } = await dealOf(api, { vehicle_price: 5 });
  for (const status of ['SOLD', 'DELIVERED', 'LOST']) assert.deepEqual(await changing(id, { status }), ['status']);
  assert.deepEqual(await changing(id, { status: 'CANCELLED' }), ['cancellation_reason']);
  assert.deepEqual(await changing(id, { status: 'CANCELLED', cancellation_reason: 'X_NEVER' }), ['cancellation_reason']);
  assert.deepEqual(await changing(id, { cancellation_note: 'x' }), ['cancellation_note']);
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`a${n}`, 'x']));
  await api.patch(`/v1/deals/${id}`, { metadata: many }).succeeds();
  assert.deepEqual(await changing(id, { metadata: Object.fromEntries(Object.keys(many).map((key) => [`b${key}`, 'x'])) }), ['metadata']);
  const sold = await api.patch(`/v1/deals/${id}`, { status: 'SOLD' });
  assert.match(sold.body.errors.status[0], /set in the DMS/);
});

test('codes of the dealer’s own are taken once they were made; an enquiry is lost for the reason OTHER', async () => {
  const { api, ctx } = await dealership();
  for (const [list, code] of [
    ['deal-types', 'X_LEASE'],
    ['deal-extra-kinds', 'X_TOWBAR'],
    ['deal-cancellation-reasons', 'X_MOVED'],
  ] as const) {
    const codes: { code: string }[] = await api.get(`/v1/reference/${list}`).succeeds();
    await arrangeList(ctx, list, [...codes.map((one) => ({ code: one.code })), { code, name: 'Own' }]);
  }
  const deal = await heldBy(api, { type: 'X_LEASE', extras: [{ kind: 'X_TOWBAR', unit_price: 1 }] });
  assert.deepEqual([deal.type, deal.extras[0].kind], ['X_LEASE', 'X_TOWBAR']);
  assert.equal((await api.get('/v1/deals?type=X_LEASE').succeeds()).length, 1);
  const body = { status: 'CANCELLED', cancellation_reason: 'X_MOVED', cancellation_note: 'To the sea' };
  const cancelled = await api.patch(`/v1/deals/${deal.id}`, body).succeeds();
  assert.deepEqual([cancelled.cancellation_reason, cancelled.cancellation_note], ['X_MOVED', 'To the sea']);
  const { status, lost_reason } = await api.get(`/v1/enquiries/${deal.enquiry_id}`).succeeds();
  assert.deepEqual([status, lost_reason], ['LOST', 'OTHER']);
});

test('what a deal names must be visible to the key, and shown again it is not', async () => {
  const { api, apiWith, branch, newBranch, newUser } = await dealership();
  const stranger = await dealership();
  const away = await newBranch();
  const here = await apiWith({ branchIds: [branch.id] });
  const member = await newUser({ branches: [away.id] });
  const there = {
    vehicle_id: (await vehicleOf(api, { branch_id: away.id })).id,
    enquiry_id: (await enquiryOf(api, { branch_id: away.id })).id,
  };
  const theirs = { vehicle_id: (await vehicleOf(stranger.api)).id, enquiry_id: (await enquiryOf(stranger.api)).id };
  const customer_id = (await stranger.api.post('/v1/customers', kim).succeeds(201)).id;
  for (const named of [there, theirs, { customer_id }, { salesperson_id: member.id }]) {
    const { errors } = await here.post('/v1/deals', named).refuses(422, 'validation_failed');
    assert.deepEqual(Object.keys(errors).sort(), Object.keys(named).sort());
  }
  const deal = await dealOf(api, { ...there, branch_id: branch.id });
  assert.ok(deal.vehicle && deal.enquiry && deal.customer);
  const again = await here.patch(`/v1/deals/${deal.id}`, { ...there, vehicle_price: 5 }).succeeds();
  assert.deepEqual([again.vehicle_id, again.vehicle, again.enquiry, again.customer], [there.vehicle_id, null, null, null]);
  const { errors } = await here.patch(`/v1/deals/${deal.id}`, { status: 'RESERVED' }).refuses(422, 'validation_failed');
  assert.deepEqual(Object.keys(errors), ['vehicle_id'], 'a key takes no car beyond its branches');
  await api.patch(`/v1/deals/${deal.id}`, { status: 'RESERVED' }).succeeds();
  await here.patch(`/v1/deals/${deal.id}`, { status: 'CANCELLED', cancellation_reason: 'CONDITION' }).succeeds();
  assert.equal((await api.get(`/v1/vehicles/${there.vehicle_id}`).succeeds()).status, 'FOR_SALE', 'but lets it go');
  assert.equal((await api.get(`/v1/enquiries/${there.enquiry_id}`).succeeds()).status, 'LOST');
});

test('a deal is at a branch the key reaches, and moves where it may', async () => {
  const { api, apiWith, branch, newBranch } = await dealership();
  const [b, c] = [await newBranch(), await newBranch()];
  const [ofB, two] = [await apiWith({ branchIds: [b.id] }), await apiWith({ branchIds: [b.id, c.id] })];
  const deal = await dealOf(ofB);
  assert.equal(deal.branch_id, b.id);
  assert.deepEqual(Object.keys((await two.post('/v1/deals', {}).refuses(422, 'validation_failed')).errors), ['branch_id']);
  await two.post('/v1/deals', { branch_id: branch.id }).refuses(403, 'branch_move_not_permitted');
  await ofB.patch(`/v1/deals/${deal.id}`, { branch_id: c.id }).refuses(403, 'branch_move_not_permitted');
  const moved = await two.patch(`/v1/deals/${deal.id}`, { branch_id: c.id }).succeeds();
  assert.equal(moved.branch.id, c.id);
  await ofB.get(`/v1/deals/${deal.id}`).refuses(404, 'not_found');
  assert.deepEqual(await ofB.get('/v1/deals').succeeds(), []);
  assert.equal((await api.get(`/v1/deals?branch_id=${c.id}`).succeeds()).length, 1);
});

test('a deal may hold its car from the first, and another car instead', async () => {
  const dealer = await dealership();
  const { api } = dealer;
  const [first, second] = [await vehicleOf(api, { status: 'NOT_FOR_SALE' }), await vehicleOf(api)];
  const enquiry = await enquiryOf(api);
  const answer = await api.post('/v1/deals', { vehicle_id: first.id, enquiry_id: enquiry.id, status: 'ORDERED' });
  const deal = answer.body.data;
  assert.deepEqual([deal.status, deal.ordered_at, deal.vat_scheme], ['ORDERED', deal.created_at, 'VAT_QUALIFYING']);
  const told = async (request: string | undefined) =>
    (await eventsOf(dealer)).filter((event) => event.request === request).map(({ type, data }) => [type, data.object.id]);
  assert.deepEqual(await told(answer.headers['x-request-id']), [
    ['deal.created', deal.id],
    ['vehicle.updated', first.id],
    ['vehicle.status_changed', first.id],
  ]);
  const change = await api.patch(`/v1/deals/${deal.id}`, { vehicle_id: second.id });
  assert.equal(change.status, 200);
  assert.deepEqual(await told(change.headers['x-request-id']), [
    ['vehicle.updated', first.id],
    ['vehicle.status_changed', first.id],
    ['vehicle.updated', second.id],
    ['vehicle.status_changed', second.id],
  ]);
  const state = async ({ id }: { id: string }) => {
    const { status, deal_id } = await api.get(`/v1/vehicles/${id}`).succeeds();
    return [status, deal_id];
  };
  assert.deepEqual(
    [await state(first), await state(second)],
    [
      ['NOT_FOR_SALE', null],
      ['RESERVED', deal.id],
    ],
  );
  await api.patch(`/v1/deals/${deal.id}`, { vehicle_id: null }).refuses(409, 'deal_has_no_vehicle');
  await api.patch(`/v1/deals/${deal.id}`, { enquiry_id: null }).refuses(409, 'deal_has_no_enquiry');
  await api.patch(`/v1/deals/${deal.id}`, { status: 'QUOTE', vehicle_id: null, enquiry_id: null }).succeeds();
  assert.deepEqual(await state(second), ['FOR_SALE', null]);
});

test('a deal without vehicle or enquiry is a quote; nor is it more once its enquiry was deleted', async () => {
  const { api } = await dealership();
  const [vehicle, enquiry] = [await vehicleOf(api), await enquiryOf(api)];
  const { id } = await dealOf(api);
  const path = `/v1/deals/${id}`;
  for (const status of ['RESERVED', 'ORDERED']) {
    await api.post('/v1/deals', { status }).refuses(409, 'deal_has_no_vehicle');
    await api.post('/v1/deals', { status, vehicle_id: vehicle.id }).refuses(409, 'deal_has_no_enquiry');
    await api.patch(path, { status, enquiry_id: enquiry.id }).refuses(409, 'deal_has_no_vehicle');
    await api.patch(path, { status, vehicle_id: vehicle.id }).refuses(409, 'deal_has_no_enquiry');
  }
  await api.patch(path, { vehicle_id: vehicle.id, enquiry_id: enquiry.id }).succeeds();
  await api.delete(`/v1/enquiries/${enquiry.id}`).succeeds();
  await api.patch(path, { status: 'RESERVED' }).refuses(409, 'deal_has_no_enquiry');
  await api.patch(path, { enquiry_id: (await enquiryOf(api)).id }).succeeds();
  await api.delete(`/v1/vehicles/${vehicle.id}`).succeeds();
  await api.patch(path, { status: 'RESERVED' }).refuses(409, 'deal_has_no_vehicle');
  const cancelled = await api.patch(path, { status: 'CANCELLED', cancellation_reason: 'NOT_AVAILABLE' }).succeeds();
  assert.equal(cancelled.vehicle, null);
});

test('a car is in one deal: of two that want it at once one gets it, the other is told vehicle_in_deal', async () => {
  const { api } = await dealership();
  const [vehicle, enquiry] = [await vehicleOf(api), await enquiryOf(api)];
  const quotes = await Promise.all(Array.from({ length: 6 }, () => dealOf(api, { vehicle_id: vehicle.id, enquiry_id: enquiry.id })));
  const answers = await Promise.all([
    ...quotes.map(({ id }) => api.patch(`/v1/deals/${id}`, { status: 'RESERVED' })),
    ...quotes.map(() => api.post('/v1/deals', { vehicle_id: vehicle.id, enquiry_id: enquiry.id, status: 'ORDERED' })),
  ]);
  const won = answers.filter(({ status }) => status < 300);
  assert.equal(won.length, 1);
  for (const { status, body } of answers.filter((answer) => !won.includes(answer)))
    assert.deepEqual([status, body.code], [409, 'vehicle_in_deal']);
  const { status, deal_id } = await api.get(`/v1/vehicles/${vehicle.id}`).succeeds();
  assert.deepEqual([status, deal_id], ['RESERVED', won[0]!.body.data.id]);
});

test('a sold car is in its deal, one that is disposed of in none', async () => {
  const { api, ctx } = await dealership();
  const { id, vehicle_id, enquiry_id } = await heldBy(api, { status: 'ORDERED' });
  await sellDeal(ctx, id);
  await dealOf(api, { vehicle_id, enquiry_id });
  await api.post('/v1/deals', { vehicle_id, enquiry_id, status: 'RESERVED' }).refuses(409, 'vehicle_in_deal');
  const scrap = await vehicleOf(api, { status: 'DISPOSED' });
  await api.post('/v1/deals', { vehicle_id: scrap.id }).refuses(422, 'request_refused');
  const later = await vehicleOf(api);
  const quote = await dealOf(api, { vehicle_id: later.id, enquiry_id });
  await api.patch(`/v1/vehicles/${later.id}`, { status: 'DISPOSED' }).succeeds();
  await api.patch(`/v1/deals/${quote.id}`, { vehicle_price: 5 }).succeeds();
  await api.patch(`/v1/deals/${quote.id}`, { status: 'RESERVED' }).refuses(422, 'request_refused');
});

test('a deal holds its car: status, branch and registration from RESERVED on, the price from ORDERED on', async () => {
  const { api, ctx, newBranch } = await dealership();
  const away = await newBranch();
  const deal = await heldBy(api);
  const path = `/v1/vehicles/${deal.vehicle_id}`;
  const changes = [{ status: 'FOR_SALE' }, { branch_id: away.id }, { registration: 'AB12CDE' }];
  let price = 1_200_000;
  const held = async (pricedToo: boolean) => {
    for (const change of changes) await api.patch(path, change).refuses(409, 'vehicle_in_deal');
    await api.delete(path).refuses(409, 'vehicle_in_deal');
    const priced = [{ asking_price: --price }, { price_on_application: true }, { asking_price: ++price }];
    if (!pricedToo) for (const change of priced) await api.patch(path, change).succeeds();
    else for (const change of priced.slice(0, 2)) await api.patch(path, change).refuses(409, 'vehicle_in_deal');
    await api.patch(path, { colour: `Red ${price}`, asking_price: price }).succeeds();
  };
  await held(false);
  await api.patch(`/v1/deals/${deal.id}`, { status: 'ORDERED' }).succeeds();
  await held(true);
  const [item] = (await api.post('/v1/vehicles/batch?dry_run=true', [{ id: deal.vehicle_id, asking_price: 1 }]).succeeds()).items;
  assert.equal(item.error.code, 'vehicle_in_deal');
  await sellDeal(ctx, deal.id);
  await held(true);
  await deliverDeal(ctx, deal.id);
  await held(true);
  const quote = await dealOf(api, { vehicle_id: (await vehicleOf(api)).id });
  await api.patch(`/v1/vehicles/${quote.vehicle_id}`, { status: 'NOT_FOR_SALE' }).succeeds();
  await api.delete(`/v1/vehicles/${quote.vehicle_id}`).succeeds();
});

test('an enquiry stays while its deal is invoiced, or its part exchange agreed', async () => {
  const { api, ctx } = await dealership();
  const deal = await heldBy(api, { status: 'ORDERED', part_exchanges: [{ registration: 'PX12OLD' }] });
  const path = `/v1/enquiries/${deal.enquiry_id}`;
  const [{ id }] = deal.part_exchanges;
  await api.patch(path, { part_exchange: { registration: 'PX12OLD' } }).succeeds();
  await api.patch(`/v1/deals/${deal.id}`, { part_exchanges: [{ id, status: 'AGREED' }] }).succeeds();
  await api.patch(path, { part_exchange: null }).refuses(409, 'enquiry_has_part_exchange');
  await api.delete(path).refuses(409, 'enquiry_has_part_exchange');
  await api.patch(`/v1/deals/${deal.id}`, { part_exchanges: [{ id, status: 'WITHDRAWN' }] }).succeeds();
  await api.patch(path, { part_exchange: null }).succeeds();
  const off = await heldBy(api, { part_exchanges: [{ make: 'Opel', status: 'AGREED' }] });
  await api.delete(`/v1/enquiries/${off.enquiry_id}`).refuses(409, 'enquiry_has_part_exchange');
  await api.patch(`/v1/deals/${off.id}`, { status: 'CANCELLED', cancellation_reason: 'CONDITION' }).succeeds();
  await api.delete(`/v1/enquiries/${off.enquiry_id}`).succeeds();
  await sellDeal(ctx, deal.id);
  for (const step of ['sold', 'delivered']) {
    if (step === 'delivered') await deliverDeal(ctx, deal.id);
    await api.delete(path).refuses(409, 'enquiry_has_invoiced_order');
    await api.patch(path, { status: 'LOST', lost_reason: 'OTHER' }).refuses(409, 'enquiry_has_invoiced_order');
    await api.patch(path, { status: 'DISQUALIFIED' }).refuses(409, 'enquiry_has_invoiced_order');
    await api.patch(path, { status: 'CONTACTED' }).refuses(422, 'validation_failed');
    await api.patch(path, { message: step }).succeeds();
  }
});

test('a customer stays with a deal, a job card or an invoice that is not deleted, and the refusal says which', async () => {
  const dealer = await dealership();
  const { api, apiWith, ctx, branch, newBranch } = dealer;
  const { id } = await api.post('/v1/customers', { ...kim, branch_id: branch.id }).succeeds(201);
  const deal = await dealOf(api, { customer_id: id, branch_id: (await newBranch()).id });
  const here = await apiWith({ branchIds: [branch.id] });
  const told = async () => (await here.delete(`/v1/customers/${id}`).refuses(409, 'customer_has_enquiries')).message;
  assert.equal(await told(), 'The customer has a deal.');
  const invoiceId = await invoiced(dealer, { deal_id: deal.id, customer_id: id, type: 'DEPOSIT' });
  await api.patch(`/v1/deals/${deal.id}`, { status: 'CANCELLED', cancellation_reason: 'CONDITION' }).succeeds();
  assert.equal(await told(), 'The customer has a deal and an invoice.');
  await deleteDeal(ctx, deal.id);
  assert.equal(await told(), 'The customer has an invoice.');
  await dealer.service.pools.doors.query('delete from invoice where dealer_id = $1 and id = $2', [dealer.id, invoiceId]);
  const { rows } = await dealer.service.pools.doors.query(
    `insert into job_card (dealer_id, id, number, branch_id, type, status, status_changed_at, customer_id, technician_ids, metadata, created_at, updated_at)
     select dealer_id, $2, 1, branch_id, 'RETAIL', 'BOOKED', updated_at, id, '{}', '{}', updated_at, updated_at
     from customer where dealer_id = $1 and id = $3 returning id`,
    [dealer.id, uuidv7(ctx.now), id],
  );
  assert.equal(await told(), 'The customer has a job card.');
  await dealer.service.pools.doors.query('update job_card set deleted_at = updated_at where dealer_id = $1 and id = $2', [
    dealer.id,
    rows[0].id,
  ]);
  await here.delete(`/v1/customers/${id}`).succeeds();
});

/** An invoice as the accounts keep it, with payments: a method and an amount each. */
async function invoiced(
  { service, id: dealer_id, branch, ctx }: Dealership,
  invoice: { type: string; deal_id: string; customer_id?: string; credit_note_of_id?: string },
  payments: readonly (readonly [string, number])[] = [],
): Promise<string> {
  const { doors } = service.pools;
  const id = uuidv7(ctx.now);
  await doors.query(
    `insert into invoice (dealer_id, id, type, status, branch_id, customer_id, deal_id, credit_note_of_id, bill_to, net, vat, gross, paid, vat_summary,
       margin_scheme, prices_include_vat, statements, series, number, issued_on, created_at, updated_at)
     values ($1, $2, $3, 'ISSUED', $4, $5, $6, $7, '{}', 0, 0, 0, 0, '[]', false, true, '{}', 'SAL', $2::uuid::text, '2099-01-01', clock_timestamp(), clock_timestamp())`,
    [dealer_id, id, invoice.type, branch.id, invoice.customer_id ?? null, invoice.deal_id, invoice.credit_note_of_id ?? null],
  );
  for (const [method, amount] of payments)
    await doors.query(
      `insert into payment (dealer_id, id, invoice_id, method, amount, paid_on, created_at) values ($1, $2, $3, $4, $5, '2099-01-01', '2099-01-01 10:00Z')`,
      [dealer_id, uuidv7(ctx.now), id, method, amount],
    );
  return id;
}

test('what was paid is counted once: finance and part exchange as agreed, a deposit where it was paid, refunds against it', async () => {
  const dealer = await dealership();
  const { api } = dealer;
  const terms = { vehicle_price: 1_000_000, finance: { advance: 600_000 }, part_exchanges: [{ make: 'Opel', allowance: 200_000 }] };
  const deal = await dealOf(api, terms);
  const deposit = await invoiced(dealer, { type: 'DEPOSIT', deal_id: deal.id }, [
    ['CARD', 30_000],
    ['CASH', 20_000],
  ]);
  const sale = await invoiced(dealer, { type: 'VEHICLE_SALE', deal_id: deal.id }, [
    ['DEPOSIT', 50_000],
    ['FINANCE', 600_000],
    ['PART_EXCHANGE', 200_000],
    ['BANK_TRANSFER', 150_000],
  ]);
  const read = await api.get(`/v1/deals/${deal.id}`).succeeds();
  assert.deepEqual(read.invoice_ids, [deposit, sale]);
  assert.deepEqual(read.deposit, { required: null, paid: gbp(50_000), paid_at: '2099-01-01T10:00:00Z' });
  assert.deepEqual([read.totals.paid, read.totals.balance_due], [gbp(200_000), gbp(0)]);
  assert.equal(read.updated_at, deal.updated_at);
  const credit = await invoiced(dealer, { type: 'CREDIT_NOTE', deal_id: deal.id, credit_note_of_id: deposit }, [['CARD', -50_000]]);
  const after = await api.get(`/v1/deals/${deal.id}`).succeeds();
  assert.deepEqual([after.invoice_ids.at(-1), after.deposit.paid, after.totals.paid], [credit, gbp(0), gbp(150_000)]);
});

test('of a sold deal what was invoiced stays, of a cancelled one all but its filing', async () => {
  const { api, ctx, owner, newBranch } = await dealership();
  const deal = await heldBy(api, { status: 'ORDERED', vehicle_price: 5 });
  const path = `/v1/deals/${deal.id}`;
  await sellDeal(ctx, deal.id);
  const customer_id = (await api.post('/v1/customers', { last_name: 'Elm', email: 'elm@customer.example' }).succeeds(201)).id;
  const kept = [
    ...[{ vehicle_price: 6 }, { discount: 1 }, { extras: [{ kind: 'FUEL', unit_price: 1 }] }, { part_exchanges: [{ make: 'Opel' }] }],
    ...[{ finance: { type: 'HP' } }, { vehicle_id: (await vehicleOf(api)).id }, { vehicle_id: null }, { customer_id }],
    ...[{ enquiry_id: (await enquiryOf(api)).id }, { status: 'ORDERED' }, { status: 'CANCELLED', cancellation_reason: 'CONDITION' }],
  ];
  for (const change of kept) await api.patch(path, change).refuses(409, 'deal_sold');
  const branch_id = (await newBranch()).id;
  const handover = { scheduled_at: '2026-05-02T10:00:00Z' };
  await api.patch(path, { branch_id }).refuses(422, 'validation_failed');
  const changed = await api.patch(path, { vehicle_price: 5, handover, salesperson_id: owner.id }).succeeds();
  assert.deepEqual([changed.handover.scheduled_at, changed.salesperson_id], [handover.scheduled_at, owner.id]);
  const quote = await dealOf(api);
  const closed = `/v1/deals/${quote.id}`;
  const body = { status: 'CANCELLED', cancellation_reason: 'CONDITION' };
  const cancelled = await api.patch(closed, body).succeeds();
  assert.deepEqual(await api.patch(closed, body).succeeds(), cancelled);
  for (const change of [{ handover }, { type: 'TRADE' }, { status: 'QUOTE' }, { cancellation_note: 'x' }, { deposit: { required: 1 } }])
    await api.patch(closed, change).refuses(409, 'deal_closed');
  const filed = await api.patch(closed, { metadata: { a: 'b' }, external_id: 'x' }).succeeds();
  assert.deepEqual([filed.metadata, filed.external_id], [{ a: 'b' }, 'x']);
});

test('a write that changes nothing succeeds, emits nothing and leaves updated_at', async () => {
  const dealer = await dealership();
  const { api } = dealer;
  const deal = await heldBy(api, {
    extras: [{ kind: 'FUEL', unit_price: 5 }],
    part_exchanges: [{ registration: 'AB12CDE', allowance: 5 }],
    finance: { type: 'HP' },
    handover: { scheduled_at: '2026-05-01T09:00:00.75Z' },
    deposit: { required: 5 },
  });
  const before = (await eventsOf(dealer)).length;
  const { status, vehicle_id, enquiry_id, customer_id, metadata, type } = deal;
  const same = {
    ...{ status, vehicle_id, enquiry_id, customer_id, metadata, type },
    extras: [{ id: deal.extras[0].id }],
    part_exchanges: [{ id: deal.part_exchanges[0].id, registration: 'ab12 cde', allowance: 5 }],
    finance: { type: 'HP', provider: null },
    handover: { scheduled_at: deal.handover.scheduled_at },
    deposit: {},
  };
  assert.deepEqual(await api.patch(`/v1/deals/${deal.id}`, same).succeeds(), deal);
  assert.deepEqual(await api.patch(`/v1/deals/${deal.id}`, {}).succeeds(), deal);
  assert.equal((await eventsOf(dealer)).length, before);
});

test('an external_id is unique among the living', async () => {
  const { api, ctx } = await dealership();
  const first = await dealOf(api, { external_id: 'x' });
  const second = await dealOf(api, { external_id: 'y' });
  await api.post('/v1/deals', { external_id: 'x' }).refuses(409, 'external_id_taken');
  await api.patch(`/v1/deals/${second.id}`, { external_id: 'x' }).refuses(409, 'external_id_taken');
  await deleteDeal(ctx, first.id);
  await api.patch(`/v1/deals/${second.id}`, { external_id: 'x' }).succeeds();
});

test('a deal sent twice with one Idempotency-Key is one deal', async () => {
  const dealer = await dealership();
  const body = { vehicle_id: (await vehicleOf(dealer.api)).id, enquiry_id: (await enquiryOf(dealer.api)).id, status: 'RESERVED' };
  const once = { 'idempotency-key': 'order-1' };
  const [a, b] = [await dealer.api.post('/v1/deals', body, once), await dealer.api.post('/v1/deals', body, once)];
  assert.deepEqual([b.status, b.body.data, b.headers['idempotent-replayed']], [201, a.body.data, 'true']);
  assert.equal((await eventsOf(dealer, 'deal.')).length, 1);
});

test('deals are filtered by what they are, whom and what they are about, and when they were sold or are handed over', async () => {
  const { api, owner, ctx, clock } = await dealership();
  clock.set('2099-06-10T23:30:00Z');
  const a = await heldBy(api, { status: 'ORDERED', type: 'TRADE', salesperson_id: owner.id, external_id: 'a' });
  const b = await dealOf(api, { handover: { scheduled_at: '2099-06-20T23:30:00Z' } });
  await sellDeal(ctx, a.id);
  const found = async (query: string) => (await api.get(`/v1/deals?${query}`).succeeds()).map(({ id }: { id: string }) => id).sort();
  const both = [a.id, b.id].sort();
  const answers: [string, string[]][] = [
    ['status=SOLD', [a.id]],
    ['status=QUOTE,SOLD', both],
    ['type=TRADE', [a.id]],
    ['type=RETAIL,TRADE', both],
    [`customer_id=${a.customer_id}`, [a.id]],
    [`vehicle_id=${a.vehicle_id},${nobody}`, [a.id]],
    [`enquiry_id=${a.enquiry_id}`, [a.id]],
    [`salesperson_id=${owner.id}`, [a.id]],
    ['external_id=a', [a.id]],
    ['sold_from=2099-06-11', [a.id]],
    ['sold_from=2099-06-12', []],
    ['sold_to=2099-06-10', []],
    ['sold_to=2099-06-11', [a.id]],
    ['sold_from=2099-06-10T23:30:00Z&sold_to=2099-06-10T23:30:59Z', [a.id]],
    ['handover_from=2099-06-21&handover_to=2099-06-21', [b.id]],
    ['handover_to=2099-06-20', []],
    ['status=QUOTE&type=TRADE', []],
  ];
  for (const [query, ids] of answers) assert.deepEqual(await found(query), ids, query);
  for (const [query, field] of [
    ['status=LIVE', 'status'],
    ['sold_from=yesterday', 'sold_from'],
    ['customer=x', 'customer'],
  ] as const)
    assert.deepEqual(Object.keys((await api.get(`/v1/deals?${query}`).refuses(422, 'validation_failed')).errors), [field]);
  await deleteDeal(ctx, b.id);
  assert.deepEqual(await found('include_deleted=true&status=SOLD'), both, 'tombstones pass the filters');
  assert.deepEqual(await found('include_deleted=true&external_id=a'), [a.id]);
  clock.release();
});
