import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setUser } from '#modules/staff/index.ts';
import type { Dealership } from '../../../test/support/dealership.ts';
import { dealership } from '../../../test/support/dealership.ts';
import { noteOwnedVehicle } from './index.ts';

const nobody = '00000000-0000-4000-8000-000000000000';
const ash = { first_name: 'Kim', last_name: 'Ash', email: 'kim.ash@customer.example' };

type Json = ReturnType<typeof JSON.parse>;

const eventsOf = async ({ service, id }: Dealership, resourceId: string): Promise<{ type: string; data: Json }[]> => {
  const { rows } = await service.pools.doors.query(
    'select type, data from event where dealer_id = $1 and resource_id = $2 order by sequence',
    [id, resourceId],
  );
  return rows.map(({ type, data }) => ({ type, data: JSON.parse(data) }));
};

test('a customer is created, read, changed and deleted', async () => {
  const dealer = await dealership();
  const { api } = dealer;
  const created = await api.post('/v1/customers', {
    ...ash,
    external_id: 'c-1',
    email: ' Kim.Ash@Customer.EXAMPLE ',
    mobile: '07700 900123',
    phone: '(020) 7946 0123',
    address: { line1: '1 Station Road', postcode: 'bs14dj' },
    marketing_consent: { email: true, wording: 'Yes please' },
    tags: ['fleet', 'fleet', 'vip'],
    metadata: { lot: '7' },
  });
  assert.equal(created.status, 201);
  const { duplicate_of_candidates: duplicates, ...customer } = created.body.data;
  assert.deepEqual(duplicates, []);
  assert.equal(created.headers.location, `/v1/customers/${customer.id}`);
  assert.equal(customer.reference, 'CUS-000001');
  assert.deepEqual([customer.email, customer.mobile, customer.phone], ['kim.ash@customer.example', '+447700900123', '+442079460123']);
  assert.deepEqual([customer.type, customer.display_name, customer.do_not_contact], ['INDIVIDUAL', 'Kim Ash', false]);
  assert.deepEqual(customer.branch, { id: dealer.branch.id, name: dealer.branch.name });
  assert.deepEqual(customer.address, {
    line1: '1 Station Road',
    line2: null,
    city: null,
    county: null,
    postcode: 'BS1 4DJ',
    country: null,
  });
  const { recorded_at: recordedAt, ...consent } = customer.marketing_consent;
  assert.deepEqual(consent, { email: true, sms: false, phone: false, post: false, wording: 'Yes please' });
  assert.equal(recordedAt, customer.created_at);
  assert.deepEqual(customer.tags, ['fleet', 'vip']);
  assert.deepEqual([customer.enquiry_count, customer.deal_count, customer.last_contacted_at, customer.owned_vehicles], [0, 0, null, []]);
  assert.deepEqual(await api.get(`/v1/customers/${customer.id}`).succeeds(), customer);
  const { owned_vehicles: _cars, ...listed } = customer;
  assert.deepEqual(await api.get('/v1/customers').succeeds(), [listed]);

  const changed = await api
    .patch(`/v1/customers/${customer.id}`, {
      company_name: 'Ash Ltd',
      type: 'BUSINESS',
      phone: null,
      address: { city: 'Bristol', line1: null },
      tags: null,
      metadata: { lot: null },
    })
    .succeeds();
  assert.deepEqual([changed.display_name, changed.phone, changed.tags, changed.metadata], ['Ash Ltd', null, [], {}]);
  assert.deepEqual([changed.address.line1, changed.address.city, changed.address.postcode], [null, 'Bristol', 'BS1 4DJ']);

  const tombstone = await api.delete(`/v1/customers/${customer.id}`).succeeds();
  assert.deepEqual(Object.keys(tombstone).sort(), ['deleted', 'deleted_at', 'id']);
  await api.get(`/v1/customers/${customer.id}`).refuses(404, 'not_found');
  await api.patch(`/v1/customers/${customer.id}`, { title: 'Dr' }).refuses(404, 'not_found');
  await api.delete(`/v1/customers/${customer.id}`).refuses(404, 'not_found');
  assert.deepEqual(await api.get('/v1/customers').succeeds(), []);
  assert.deepEqual(await api.get('/v1/customers?include_deleted=true&q=nobody').succeeds(), [tombstone]);

  const events = await eventsOf(dealer, customer.id);
  assert.deepEqual(
    events.map(({ type }) => type),
    ['customer.created', 'customer.updated', 'customer.deleted'],
  );
  assert.deepEqual(events[0]?.data.object, { ...customer, branch: null });
  assert.deepEqual(events[1]?.data.changed.toSorted(), ['address', 'company_name', 'display_name', 'metadata', 'phone', 'tags', 'type']);
  assert.deepEqual(events[2]?.data.object, tombstone);
  const { rows } = await dealer.service.pools.doors.query('select action from activity where record_id = $1 order by at', [customer.id]);
  assert.deepEqual(
    rows.map(({ action }) => action),
    ['created', 'updated', 'deleted'],
  );
});

test('only a key with the scope and its owner’s permission reaches customers', async () => {
  const { api, apiWith, newUser, ctx } = await dealership();
  const { id } = await api.post('/v1/customers', ash).succeeds(201);
  const member = await newUser();
  const [none, reading, writing, ofMember, publishable] = [
    await apiWith({ scopes: ['vehicles:read', 'enquiries:read', 'enquiries:write'] }),
    await apiWith({ scopes: ['customers:read'] }),
    await apiWith({ scopes: ['customers:write'] }),
    await apiWith({ scopes: ['customers:read', 'customers:write'], ownerId: member.id }),
    await apiWith({ kind: 'publishable' }),
  ];
  await setUser(ctx, member.email, { without: ['CUSTOMERS_VIEW', 'CUSTOMERS_EDIT'] });
  const path = `/v1/customers/${id}`;
  for (const [ask, allowed] of [
    [(of: typeof api) => of.get('/v1/customers'), reading],
    [(of: typeof api) => of.get(path), reading],
    [(of: typeof api) => of.post('/v1/customers', ash), writing],
    [(of: typeof api) => of.patch(path, { title: 'Dr' }), writing],
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

test('what is wrong with a customer is said by field', async () => {
  const { api } = await dealership();
  const fields = async (body: object) =>
    Object.keys((await api.post('/v1/customers', body).refuses(422, 'validation_failed')).errors).sort();
  assert.deepEqual(await fields({}), ['email', 'last_name']);
  assert.deepEqual(await fields({ first_name: 'Kim', phone: null }), ['email', 'last_name']);
  assert.deepEqual(await fields({ ...ash, mobile: 'soon', phone: '12' }), ['mobile', 'phone']);
  assert.deepEqual(
    await fields({ ...ash, surname: 'Ash', tags: [''], type: 'ALIEN', preferred_contact_method: 'PIGEON', reference: 'x' }),
    ['preferred_contact_method', 'reference', 'surname', 'tags.0', 'type'],
  );
  assert.deepEqual(await fields({ ...ash, address: { street: 'x' } }), ['address.street']);
  assert.deepEqual(await fields({ ...ash, tags: Array.from({ length: 21 }, (_, i) => `${i}`) }), ['tags']);
  assert.deepEqual(await fields({ ...ash, branch_id: nobody }), ['branch_id']);
  assert.deepEqual(await fields({ ...ash, email: 'kim' }), ['email']);
  const { id } = await api.post('/v1/customers', ash).succeeds(201);
  const { errors } = await api.patch(`/v1/customers/${id}`, { last_name: null, email: null }).refuses(422, 'validation_failed');
  assert.deepEqual(Object.keys(errors).sort(), ['email', 'last_name']);
  await api.post('/v1/customers', { company_name: 'Ash Ltd', phone: '020 7946 0123' }).succeeds(201);
});

test('a write that changes nothing succeeds, emits nothing and leaves updated_at', async () => {
  const dealer = await dealership();
  const { duplicate_of_candidates: _none, ...customer } = await dealer.api
    .post('/v1/customers', { ...ash, mobile: '07700 900123', marketing_consent: { sms: true }, metadata: { a: 'b' } })
    .succeeds(201);
  const path = `/v1/customers/${customer.id}`;
  const { marketing_consent: consent, email, mobile, tags, metadata } = customer;
  const same = { email: email.toUpperCase(), mobile: mobile.replace('+44', '0'), marketing_consent: consent, tags, metadata };
  assert.deepEqual(await dealer.api.patch(path, same).succeeds(), customer);
  assert.deepEqual(await dealer.api.patch(path, { marketing_consent: { sms: true }, do_not_contact: null }).succeeds(), customer);
  assert.equal((await eventsOf(dealer, customer.id)).length, 1);
});

test('a consent is of the moment it is given, or of the one it names', async () => {
  const { api, clock } = await dealership();
  clock.set('2099-03-01T10:00:00.5Z');
  const { id, marketing_consent: first } = await api.post('/v1/customers', { ...ash, marketing_consent: { email: true } }).succeeds(201);
  assert.equal(first.recorded_at, '2099-03-01T10:00:00Z');
  const change = async (marketing_consent: object | null) =>
    (await api.patch(`/v1/customers/${id}`, { marketing_consent }).succeeds()).marketing_consent;
  clock.set('2099-03-02T10:00:00Z');
  assert.deepEqual(await change({ post: null }), first, 'nothing else is said');
  assert.deepEqual(await change({ email: null, phone: true }), {
    ...first,
    email: false,
    phone: true,
    recorded_at: '2099-03-02T10:00:00Z',
  });
  assert.equal((await change({ recorded_at: '2025-12-24T18:00:00+01:00' })).recorded_at, '2025-12-24T17:00:00Z');
  assert.equal(await change(null), null);
  clock.release();
});

test('an external_id is unique among the living, whatever branches the key sees', async () => {
  const { api, apiWith, branch, newBranch } = await dealership();
  const elsewhere = await apiWith({ branchIds: [(await newBranch()).id] });
  const first = await api.post('/v1/customers', { ...ash, external_id: 'x', branch_id: branch.id }).succeeds(201);
  const second = await elsewhere.post('/v1/customers', { ...ash, external_id: 'y' }).succeeds(201);
  await elsewhere.post('/v1/customers', { ...ash, external_id: 'x' }).refuses(409, 'external_id_taken');
  await elsewhere.patch(`/v1/customers/${second.id}`, { external_id: 'x' }).refuses(409, 'external_id_taken');
  await api.patch(`/v1/customers/${first.id}`, { external_id: 'x' }).succeeds();
  await api.delete(`/v1/customers/${first.id}`).succeeds();
  assert.equal((await elsewhere.patch(`/v1/customers/${second.id}`, { external_id: 'x' }).succeeds()).external_id, 'x');
});

test('duplicates are allowed, and named: whoever has the e-mail or a number, namesakes first', async () => {
  const { api, apiWith, newBranch } = await dealership();
  const make = async (body: object) => await api.post('/v1/customers', { last_name: 'Ash', ...body }).succeeds(201);
  const family = await make({ last_name: 'Elm', email: ash.email });
  const number = await make({ mobile: '07700 900123' });
  await make({ email: 'other@customer.example', phone: '020 7946 0000' });
  const again = await make({ email: ash.email, phone: '07700 900123' });
  assert.deepEqual(again.duplicate_of_candidates, [number.id, family.id]);
  const elsewhere = await apiWith({ branchIds: [(await newBranch()).id] });
  assert.deepEqual((await elsewhere.post('/v1/customers', ash).succeeds(201)).duplicate_of_candidates, [], 'none of another branch');
});

test('what is counted of a customer is what the key may see; events count everything', async () => {
  const dealer = await dealership();
  const { api, apiWith, branch, newBranch } = dealer;
  const away = await newBranch();
  const { id } = await api.post('/v1/customers', { ...ash, branch_id: branch.id }).succeeds(201);
  for (const branch_id of [branch.id, away.id]) {
    await api.post('/v1/enquiries', { customer_id: id, branch_id }).succeeds(201);
    await api.post('/v1/deals', { customer_id: id, branch_id }).succeeds(201);
  }
  const [latest] = await api.get(`/v1/enquiries?branch_id=${away.id}`).succeeds();
  await api.patch(`/v1/enquiries/${latest.id}`, { status: 'CONTACTED' }).succeeds();
  const counts = (customer: Json) => [customer.enquiry_count, customer.deal_count, customer.last_contacted_at !== null];
  const here = await apiWith({ branchIds: [branch.id] });
  const path = `/v1/customers/${id}`;
  for (const [reader, expected] of [
    [api, [2, 2, true]],
    [here, [1, 1, false]],
  ] as const) {
    assert.deepEqual(counts(await reader.get(path).succeeds()), expected);
    assert.deepEqual(counts((await reader.get('/v1/customers').succeeds())[0]), expected);
    assert.deepEqual(counts(await reader.patch(path, { tags: [expected.join()] }).succeeds()), expected);
    const { data } = (await eventsOf(dealer, id)).at(-1)!;
    assert.deepEqual(counts(data.object), [2, 2, true]);
  }
});

test('a customer with an enquiry that is not deleted stays, whichever branch the enquiry is of', async () => {
  const { api, apiWith, branch, newBranch } = await dealership();
  const away = await newBranch();
  const { id } = await api.post('/v1/customers', { ...ash, branch_id: branch.id }).succeeds(201);
  const enquiry = await api.post('/v1/enquiries', { customer_id: id, branch_id: away.id }).succeeds(201);
  const here = await apiWith({ branchIds: [branch.id] });
  const refusal = await here.delete(`/v1/customers/${id}`).refuses(409, 'customer_has_enquiries');
  assert.match(refusal.message, /an enquiry/);
  await api.delete(`/v1/enquiries/${enquiry.id}`).succeeds();
  await here.delete(`/v1/customers/${id}`).succeeds();
});

test('a customer’s home branch is the default, the only one of the key, or one it reaches', async () => {
  const { api, apiWith, branch, newBranch } = await dealership();
  const [b, c] = [await newBranch(), await newBranch()];
  const customer = await api.post('/v1/customers', ash).succeeds(201);
  assert.equal(customer.branch_id, branch.id);
  const ofB = await apiWith({ branchIds: [b.id] });
  assert.equal((await ofB.post('/v1/customers', ash).succeeds(201)).branch_id, b.id);
  const two = await apiWith({ branchIds: [b.id, c.id] });
  assert.deepEqual(Object.keys((await two.post('/v1/customers', ash).refuses(422, 'validation_failed')).errors), ['branch_id']);
  await two.post('/v1/customers', { ...ash, branch_id: branch.id }).refuses(403, 'branch_move_not_permitted');
  const moved = await api.patch(`/v1/customers/${customer.id}`, { branch_id: b.id }).succeeds();
  assert.equal(moved.branch.id, b.id);
  await ofB.patch(`/v1/customers/${customer.id}`, { branch_id: c.id }).refuses(403, 'branch_move_not_permitted');
  await two.get(`/v1/customers/${customer.id}`).succeeds();
  await (await apiWith({ branchIds: [c.id] })).get(`/v1/customers/${customer.id}`).refuses(404, 'not_found');
});

test('an address of any length is a 422, and so is a name of which nothing can be seen', async () => {
  const { api } = await dealership();
  const long = `a@${'a.'.repeat(4_500_000)}b`;
  const refused = await api.post('/v1/customers', { ...ash, email: long }).refuses(422, 'validation_failed');
  assert.deepEqual(Object.keys(refused.errors), ['email']);
  const unseen = await api.post('/v1/customers', { ...ash, last_name: '\u200b' }).refuses(422, 'validation_failed');
  assert.deepEqual(Object.keys(unseen.errors), ['last_name']);
});

test('a consent that says nothing is none', async () => {
  const { api } = await dealership();
  const { id, updated_at } = await api.post('/v1/customers', ash).succeeds(201);
  for (const marketing_consent of [{}, { email: null }, { wording: null }]) {
    const customer = await api.patch(`/v1/customers/${id}`, { marketing_consent }).succeeds();
    assert.deepEqual([customer.marketing_consent, customer.updated_at], [null, updated_at]);
  }
});

test('a customer of whom an enquiry gave a first name alone is changed as it was read', async () => {
  const { api } = await dealership();
  const contact = { first_name: 'Kim', email: 'kim@customer.example' };
  const { customer_id } = await api.post('/v1/enquiries', { contact }).succeeds(201);
  const { first_name, last_name, company_name } = await api.get(`/v1/customers/${customer_id}`).succeeds();
  const again = await api.patch(`/v1/customers/${customer_id}`, { first_name, last_name, company_name, title: 'Dr' }).succeeds();
  assert.deepEqual([again.first_name, again.last_name, again.title], ['Kim', null, 'Dr']);
});

test('customers are found by address, number, name, postcode, car and what they are', async () => {
  const dealer = await dealership();
  const { api } = dealer;
  const kim = await api
    .post('/v1/customers', { ...ash, mobile: '07700 900123', address: { postcode: 'BS1 4DJ' }, external_id: 'k' })
    .succeeds(201);
  const zoe = await api
    .post('/v1/customers', {
      first_name: 'Zoé',
      last_name: 'Ashfield',
      company_name: '100% Ash Ltd',
      type: 'BUSINESS',
      phone: '020 7946 0123',
    })
    .succeeds(201);
  const car = {
    registration: 'AB12CDE',
    vin: null,
    make: 'Ford',
    model: null,
    mileage: 12,
    mot_expires_on: '2026-09-01',
    next_service_on: null,
  };
  await noteOwnedVehicle(dealer.ctx, kim.id, car);
  const found = async (query: string) => (await api.get(`/v1/customers?${query}`).succeeds()).map(({ id }: { id: string }) => id).sort();
  const both = [kim.id, zoe.id].sort();
  const answers: [string, string[]][] = [
    ['email=KIM.ASH@customer.example', [kim.id]],
    ['email=kim.ash@customer.example,nobody@customer.example', [kim.id]],
    [`phone=${encodeURIComponent('+44 7700 900123')}`, [kim.id]],
    ['phone=07700900123', [kim.id]],
    ['phone=02079460123,07700900123', both],
    ['q=ash', both],
    ['q=ASHF', [zoe.id]],
    ['q=zoe ash', [zoe.id]],
    ['q=k', [kim.id]],
    ['q=100%25', [zoe.id]],
    ['q=%25', []],
    ['q=sh', []],
    ['postcode=bs14dj', [kim.id]],
    ['registration=ab12 cde', [kim.id]],
    ['registration=ZZ99ZZZ', []],
    ['type=BUSINESS', [zoe.id]],
    ['external_id=k', [kim.id]],
    ['type=BUSINESS&email=kim.ash@customer.example', []],
  ];
  for (const [query, ids] of answers) assert.deepEqual(await found(query), ids, query);
  for (const [query, field] of [
    ['phone=abc', 'phone'],
    ['email=kim', 'email'],
    ['type=ALIEN', 'type'],
    ['surname=Ash', 'surname'],
  ] as const) {
    assert.deepEqual(Object.keys((await api.get(`/v1/customers?${query}`).refuses(422, 'validation_failed')).errors), [field]);
  }
  await api.delete(`/v1/customers/${zoe.id}`).succeeds();
  assert.deepEqual(await found('include_deleted=true&email=kim.ash@customer.example'), both, 'tombstones pass the filters');
  assert.deepEqual(await found('include_deleted=true&external_id=k'), [kim.id]);
});

test('the cars known to be a customer’s are read with it', async () => {
  const dealer = await dealership();
  const { id } = await dealer.api.post('/v1/customers', ash).succeeds(201);
  const car = {
    registration: 'AB12CDE',
    vin: null,
    make: 'Ford',
    model: 'Focus',
    mileage: 10,
    mot_expires_on: '2026-09-01',
    next_service_on: null,
  };
  await assert.rejects(noteOwnedVehicle(dealer.ctx, id, { ...car, mileage: -1 }), { code: 'validation_failed' });
  await noteOwnedVehicle(dealer.ctx, id, { ...car, registration: 'ab12 cde' });
  await noteOwnedVehicle(dealer.ctx, id, { ...car, mileage: 20 });
  await noteOwnedVehicle(dealer.ctx, id, { ...car, mileage: 20 });
  const { owned_vehicles: cars } = await dealer.api.get(`/v1/customers/${id}`).succeeds();
  assert.deepEqual(cars, [{ id: cars[0].id, ...car, mileage: 20 }]);
  const events = await eventsOf(dealer, id);
  assert.deepEqual(
    events.map(({ type, data }) => [type, data.changed]),
    [
      ['customer.created', undefined],
      ['customer.updated', ['owned_vehicles']],
      ['customer.updated', ['owned_vehicles']],
    ],
  );
  assert.deepEqual(events[2]?.data.object.owned_vehicles, cars);
});
