import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Dealership } from '../support/dealership.ts';
import { dealership } from '../support/dealership.ts';
import type { Mcp } from '../support/mcp.ts';
import { assistant } from '../support/mcp.ts';

const nobody = '00000000-0000-0000-0000-000000000000';
let home: Dealership;
let mcp: Mcp;

before(async () => {
  home = await dealership();
  mcp = assistant(home.app, home.api.key);
});

const car = (fields: object = {}) =>
  home.api.post('/v1/vehicles', { condition: 'USED', make: 'Ford', model: 'Fiesta', ...fields }).succeeds(201);

/** The fields of a record that something shows of it. */
const asShown = (shown: object, record: Record<string, unknown>) =>
  Object.fromEntries(Object.keys(shown).map((name) => [name, record[name]]));

// ---- Vehicles ----

test('search_vehicles answers in brief what the list of vehicles does, filtered by status, make, model or registration', async () => {
  const { api, app } = await dealership();
  const there = assistant(app, api.key);
  const make = (fields: object) => api.post('/v1/vehicles', { condition: 'USED', make: 'Ford', model: 'Fiesta', ...fields }).succeeds(201);
  await make({ registration: 'AB12 CDE', status: 'FOR_SALE', asking_price: 1_299_500 });
  await make({ model: 'Focus', status: 'DUE_IN' });
  await make({ make: 'Škoda', model: 'Octavia' });
  for (const [input, query] of [
    [{}, ''],
    [{ status: 'FOR_SALE' }, '?status=FOR_SALE'],
    [{ make: 'ford' }, '?make=ford'],
    [{ model: 'FOCUS' }, '?model=FOCUS'],
    [{ registration: 'ab12-cde' }, '?registration=ab12-cde'],
    [{ make: 'Ford', status: 'DUE_IN' }, '?make=Ford&status=DUE_IN'],
    [{ make: 'Nobody’s' }, '?make=Nobody’s'],
  ] as const) {
    const { vehicles, next_cursor: cursor } = await there.call('search_vehicles', input);
    const data = await api.get(`/v1/vehicles${query}`).succeeds();
    assert.deepEqual(
      vehicles,
      data.map((record: Record<string, unknown>) => asShown(vehicles[0], record)),
      query,
    );
    assert.equal(cursor, null);
  }
});

test('search_vehicles shows of a vehicle what tells it from others, and what it is offered for', async () => {
  const { id } = await car();
  const { vehicles } = await mcp.call('search_vehicles', { limit: 50 });
  const shown = vehicles.find((one: { id: string }) => one.id === id);
  assert.equal(
    Object.keys(shown).sort().join(' '),
    'asking_price body_type branch branch_id colour condition days_in_stock deal_id derivative fuel_type id make mileage mileage_unit model ' +
      'previous_asking_price price_on_application registration status stock_number title transmission type updated_at website_visible year_of_manufacture',
  );
});

test('a cursor leads on in the list it came from alone: of the same tool, filters and dealership', async () => {
  const { api, app, newKey } = await dealership();
  const there = assistant(app, api.key);
  const contact = { last_name: 'Rowan', email: 'cursor@customer.example' };
  for (let n = 0; n < 2; n++) {
    await api.post('/v1/vehicles', { condition: 'USED', make: 'Ford', model: 'Fiesta' }).succeeds(201);
    await api.post('/v1/enquiries', { contact }).succeeds(201);
  }
  const { next_cursor: cursor } = await there.call('search_vehicles', { limit: 1 });
  assert.equal((await there.call('search_vehicles', { limit: 1, cursor })).vehicles.length, 1);
  assert.equal((await assistant(app, (await newKey()).key).call('search_vehicles', { limit: 1, cursor })).vehicles.length, 1);
  for (const [who, tool, input] of [
    [there, 'list_enquiries', {}],
    [there, 'search_vehicles', { make: 'Ford' }],
    [mcp, 'search_vehicles', {}],
  ] as const) {
    const { errors } = await who.refuses(tool, { ...input, limit: 1, cursor }, 'validation_failed');
    assert.deepEqual(Object.keys(errors), ['cursor'], tool);
  }
});

test('what is wrong with a filter is told in words for a model: which codes there are, and to leave it out', async () => {
  for (const [tool, codes] of [
    ['search_vehicles', 'DUE_IN, IN_PREPARATION, FOR_SALE, RESERVED, SOLD, DELIVERED, NOT_FOR_SALE, DISPOSED'],
    ['list_enquiries', 'NEW, CONTACTED, APPOINTMENT, NEGOTIATING, WON, LOST, DISQUALIFIED'],
    ['list_deals', 'QUOTE, RESERVED, ORDERED, SOLD, DELIVERED, CANCELLED'],
  ] as const) {
    const { errors } = await mcp.refuses(tool, { status: 'for sale' }, 'validation_failed');
    assert.deepEqual(errors, { status: [`Not one of ${codes}. Leave it out for all.`] });
  }
  for (const [tool, field] of [
    ['search_vehicles', 'make'],
    ['search_vehicles', 'model'],
    ['get_vehicle', 'stock_number'],
    ['search_customers', 'phone'],
  ] as const) {
    for (const [empty, said] of [
      ['', 'Must not be empty. Leave it out.'],
      ['\u2060', 'Nothing in it can be seen. Leave it out.'],
    ] as const) {
      const { errors } = await mcp.refuses(tool, { [field]: empty }, 'validation_failed');
      assert.ok(errors[field].includes(said), JSON.stringify(errors));
      assert.doesNotMatch(JSON.stringify(errors), /Send null/);
    }
  }
});

test('a list goes on where its cursor leads, through every record once, and its cursor is the list’s own', async () => {
  const { api, app } = await dealership();
  const there = assistant(app, api.key);
  for (let n = 0; n < 5; n++) await api.post('/v1/vehicles', { condition: 'USED', make: 'Ford', model: `Model ${n}` }).succeeds(201);
  const seen: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const { vehicles, next_cursor: next } = await there.call('search_vehicles', { limit: 2, ...(cursor && { cursor }) });
    seen.push(...vehicles.map(({ model }: { model: string }) => model));
    if (next === null) break;
    assert.ok(seen.length < 5, 'it comes to an end');
    cursor = next;
    await api.get(`/v1/vehicles?limit=2&cursor=${next}`).succeeds();
  }
  assert.deepEqual(
    seen,
    [0, 1, 2, 3, 4].map((n) => `Model ${n}`),
  );
  const { errors } = await there.refuses('search_vehicles', { cursor: 'altered' }, 'validation_failed');
  assert.deepEqual(Object.keys(errors), ['cursor']);
});

test('a list has 20 records unless it is asked for 1 to 50', async () => {
  for (const limit of [0, 51, 2.5, '5']) {
    const { errors } = await mcp.refuses('search_vehicles', { limit }, 'validation_failed');
    assert.deepEqual(Object.keys(errors), ['limit'], String(limit));
  }
  const { tools } = await mcp.result('tools/list');
  const { default: preset, minimum, maximum } = tools[0].inputSchema.properties.limit;
  assert.deepEqual([preset, minimum, maximum], [20, 1, 50]);
});

test('get_vehicle answers what a single read does, by id, by registration in any form, and by stock number', async () => {
  const { id, stock_number } = await car({ registration: 'GH34 IJK' });
  const record = await home.api.get(`/v1/vehicles/${id}`).succeeds();
  for (const input of [{ id }, { registration: 'gh34 ijk' }, { stock_number }])
    assert.deepEqual(await mcp.call('get_vehicle', input), record);
});

test('of several vehicles with one registration the one that is still the dealership’s is read, then the newest', async () => {
  const registration = 'LM56 NOP';
  const gone = await car({ registration });
  await home.api.patch(`/v1/vehicles/${gone.id}`, { status: 'DISPOSED' }).succeeds();
  const later = await car({ registration });
  await home.api.patch(`/v1/vehicles/${later.id}`, { status: 'DISPOSED' }).succeeds();
  assert.equal((await mcp.call('get_vehicle', { registration })).id, later.id);
  const live = await car({ registration });
  await home.api.patch(`/v1/vehicles/${gone.id}`, { internal_notes: 'Touched last.' }).succeeds();
  assert.equal((await mcp.call('get_vehicle', { registration })).id, live.id);
  await home.api.delete(`/v1/vehicles/${live.id}`).succeeds();
  assert.equal((await mcp.call('get_vehicle', { registration })).id, later.id);
});

test('get_vehicle takes exactly one of id, registration and stock_number, and finds nothing of another dealership', async () => {
  for (const input of [{}, { id: nobody, registration: 'AB12 CDE' }]) {
    const { errors } = await mcp.refuses('get_vehicle', input, 'validation_failed');
    assert.deepEqual(errors, { id: ['Give exactly one of id, registration and stock_number.'] });
  }
  const stranger = await dealership();
  const { id } = await stranger.api
    .post('/v1/vehicles', { condition: 'USED', make: 'Ford', model: 'Fiesta', registration: 'QR78 STU' })
    .succeeds(201);
  const missing = await mcp.refuses('get_vehicle', { id: nobody }, 'not_found');
  for (const input of [{ id }, { registration: 'QR78 STU' }, { stock_number: 'none of ours' }]) {
    const { request_id: _one, ...foreign } = await mcp.refuses('get_vehicle', input, 'not_found');
    const { request_id: _other, ...expected } = missing;
    assert.deepEqual(foreign, expected);
  }
});

test('update_vehicle_price sets a price in minor units, tells the one it replaced, and emits what the operation does', async () => {
  const { id } = await car({ asking_price: 899_500 });
  const answer = await mcp.call('update_vehicle_price', { id, asking_price: 859_500 });
  assert.deepEqual(answer.asking_price, { amount: 859_500, currency: 'GBP' });
  assert.deepEqual(answer.previous_asking_price, { amount: 899_500, currency: 'GBP' });
  assert.deepEqual(answer.before, { asking_price: { amount: 899_500, currency: 'GBP' }, price_on_application: false });
  const poa = await mcp.call('update_vehicle_price', { id, price_on_application: true });
  assert.deepEqual([poa.asking_price, poa.price_on_application, poa.before.asking_price.amount], [null, true, 859_500]);
  const back = await mcp.call('update_vehicle_price', { id, asking_price: 0 });
  assert.deepEqual([back.asking_price.amount, back.price_on_application, back.before.price_on_application], [0, false, true]);

  const events = await home.api.get(`/v1/events?type=vehicle.updated&object_id=${id}`).succeeds();
  assert.equal(events.length, 3);
  assert.deepEqual([events[0].actor.kind, events[0].actor.id, events[0].data.changed], ['key', home.keyId, ['asking_price']]);
  await mcp.call('update_vehicle_price', { id, asking_price: 0 });
  assert.equal((await home.api.get(`/v1/events?type=vehicle.updated&object_id=${id}`).succeeds()).length, 3, 'the same price is no change');
});

test('a price is either an amount or on application, and whole minor units that are not negative', async () => {
  const { id } = await car({ asking_price: 1 });
  for (const [input, field] of [
    [{ id }, 'asking_price'],
    [{ id, asking_price: 5, price_on_application: true }, 'asking_price'],
    [{ id, price_on_application: false }, 'price_on_application'],
    [{ id, asking_price: -1 }, 'asking_price'],
    [{ id, asking_price: 12.5 }, 'asking_price'],
    [{ id, asking_price: '12995' }, 'asking_price'],
    [{ id: 'the red one', asking_price: 5 }, 'id'],
    [{ asking_price: 5 }, 'id'],
    [{ id, asking_price: 5, status: 'SOLD' }, 'status'],
  ] as const) {
    const { errors } = await mcp.refuses('update_vehicle_price', input, 'validation_failed');
    assert.ok(field in errors, JSON.stringify([input, errors]));
  }
  await mcp.refuses('update_vehicle_price', { id: nobody, asking_price: 5 }, 'not_found');
  assert.equal((await home.api.get(`/v1/vehicles/${id}`).succeeds()).asking_price.amount, 1);
});

test('a tool refuses with the code the operation has, and its text is the standard body', async () => {
  const { id } = await car({ asking_price: 899_500 });
  const contact = { last_name: 'Rowan', email: 'a@customer.example' };
  const enquiry = await home.api.post('/v1/enquiries', { contact }).succeeds(201);
  await home.api.post('/v1/deals', { vehicle_id: id, enquiry_id: enquiry.id, status: 'ORDERED' }).succeeds(201);
  const { message, doc_url, request_id } = await mcp.refuses('update_vehicle_price', { id, asking_price: 1 }, 'vehicle_in_deal');
  assert.equal(doc_url, 'http://127.0.0.1:4000/docs/errors#vehicle_in_deal');
  assert.match(request_id, /^req_/);
  const rest = await home.api.patch(`/v1/vehicles/${id}`, { asking_price: 1 }).refuses(409, 'vehicle_in_deal');
  assert.equal(message, rest.message);
});

test('stock_summary counts every status in the dealer’s words, and what is on sale', async () => {
  const { api, app, newBranch, newKey, branch } = await dealership();
  const there = assistant(app, api.key);
  const other = await newBranch();
  const make = (fields: object) => api.post('/v1/vehicles', { condition: 'USED', make: 'Ford', model: 'Fiesta', ...fields }).succeeds(201);
  await make({ status: 'FOR_SALE', asking_price: 9_999_999_999 });
  await make({ status: 'FOR_SALE', asking_price: 1, branch_id: other.id });
  await make({ status: 'FOR_SALE', price_on_application: true });
  await make({ status: 'RESERVED', asking_price: 500 });
  const { id } = await make({ status: 'FOR_SALE', asking_price: 5 });
  await api.delete(`/v1/vehicles/${id}`).succeeds();
  const { by_status: byStatus, on_sale: onSale } = await there.call('stock_summary');
  assert.deepEqual(onSale, { count: 3, asking_value: { amount: 10_000_000_000, currency: 'GBP' }, price_on_application_count: 1 });
  const names = await api.get('/v1/reference/vehicle-statuses').succeeds();
  assert.deepEqual(
    byStatus,
    names.map(({ code, name }: { code: string; name: string }) => ({ status: code, name, count: { FOR_SALE: 3, RESERVED: 1 }[code] ?? 0 })),
  );
  const ofBranch = await there.call('stock_summary', { branch_id: other.id });
  assert.deepEqual(ofBranch.on_sale, { count: 1, asking_value: { amount: 1, currency: 'GBP' }, price_on_application_count: 0 });
  const narrow = assistant(app, (await newKey({ branchIds: [other.id] })).key);
  assert.equal((await narrow.call('stock_summary', { branch_id: other.id })).on_sale.count, 1);
  for (const [who, branch_id] of [
    [there, nobody],
    [there, home.branch.id],
    [narrow, branch.id],
  ] as const) {
    const { errors } = await who.refuses('stock_summary', { branch_id }, 'validation_failed');
    assert.deepEqual(errors, { branch_id: ['No such branch is visible to this connection. Leave it out for all that are.'] });
  }
});

test('a tool sees and writes only what lies at the branches of its key', async () => {
  const { api, app, newBranch, newKey, branch } = await dealership();
  const other = await newBranch();
  const here = await api.post('/v1/vehicles', { condition: 'USED', make: 'Ford', model: 'Here', branch_id: branch.id }).succeeds(201);
  const elsewhere = await api.post('/v1/vehicles', { condition: 'USED', make: 'Ford', model: 'There', branch_id: other.id }).succeeds(201);
  const narrow = assistant(app, (await newKey({ branchIds: [branch.id], rateLimit: 1_000 })).key);
  const { vehicles } = await narrow.call('search_vehicles');
  assert.deepEqual(
    vehicles.map(({ id }: { id: string }) => id),
    [here.id],
  );
  await narrow.refuses('get_vehicle', { id: elsewhere.id }, 'not_found');
  await narrow.refuses('get_vehicle', { stock_number: elsewhere.stock_number }, 'not_found');
  await narrow.refuses('update_vehicle_price', { id: elsewhere.id, asking_price: 5 }, 'not_found');
  const { by_status: byStatus } = await narrow.call('stock_summary');
  assert.equal(
    byStatus.reduce((sum: number, { count }: { count: number }) => sum + count, 0),
    1,
  );
  await narrow.refuses(
    'create_enquiry',
    { contact: { last_name: 'Rowan', email: 'b@customer.example' }, branch_id: other.id },
    'branch_move_not_permitted',
  );
});

// ---- Enquiries, customers, appointments, deals ----

test('list_enquiries, list_deals and list_appointments answer what the lists of the API do', async () => {
  const { api, app } = await dealership();
  const there = assistant(app, api.key);
  const contact = { first_name: 'Alex', last_name: 'Rowan', email: 'alex@customer.example' };
  const { id: enquiry } = await api.post('/v1/enquiries', { contact }).succeeds(201);
  const second = await api.post('/v1/enquiries', { contact }).succeeds(201);
  await api.patch(`/v1/enquiries/${second.id}`, { status: 'CONTACTED' }).succeeds();
  await api.post('/v1/deals', { enquiry_id: enquiry, vehicle_price: 899_500 }).succeeds(201);
  await api.post('/v1/appointments', { type: 'TEST_DRIVE', starts_at: '2026-02-07T10:00:00Z', contact }).succeeds(201);
  for (const [tool, name, path, input] of [
    ['list_enquiries', 'enquiries', '/v1/enquiries', {}],
    ['list_enquiries', 'enquiries', '/v1/enquiries?status=CONTACTED', { status: 'CONTACTED' }],
    ['list_deals', 'deals', '/v1/deals', {}],
    ['list_deals', 'deals', '/v1/deals?status=SOLD', { status: 'SOLD' }],
    ['list_appointments', 'appointments', '/v1/appointments', {}],
  ] as const) {
    const { [name]: shown, next_cursor: cursor } = await there.call(tool, input);
    assert.deepEqual(shown, await api.get(path).succeeds(), path);
    assert.equal(cursor, null);
  }
  assert.deepEqual(await there.call('get_enquiry', { id: enquiry }), await api.get(`/v1/enquiries/${enquiry}`).succeeds());
});

test('get_enquiry answers the enquiry with its notes', async () => {
  const { id } = await home.api.post('/v1/enquiries', { contact: { last_name: 'Rowan', email: 'notes@customer.example' } }).succeeds(201);
  await home.api.post(`/v1/enquiries/${id}/notes`, { body: 'Rang back.' }).succeeds(201);
  const { notes } = await mcp.call('get_enquiry', { id });
  assert.deepEqual(
    notes.map(({ body }: { body: string }) => body),
    ['Rang back.'],
  );
  await mcp.refuses('get_enquiry', { id: nobody }, 'not_found');
  const { errors } = await mcp.refuses('get_enquiry', { id: 'ENQ-000001' }, 'validation_failed');
  assert.deepEqual(Object.keys(errors), ['id']);
});

test('create_enquiry takes the body of POST /v1/enquiries, and comes from an AI assistant unless another source is said', async () => {
  const { api } = home;
  const { body: example } = (await import('#modules/enquiries/contract.ts')).createEnquiry.example as { body: Record<string, unknown> };
  const { vehicle_id: _ofTheExample, external_id: _its, source: _source, ...body } = example;
  const made = await mcp.call('create_enquiry', body);
  assert.deepEqual(made, await api.get(`/v1/enquiries/${made.id}`).succeeds());
  assert.equal(made.source, 'AI_ASSISTANT');
  assert.equal((await mcp.call('create_enquiry', { ...body, source: 'PHONE' })).source, 'PHONE');
  const [event] = await api.get(`/v1/events?type=enquiry.created&object_id=${made.id}`).succeeds();
  assert.deepEqual([event.actor.kind, event.actor.id], ['key', home.keyId]);
});

test('what is wrong with arguments is told by field, as for a body', async () => {
  const wrong = { contact: { email: 'nobody' }, wnated: {} };
  const { errors } = await mcp.refuses('create_enquiry', wrong, 'validation_failed');
  const rest = await home.api.post('/v1/enquiries', wrong).refuses(422, 'validation_failed');
  assert.deepEqual(errors, rest.errors);
  for (const input of [null, [], 'x', 5]) {
    const { errors } = await mcp.refuses('stock_summary', input, 'validation_failed');
    assert.deepEqual(Object.keys(errors), ['arguments']);
  }
});

test('search_customers finds by e-mail or phone in any form, at most twenty, and says when there are more', async () => {
  const { api, app } = await dealership();
  const there = assistant(app, api.key);
  const make = (fields: object) => api.post('/v1/customers', { last_name: 'Hazel', ...fields }).succeeds(201);
  await make({ email: 'robin@customer.example', mobile: '07700 900204' });
  for (let n = 0; n < 21; n++) await make({ email: 'family@customer.example', mobile: '07700 900205' });
  for (const [input, query] of [
    [{ email: 'Robin@Customer.example' }, 'email=robin@customer.example'],
    [{ phone: '+44 7700 900204' }, 'phone=07700900204'],
    [{ email: 'robin@customer.example', phone: '07700900204' }, 'email=robin@customer.example'],
  ] as const) {
    const { customers, has_more: hasMore } = await there.call('search_customers', input);
    assert.deepEqual(customers, await api.get(`/v1/customers?${query}`).succeeds());
    assert.deepEqual([customers.length, hasMore], [1, false]);
  }
  assert.deepEqual((await there.call('search_customers', { email: 'robin@customer.example', phone: '07700900205' })).customers, []);
  const family = await there.call('search_customers', { phone: '07700 900205' });
  assert.deepEqual([family.customers.length, family.has_more], [20, true]);
  await there.refuses('search_customers', {}, 'validation_failed');
  await there.refuses('search_customers', { email: '' }, 'validation_failed');
});

test('list_appointments is between two days of the dealership’s time zone, the last one included', async () => {
  const { api, app } = await dealership({ timeZone: 'America/New_York' });
  const there = assistant(app, api.key);
  const contact = { last_name: 'Rowan', email: 'alex@customer.example' };
  const book = async (startsAt: string) =>
    (await api.post('/v1/appointments', { type: 'VIEWING', starts_at: startsAt, contact }).succeeds(201)).id;
  const [before, first, last, after] = [
    await book('2026-02-07T04:59:59Z'),
    await book('2026-02-07T05:00:00Z'),
    await book('2026-02-09T04:59:59Z'),
    await book('2026-02-09T05:00:00Z'),
  ];
  const ids = async (input: object) => (await there.call('list_appointments', input)).appointments.map(({ id }: { id: string }) => id);
  assert.deepEqual(await ids({ from: '2026-02-07', to: '2026-02-08' }), [first, last]);
  assert.deepEqual(await ids({ from: '2026-02-09' }), [after]);
  assert.deepEqual(await ids({ to: '2026-02-06' }), [before]);
  assert.deepEqual(await ids({}), [before, first, last, after]);
  assert.deepEqual(await ids({ from: '2026-02-08', to: '2026-02-08' }), [last]);
  await there.refuses('list_appointments', { from: '2026-02-07T05:00:00Z' }, 'validation_failed');
  const { errors } = await there.refuses('list_appointments', { from: '2026-02-08', to: '2026-02-07' }, 'validation_failed');
  assert.deepEqual(errors, { to: ['Earlier than from.'] });
});

test('words for a model take no currency for granted, and say what to do when there is more', async () => {
  const { tools } = await mcp.result('tools/list');
  assert.doesNotMatch(JSON.stringify(tools), /pounds|pence/);
  const saying = (tool: string) => JSON.stringify(tools.find(({ name }: { name: string }) => name === tool));
  for (const tool of ['update_vehicle_price', 'create_enquiry']) assert.match(saying(tool), /minor units of the dealership’s currency/);
  for (const tool of ['update_vehicle_price', 'create_enquiry']) assert.match(saying(tool), /JPY has none/);
  assert.match(saying('search_customers'), /Ask for the other of e-mail and phone/);
});

test('what a key of other scopes may not see is null in what a tool answers, too', async () => {
  const { api, app, newKey } = await dealership();
  const { id } = await api
    .post('/v1/vehicles', { condition: 'USED', make: 'Ford', model: 'Fiesta', costs: { purchase_price: 500_000 } })
    .succeeds(201);
  const narrow = assistant(app, (await newKey({ scopes: ['vehicles:read', 'enquiries:read'], rateLimit: 1_000 })).key);
  const shown = await narrow.call('get_vehicle', { id });
  assert.deepEqual([shown.costs, shown.branch], [null, null]);
  assert.equal((await assistant(app, api.key).call('get_vehicle', { id })).costs.purchase_price.amount, 500_000);
});
