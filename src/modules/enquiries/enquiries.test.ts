import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arrangeList } from '#modules/reference/index.ts';
import { setUser } from '#modules/staff/index.ts';
import type { Dealership } from '../../../test/support/dealership.ts';
import { dealership } from '../../../test/support/dealership.ts';
import { enquiryStatuses } from './contract.ts';
import { appraisePartExchange, moveForDeal } from './index.ts';

const nobody = '00000000-0000-4000-8000-000000000000';
const kim = { first_name: 'Kim', last_name: 'Ash', email: 'kim.ash@customer.example', mobile: '07700 900123' };
const car = { condition: 'USED', make: 'Ford', model: 'Focus' };

type Json = ReturnType<typeof JSON.parse>;

const eventsOf = async ({ service, id }: Dealership): Promise<{ type: string; request: string; data: Json }[]> => {
  const { rows } = await service.pools.doors.query('select type, request_id, data from event where dealer_id = $1 order by sequence', [id]);
  return rows.map(({ type, request_id, data }) => ({ type, request: request_id, data: JSON.parse(data) }));
};

const typesOf = async (dealer: Dealership) => (await eventsOf(dealer)).map(({ type }) => type);

test('an enquiry is created, read, changed and deleted', async () => {
  const dealer = await dealership();
  const { api, owner } = dealer;
  const vehicle = await api.post('/v1/vehicles', { ...car, registration: 'AB12CDE' }).succeeds(201);
  const body = {
    external_id: 'e-1',
    type: 'TEST_DRIVE',
    source: 'AUTO_TRADER',
    source_detail: 'Advert 7',
    channel: 'PHONE',
    contact: {
      ...kim,
      title: 'Dr',
      address: { line1: '1 Station Road', postcode: 'bs14dj' },
      preferred_method: 'PHONE',
      preferred_time: 'Evenings',
    },
    message: 'Is it still there?',
    vehicle_id: vehicle.id,
    wanted: { make: 'Ford', condition: 'USED', min_price: 500_000, max_price: 900_000, fuel_type: 'PETROL', change_by: '2026-06-01' },
    part_exchange: { registration: 'xy 12 zzz', mileage: 64_000, condition: 'GOOD', outstanding_finance: 120_000 },
    finance: { interested: true, type: 'PCP', deposit: 100_000, term_months: 48, monthly_budget: 25_000 },
    test_drive: { requested: true, preferred_at: '2026-05-02T11:00:00+01:00', location: 'BRANCH' },
    assigned_to_id: owner.id,
    next_action_at: '2026-05-01T09:00:00Z',
    marketing_consent: { email: true, wording: 'Yes please' },
    attribution: { page_url: 'https://www.example.com/used-cars/1', utm_source: 'newsletter' },
    metadata: { lead: '7' },
  };
  const created = await api.post('/v1/enquiries', body);
  assert.equal(created.status, 201, JSON.stringify(created.body));
  const enquiry = created.body.data;
  assert.equal(created.headers.location, `/v1/enquiries/${enquiry.id}`);
  assert.deepEqual([enquiry.reference, enquiry.status, enquiry.first_responded_at], ['ENQ-000001', 'NEW', null]);
  assert.deepEqual([enquiry.contact.mobile, enquiry.contact.phone, enquiry.contact.address.postcode], ['+447700900123', null, 'BS1 4DJ']);
  assert.deepEqual(enquiry.branch, { id: dealer.branch.id, name: dealer.branch.name });
  assert.deepEqual(enquiry.customer, { id: enquiry.customer_id, reference: 'CUS-000001', display_name: 'Kim Ash' });
  assert.deepEqual(enquiry.vehicle, { id: vehicle.id, stock_number: '1', registration: 'AB12CDE', make: 'Ford', model: 'Focus' });
  assert.deepEqual(enquiry.assigned_to, { id: owner.id, name: 'A Member' });
  assert.deepEqual([enquiry.wanted.max_price, enquiry.wanted.colour], [{ amount: 900_000, currency: 'GBP' }, null]);
  assert.deepEqual(enquiry.part_exchange, {
    id: enquiry.part_exchange.id,
    registration: 'XY12ZZZ',
    make: null,
    model: null,
    derivative: null,
    mileage: 64_000,
    condition: 'GOOD',
    outstanding_finance: { amount: 120_000, currency: 'GBP' },
    expected_value: null,
    valuation: null,
    valued_at: null,
    vehicle_id: null,
  });
  assert.deepEqual(enquiry.finance.monthly_budget, { amount: 25_000, currency: 'GBP' });
  assert.deepEqual([enquiry.test_drive.preferred_at, enquiry.next_action_at], ['2026-05-02T10:00:00Z', '2026-05-01T09:00:00Z']);
  assert.equal(enquiry.marketing_consent.recorded_at, enquiry.created_at);
  assert.deepEqual([enquiry.deal_id, enquiry.appointment_ids, enquiry.notes], [null, [], []]);
  assert.deepEqual(await api.get(`/v1/enquiries/${enquiry.id}`).succeeds(), enquiry);
  const { notes: _notes, deal: _deal, ...listed } = enquiry;
  assert.deepEqual(await api.get('/v1/enquiries').succeeds(), [listed], 'a list leaves out deal and notes');

  const changed = await api
    .patch(`/v1/enquiries/${enquiry.id}`, {
      status: 'CONTACTED',
      contact: { address: null, phone: '020 7946 0123', title: null },
      wanted: { colour: 'Red', make: null },
      part_exchange: { mileage: 65_000 },
      finance: null,
      vehicle_id: null,
      assigned_to_id: null,
      metadata: { lead: null, more: 'x' },
    })
    .succeeds();
  assert.deepEqual([changed.contact.phone, changed.contact.title, changed.contact.address], ['+442079460123', null, null]);
  assert.deepEqual([changed.wanted.colour, changed.wanted.make, changed.wanted.fuel_type], ['Red', null, 'PETROL']);
  assert.deepEqual([changed.part_exchange.id, changed.part_exchange.mileage], [enquiry.part_exchange.id, 65_000]);
  assert.deepEqual([changed.finance, changed.vehicle_id, changed.vehicle, changed.assigned_to], [null, null, null, null]);
  assert.equal(changed.first_responded_at, changed.updated_at);
  assert.deepEqual(changed.metadata, { more: 'x' });
  assert.deepEqual(await api.get(`/v1/enquiries/${enquiry.id}`).succeeds(), changed);

  const tombstone = await api.delete(`/v1/enquiries/${enquiry.id}`).succeeds();
  assert.deepEqual(Object.keys(tombstone).sort(), ['deleted', 'deleted_at', 'id']);
  for (const refused of [
    api.get(`/v1/enquiries/${enquiry.id}`),
    api.patch(`/v1/enquiries/${enquiry.id}`, { message: null }),
    api.delete(`/v1/enquiries/${enquiry.id}`),
    api.post(`/v1/enquiries/${enquiry.id}/notes`, { body: 'Too late' }),
  ]) {
    await refused.refuses(404, 'not_found');
  }
  assert.deepEqual(await api.get('/v1/enquiries?include_deleted=true&status=WON').succeeds(), [tombstone]);

  const events = (await eventsOf(dealer)).filter(({ type }) => type.startsWith('enquiry.'));
  assert.deepEqual(
    events.map(({ type }) => type),
    ['enquiry.created', 'enquiry.updated', 'enquiry.deleted'],
  );
  assert.deepEqual(
    events[0]?.data.object,
    { ...enquiry, branch: null, customer: null, vehicle: null },
    'the single read with enquiries:read alone',
  );
  assert.deepEqual(events[1]?.data.changed.toSorted(), [
    'assigned_to_id',
    'contact',
    'finance',
    'first_responded_at',
    'metadata',
    'part_exchange',
    'status',
    'vehicle_id',
    'wanted',
  ]);
  assert.deepEqual(events[2]?.data.object, tombstone);
  const { rows } = await dealer.service.pools.doors.query('select action from activity where record_id = $1 order by at', [enquiry.id]);
  assert.deepEqual(
    rows.map(({ action }) => action),
    ['created', 'updated', 'deleted'],
  );
});

test('only a key with the scope and its owner’s permission reaches enquiries', async () => {
  const { api, apiWith, newUser, ctx } = await dealership();
  const { id } = await api.post('/v1/enquiries', { contact: kim }).succeeds(201);
  const member = await newUser();
  const [none, reading, writing, ofMember, publishable] = [
    await apiWith({ scopes: ['vehicles:read', 'customers:read', 'customers:write'] }),
    await apiWith({ scopes: ['enquiries:read'] }),
    await apiWith({ scopes: ['enquiries:write'] }),
    await apiWith({ scopes: ['enquiries:read', 'enquiries:write'], ownerId: member.id }),
    await apiWith({ kind: 'publishable' }),
  ];
  await setUser(ctx, member.email, { without: ['ENQUIRIES_VIEW', 'ENQUIRIES_EDIT'] });
  const path = `/v1/enquiries/${id}`;
  for (const [ask, allowed] of [
    [(of: typeof api) => of.get('/v1/enquiries'), reading],
    [(of: typeof api) => of.get(path), reading],
    [(of: typeof api) => of.post('/v1/enquiries', { contact: kim }), writing],
    [(of: typeof api) => of.patch(path, { message: 'x' }), writing],
    [(of: typeof api) => of.post(`${path}/notes`, { body: 'x' }), writing],
    [(of: typeof api) => of.delete(path), writing],
  ] as const) {
    await ask(api.as(null)).refuses(401, 'missing_api_key');
    await ask(none).refuses(403, 'insufficient_scope');
    await ask(allowed === reading ? writing : reading).refuses(403, 'insufficient_scope');
    await ask(ofMember).refuses(403, 'scope_not_permitted_for_owner');
    await ask(publishable).refuses(403, 'secret_key_required');
    assert.ok((await ask(allowed)).status < 300);
  }
});

test('summaries are for keys with the scope of what they sum up; the ids stay', async () => {
  const { api, apiWith } = await dealership();
  const vehicle = await api.post('/v1/vehicles', car).succeeds(201);
  const { id, customer_id } = await api.post('/v1/enquiries', { contact: kim, vehicle_id: vehicle.id }).succeeds(201);
  const seen = await (await apiWith({ scopes: ['enquiries:read'] })).get(`/v1/enquiries/${id}`).succeeds();
  assert.deepEqual([seen.customer_id, seen.vehicle_id, seen.branch_id.length], [customer_id, vehicle.id, 36]);
  assert.deepEqual([seen.customer, seen.vehicle, seen.branch], [null, null, null]);
  await api.delete(`/v1/vehicles/${vehicle.id}`).succeeds();
  const later = await api.get(`/v1/enquiries/${id}`).succeeds();
  assert.deepEqual([later.vehicle_id, later.vehicle], [vehicle.id, null]);
});

test('what is wrong with an enquiry is said by field', async () => {
  const { api } = await dealership();
  const fields = async (body: object) =>
    Object.keys((await api.post('/v1/enquiries', body).refuses(422, 'validation_failed')).errors).sort();
  assert.deepEqual(await fields({}), ['contact']);
  assert.deepEqual(await fields({ contact: null }), ['contact']);
  assert.deepEqual(await fields({ contact: {} }), ['contact']);
  assert.deepEqual(await fields({ contact: { title: 'Dr' } }), ['contact.email', 'contact.last_name']);
  assert.deepEqual(await fields({ contact: { last_name: 'Ash' } }), ['contact.email']);
  assert.deepEqual(await fields({ contact: { ...kim, phone: '12', mobile: 'x' } }), ['contact.mobile', 'contact.phone']);
  assert.deepEqual(await fields({ contact: { ...kim, surname: 'Ash' }, status: 'NEW', lost_reason: 'OTHER' }), [
    'contact.surname',
    'lost_reason',
    'status',
  ]);
  assert.deepEqual(await fields({ contact: kim, type: 'CHAT', source: 'X_NEVER', channel: 'FAX' }), ['channel', 'type']);
  assert.deepEqual(await fields({ contact: kim, source: 'X_NEVER', type: 'X_NEVER' }), ['source', 'type']);
  assert.deepEqual(await fields({ contact: kim, vehicle_id: nobody, assigned_to_id: nobody }), ['assigned_to_id', 'vehicle_id']);
  assert.deepEqual(await fields({ customer_id: nobody }), ['customer_id']);
  assert.deepEqual(await fields({ contact: kim, wanted: { min_price: 2, max_price: 1 } }), ['wanted.max_price']);
  assert.deepEqual(await fields({ contact: kim, part_exchange: { condition: 'RUSTY', valuation: 5 } }), [
    'part_exchange.condition',
    'part_exchange.valuation',
  ]);
  assert.deepEqual(await fields({ contact: kim, branch_id: nobody }), ['branch_id']);
  const { id } = await api.post('/v1/enquiries', { contact: kim }).succeeds(201);
  const changing = async (body: object) =>
    Object.keys((await api.patch(`/v1/enquiries/${id}`, body).refuses(422, 'validation_failed')).errors).sort();
  assert.deepEqual(await changing({ contact: { email: null, mobile: null } }), ['contact.email']);
  assert.deepEqual(await changing({ customer_id: null }), ['customer_id']);
  assert.deepEqual(await changing({ status: 'WON' }), ['status']);
  assert.deepEqual(await changing({ status: 'SLEEPING' }), ['status']);
  assert.deepEqual(await changing({ status: 'LOST' }), ['lost_reason']);
  assert.deepEqual(await changing({ lost_note: 'x' }), ['lost_note']);
  const note = await api.post(`/v1/enquiries/${id}/notes`, {}).refuses(422, 'validation_failed');
  assert.deepEqual(Object.keys(note.errors), ['body']);
  assert.equal((await api.get('/v1/customers').succeeds()).length, 1, 'what was refused made no customer');
});

test('codes of the dealer’s own are taken once they were made', async () => {
  const { api, ctx } = await dealership();
  for (const [list, code] of [
    ['enquiry-types', 'X_FLEET'],
    ['enquiry-sources', 'X_SHOW'],
    ['enquiry-lost-reasons', 'X_MOVED'],
  ] as const) {
    const codes: { code: string }[] = await api.get(`/v1/reference/${list}`).succeeds();
    await arrangeList(ctx, list, [...codes.map(({ code }) => ({ code })), { code, name: 'Own' }]);
  }
  const { id, type, source } = await api.post('/v1/enquiries', { contact: kim, type: 'X_FLEET', source: 'X_SHOW' }).succeeds(201);
  assert.deepEqual([type, source], ['X_FLEET', 'X_SHOW']);
  assert.equal((await api.patch(`/v1/enquiries/${id}`, { status: 'LOST', lost_reason: 'X_MOVED' }).succeeds()).lost_reason, 'X_MOVED');
  assert.equal((await api.get('/v1/enquiries?type=X_FLEET&source=X_SHOW,API').succeeds()).length, 1);
  for (const filter of ['type', 'source']) await api.get(`/v1/enquiries?${filter}=X_NEVER`).refuses(422, 'validation_failed');
  const { type: usual, source: api_ } = await api.post('/v1/enquiries', { contact: kim }).succeeds(201);
  assert.deepEqual([usual, api_], ['SALES', 'API']);
});

test('an enquiry runs through its statuses; what was lost is opened again, and WON comes from the deal', async () => {
  const { api, ctx, clock } = await dealership();
  clock.set('2099-01-01T10:00:00Z');
  const { id, customer_id } = await api.post('/v1/enquiries', { contact: kim }).succeeds(201);
  const move = (status: string, more: object = {}) => api.patch(`/v1/enquiries/${id}`, { status, ...more });
  const lastContact = async () => (await api.get(`/v1/customers/${customer_id}`).succeeds()).last_contacted_at;
  const at = async (hour: string, status: string, more: object = {}) => {
    clock.set(`2099-01-01T${hour}:00:00Z`);
    return move(status, more).succeeds();
  };
  assert.equal((await at('11', 'DISQUALIFIED', { lost_note: 'Spam' })).first_responded_at, null);
  for (const status of ['NEW', 'APPOINTMENT', 'LOST'])
    assert.deepEqual(Object.keys((await move(status, { lost_reason: 'OTHER' }).refuses(422, 'validation_failed')).errors), ['status']);
  const reopened = await at('12', 'CONTACTED');
  assert.deepEqual([reopened.first_responded_at, reopened.lost_note], ['2099-01-01T12:00:00Z', null]);
  assert.equal(await lastContact(), '2099-01-01T12:00:00Z');
  await at('13', 'NEW');
  await at('14', 'NEGOTIATING');
  assert.equal(await lastContact(), '2099-01-01T14:00:00Z');
  const lost = await at('15', 'LOST', { lost_reason: 'WENT_ELSEWHERE', lost_note: 'Bought nearer home' });
  assert.deepEqual(
    [lost.lost_reason, lost.lost_note, lost.first_responded_at],
    ['WENT_ELSEWHERE', 'Bought nearer home', '2099-01-01T12:00:00Z'],
  );
  const again = await at('16', 'CONTACTED');
  assert.deepEqual([again.lost_reason, again.lost_note], [null, null]);
  await moveForDeal(ctx, id, 'WON');
  const won = await api.get(`/v1/enquiries/${id}`).succeeds();
  assert.deepEqual([won.status, won.lost_reason], ['WON', null]);
  for (const status of ['CONTACTED', 'LOST', 'WON']) await move(status, { lost_reason: 'OTHER' }).refuses(422, 'validation_failed');
  await api.patch(`/v1/enquiries/${id}`, { message: 'Collected on Friday' }).succeeds();
  await moveForDeal(ctx, id, 'LOST', 'CONDITION');
  await move('CONTACTED').succeeds();
  clock.release();
});

test('a contact is taken for the customer it means, else a customer is made of it, told after the enquiry', async () => {
  const dealer = await dealership();
  const { api } = dealer;
  const first = await api.post('/v1/enquiries', {
    contact: { ...kim, address: { postcode: 'bs14dj' }, preferred_method: 'SMS' },
    marketing_consent: { sms: true },
  });
  const customerId = first.body.data.customer_id;
  const customer = await api.get(`/v1/customers/${customerId}`).succeeds();
  assert.deepEqual(
    [customer.display_name, customer.mobile, customer.address.postcode, customer.preferred_contact_method, customer.enquiry_count],
    ['Kim Ash', '+447700900123', 'BS1 4DJ', 'SMS', 1],
  );
  assert.deepEqual([customer.marketing_consent.sms, customer.branch_id], [true, dealer.branch.id]);
  const events = await eventsOf(dealer);
  assert.deepEqual(
    events.map(({ type, request }) => [type, request]),
    [
      ['enquiry.created', first.headers['x-request-id']],
      ['customer.created', first.headers['x-request-id']],
    ],
  );
  assert.deepEqual(events[1]?.data.object, { ...customer, branch: null });

  const meant = async (contact: object) => (await api.post('/v1/enquiries', { contact }).succeeds(201)).customer_id;
  assert.equal(await meant({ last_name: 'ÁSH', email: 'KIM.ASH@customer.example' }), customerId);
  assert.equal(await meant({ last_name: 'Ash', mobile: '+44 7700 900123' }), customerId);
  assert.equal(await meant({ last_name: 'Ash', phone: '07700900123', email: 'new@customer.example' }), customerId);
  assert.equal(await meant({ first_name: 'Someone', email: kim.email }), customerId, 'no last name given');
  const family = await meant({ ...kim, last_name: 'Elm' });
  assert.notEqual(family, customerId, 'families share e-mails');
  assert.equal(await meant({ last_name: 'Elm', email: kim.email }), family);
  assert.equal((await api.get(`/v1/customers/${customerId}`).succeeds()).enquiry_count, 5);
  assert.deepEqual(
    (await typesOf(dealer)).filter((type) => type.startsWith('customer.')),
    ['customer.created', 'customer.created'],
  );
  const company = await meant({ company_name: 'Ash Couriers Ltd', phone: '020 7946 0123' });
  assert.equal((await api.get(`/v1/customers/${company}`).succeeds()).type, 'BUSINESS');
});

test('the e-mail counts before a number that a hundred others share', async () => {
  const { api } = await dealership();
  const mobile = '07700 900999';
  for (let n = 0; n < 101; n++) await api.post('/v1/customers', { last_name: `Sharer ${n}`, mobile }).succeeds(201);
  const owner = await api.post('/v1/customers', { last_name: 'Owner', mobile, email: 'owner@customer.example' }).succeeds(201);
  const enquiry = await api
    .post('/v1/enquiries', { contact: { first_name: 'Kim', email: 'owner@customer.example', mobile } })
    .succeeds(201);
  assert.equal(enquiry.customer_id, owner.id);
});

test('the same contact several times at once makes one customer', async () => {
  const { api } = await dealership();
  const made = await Promise.all([1, 2, 3].map(() => api.post('/v1/enquiries', { contact: kim }).succeeds(201)));
  assert.equal(new Set(made.map(({ customer_id }) => customer_id)).size, 1);
});

test('a deleted customer and one beyond the key’s branches are not meant by a contact', async () => {
  const { api, apiWith, branch, newBranch } = await dealership();
  const away = await newBranch();
  const deleted = await api.post('/v1/customers', kim).succeeds(201);
  await api.delete(`/v1/customers/${deleted.id}`).succeeds();
  const there = await api.post('/v1/customers', { ...kim, branch_id: away.id }).succeeds(201);
  const here = await apiWith({ branchIds: [branch.id] });
  const { customer_id: made } = await here.post('/v1/enquiries', { contact: kim }).succeeds(201);
  assert.ok(![deleted.id, there.id].includes(made));
  await here.get(`/v1/customers/${made}`).succeeds();
  assert.equal((await api.post('/v1/enquiries', { contact: kim }).succeeds(201)).customer_id, there.id, 'the oldest within reach');
});

test('what an enquiry names must be visible to the key', async () => {
  const { api, apiWith, branch, newBranch, newUser } = await dealership();
  const stranger = await dealership();
  const away = await newBranch();
  const here = await apiWith({ branchIds: [branch.id] });
  const customerOf = async (of: typeof api, branch_id?: string) => (await of.post('/v1/customers', { ...kim, branch_id }).succeeds(201)).id;
  const vehicleOf = async (of: typeof api, branch_id?: string) => (await of.post('/v1/vehicles', { ...car, branch_id }).succeeds(201)).id;
  const member = await newUser({ branches: [away.id] });
  for (const customer_id of [await customerOf(api, away.id), await customerOf(stranger.api)]) {
    const { errors } = await here.post('/v1/enquiries', { customer_id }).refuses(422, 'validation_failed');
    assert.deepEqual(Object.keys(errors), ['customer_id']);
  }
  const enquiry = await here.post('/v1/enquiries', { contact: kim }).succeeds(201);
  const path = `/v1/enquiries/${enquiry.id}`;
  for (const vehicle_id of [await vehicleOf(api, away.id), await vehicleOf(stranger.api)]) {
    assert.deepEqual(Object.keys((await here.patch(path, { vehicle_id }).refuses(422, 'validation_failed')).errors), ['vehicle_id']);
  }
  for (const assigned_to_id of [member.id, stranger.owner.id]) {
    assert.deepEqual(Object.keys((await here.patch(path, { assigned_to_id }).refuses(422, 'validation_failed')).errors), [
      'assigned_to_id',
    ]);
  }
  const [own, mine] = [await vehicleOf(here), await customerOf(here)];
  const changed = await here.patch(path, { vehicle_id: own, customer_id: mine }).succeeds();
  assert.deepEqual([changed.vehicle.id, changed.customer.id], [own, mine]);

  const seenFromAll = await api
    .post('/v1/enquiries', { customer_id: await customerOf(api, away.id), vehicle_id: await vehicleOf(api, away.id) })
    .succeeds(201);
  assert.ok(seenFromAll.customer && seenFromAll.vehicle);
  const seenFromHere = await here.get(`/v1/enquiries/${seenFromAll.id}`).succeeds();
  assert.deepEqual([seenFromHere.customer_id, seenFromHere.customer, seenFromHere.vehicle], [seenFromAll.customer_id, null, null]);
});

test('naming again what lies beyond the key’s branches does not show it', async () => {
  const dealer = await dealership();
  const north = await dealer.newBranch();
  const customer = await dealer.api.post('/v1/customers', { ...kim, branch_id: dealer.branch.id }).succeeds(201);
  const vehicle = await dealer.api.post('/v1/vehicles', { ...car, branch_id: dealer.branch.id }).succeeds(201);
  const named = { customer_id: customer.id, vehicle_id: vehicle.id };
  const enquiry = await dealer.api.post('/v1/enquiries', { ...named, branch_id: north.id }).succeeds(201);

  const restricted = await dealer.apiWith({ branchIds: [north.id] });
  const again = await restricted.patch(`/v1/enquiries/${enquiry.id}`, { ...named, message: 'Still interested.' }).succeeds();
  assert.deepEqual([again.customer_id, again.vehicle_id, again.customer, again.vehicle], [customer.id, vehicle.id, null, null]);
});

test('an enquiry is at a branch the key reaches, and moves where it may', async () => {
  const { api, apiWith, branch, newBranch } = await dealership();
  const [b, c] = [await newBranch(), await newBranch()];
  const [ofB, two] = [await apiWith({ branchIds: [b.id] }), await apiWith({ branchIds: [b.id, c.id] })];
  const enquiry = await ofB.post('/v1/enquiries', { contact: kim }).succeeds(201);
  assert.equal(enquiry.branch_id, b.id);
  assert.deepEqual(Object.keys((await two.post('/v1/enquiries', { contact: kim }).refuses(422, 'validation_failed')).errors), [
    'branch_id',
  ]);
  await two.post('/v1/enquiries', { contact: kim, branch_id: branch.id }).refuses(403, 'branch_move_not_permitted');
  await ofB.patch(`/v1/enquiries/${enquiry.id}`, { branch_id: c.id }).refuses(403, 'branch_move_not_permitted');
  const moved = await two.patch(`/v1/enquiries/${enquiry.id}`, { branch_id: c.id }).succeeds();
  assert.equal(moved.branch.id, c.id);
  await ofB.get(`/v1/enquiries/${enquiry.id}`).refuses(404, 'not_found');
  assert.deepEqual(await ofB.get('/v1/enquiries').succeeds(), []);
  assert.equal((await api.get(`/v1/enquiries?branch_id=${c.id}`).succeeds()).length, 1);
});

test('a note is signed by whoever writes it, moves updated_at and is told as a change', async () => {
  const dealer = await dealership();
  const { api, keyId } = dealer;
  const { id } = await api.post('/v1/enquiries', { contact: kim }).succeeds(201);
  const created = await api.post(`/v1/enquiries/${id}/notes`, { body: ' Rang back ' });
  assert.deepEqual([created.status, created.headers.location], [201, undefined]);
  const note = created.body.data;
  assert.deepEqual([note.body, note.author], ['Rang back', { id: keyId, name: 'A key', kind: 'api' }]);
  await api.post(`/v1/enquiries/${id}/notes`, { body: 'And again' }).succeeds(201);
  const enquiry = await api.get(`/v1/enquiries/${id}`).succeeds();
  assert.deepEqual(
    enquiry.notes.map(({ body }: { body: string }) => body),
    ['Rang back', 'And again'],
  );
  assert.deepEqual(enquiry.notes[0], note);
  const last = (await eventsOf(dealer)).at(-1);
  assert.deepEqual([last?.type, last?.data.changed, last?.data.object.notes.length], ['enquiry.updated', ['notes'], 2]);
  assert.equal(enquiry.updated_at, enquiry.notes[1].created_at);
});

test('in the sandbox nobody is told whose key wrote a note, and there are enquiries in every status', async () => {
  const { apiWith } = await dealership();
  const api = await apiWith({ environment: 'test', name: 'Secret project' });
  const { id } = await api
    .post('/v1/enquiries', { contact: kim, branch_id: (await api.get('/v1/branches').succeeds())[0].id })
    .succeeds(201);
  assert.deepEqual((await api.post(`/v1/enquiries/${id}/notes`, { body: 'x' }).succeeds(201)).author, {
    id: null,
    name: 'A test key',
    kind: 'api',
  });
  const seeded: { status: string }[] = await api.get('/v1/enquiries?limit=100').succeeds();
  assert.deepEqual([...new Set(seeded.map(({ status }) => status))].sort(), [...enquiryStatuses].sort());
});

test('a part exchange is cleared until it is appraised; from then on neither it nor the enquiry goes', async () => {
  const dealer = await dealership();
  const { api, ctx } = dealer;
  const { id, part_exchange: first } = await api
    .post('/v1/enquiries', { contact: kim, part_exchange: { registration: 'AB12CDE' } })
    .succeeds(201);
  const path = `/v1/enquiries/${id}`;
  assert.equal((await api.patch(path, { part_exchange: null }).succeeds()).part_exchange, null);
  assert.equal((await api.patch(path, { part_exchange: {} }).succeeds()).part_exchange, null);
  const { part_exchange: second } = await api.patch(path, { part_exchange: { registration: 'XY12ZZZ' } }).succeeds();
  assert.notEqual(second.id, first.id);
  await assert.rejects(appraisePartExchange(ctx, id, 3_250.5), { code: 'validation_failed' });
  await appraisePartExchange(ctx, id, 325_000);
  const appraised = await api.get(path).succeeds();
  assert.deepEqual(
    [appraised.part_exchange.valuation, appraised.part_exchange.valued_at],
    [{ amount: 325_000, currency: 'GBP' }, appraised.updated_at],
  );
  await api.patch(path, { part_exchange: null }).refuses(409, 'enquiry_has_part_exchange');
  await api.delete(path).refuses(409, 'enquiry_has_part_exchange');
  assert.equal((await api.patch(path, { part_exchange: { mileage: 10 } }).succeeds()).part_exchange.valuation.amount, 325_000);
  const told = (await eventsOf(dealer)).filter(({ type }) => type === 'enquiry.updated').map(({ data }) => data.changed);
  assert.deepEqual(told, Array(4).fill(['part_exchange']));
});

test('a write that changes nothing succeeds, emits nothing and leaves updated_at', async () => {
  const dealer = await dealership();
  const { api } = dealer;
  const enquiry = await api
    .post('/v1/enquiries', {
      contact: kim,
      finance: { deposit: 5 },
      marketing_consent: { email: true },
      next_action_at: '2026-05-01T09:00:00.75Z',
    })
    .succeeds(201);
  const { contact, marketing_consent, next_action_at, customer_id, status, metadata } = enquiry;
  const same = { contact, marketing_consent, next_action_at, customer_id, status, metadata, finance: { deposit: 5 }, wanted: null };
  assert.deepEqual(await api.patch(`/v1/enquiries/${enquiry.id}`, same).succeeds(), enquiry);
  assert.deepEqual(await typesOf(dealer), ['enquiry.created', 'customer.created']);
});

test('an external_id is unique among the living', async () => {
  const { api } = await dealership();
  const first = await api.post('/v1/enquiries', { contact: kim, external_id: 'x' }).succeeds(201);
  const second = await api.post('/v1/enquiries', { contact: kim, external_id: 'y' }).succeeds(201);
  await api.post('/v1/enquiries', { contact: kim, external_id: 'x' }).refuses(409, 'external_id_taken');
  await api.patch(`/v1/enquiries/${second.id}`, { external_id: 'x' }).refuses(409, 'external_id_taken');
  await api.delete(`/v1/enquiries/${first.id}`).succeeds();
  await api.patch(`/v1/enquiries/${second.id}`, { external_id: 'x' }).succeeds();
});

test('an enquiry sent twice with one Idempotency-Key is one enquiry of one customer', async () => {
  const dealer = await dealership();
  const once = { 'idempotency-key': 'lead-1' };
  const [a, b] = [
    await dealer.api.post('/v1/enquiries', { contact: kim }, once),
    await dealer.api.post('/v1/enquiries', { contact: kim }, once),
  ];
  assert.deepEqual([b.status, b.body.data, b.headers['idempotent-replayed']], [201, a.body.data, 'true']);
  assert.deepEqual(await typesOf(dealer), ['enquiry.created', 'customer.created']);
});

test('enquiries are filtered by what they are, who asks, whom and what they are about, and whether somebody has answered', async () => {
  const { api, owner } = await dealership();
  const vehicle = await api.post('/v1/vehicles', car).succeeds(201);
  const a = await api
    .post('/v1/enquiries', {
      contact: kim,
      vehicle_id: vehicle.id,
      assigned_to_id: owner.id,
      type: 'FINANCE',
      source: 'PHONE',
      external_id: 'a',
    })
    .succeeds(201);
  const b = await api.post('/v1/enquiries', { contact: { last_name: 'Elm', phone: '020 7946 0123' } }).succeeds(201);
  await api.patch(`/v1/enquiries/${a.id}`, { status: 'CONTACTED' }).succeeds();
  const found = async (query: string) => (await api.get(`/v1/enquiries?${query}`).succeeds()).map(({ id }: { id: string }) => id).sort();
  const both = [a.id, b.id].sort();
  const answers: [string, string[]][] = [
    ['status=CONTACTED', [a.id]],
    ['status=NEW,CONTACTED', both],
    ['type=FINANCE', [a.id]],
    ['source=API', [b.id]],
    [`customer_id=${a.customer_id}`, [a.id]],
    [`customer_id=${a.customer_id},${b.customer_id}`, both],
    [`vehicle_id=${vehicle.id}`, [a.id]],
    [`assigned_to_id=${owner.id}`, [a.id]],
    ['email=KIM.ASH@customer.example', [a.id]],
    ['phone=07700900123', [a.id]],
    ['phone=02079460123,07700900123', both],
    ['unanswered=true', [b.id]],
    ['unanswered=false', [a.id]],
    ['external_id=a', [a.id]],
    ['status=NEW&type=FINANCE', []],
  ];
  for (const [query, ids] of answers) assert.deepEqual(await found(query), ids, query);
  const { errors } = await api.get('/v1/enquiries?status=SLEEPING').refuses(422, 'validation_failed');
  assert.match(JSON.stringify(errors), /enquiry-statuses/);
  await api.get('/v1/enquiries?phone=abc').refuses(422, 'validation_failed');
  await api.patch(`/v1/enquiries/${b.id}`, { status: 'DISQUALIFIED' }).succeeds();
  assert.deepEqual(await found('unanswered=true'), [], 'a closed one waits for no answer');
  await api.delete(`/v1/enquiries/${b.id}`).succeeds();
  assert.deepEqual(await found('include_deleted=true&status=CONTACTED'), both, 'tombstones pass the filters');
  assert.deepEqual(await found('include_deleted=true&external_id=a'), [a.id]);
});
