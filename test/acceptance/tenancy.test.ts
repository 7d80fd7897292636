import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noteOwnedVehicle } from '#modules/customers/index.ts';
import { raisePartsInvoice, recordPayment } from '#modules/invoices/index.ts';
import { createPurchaseOrder } from '#modules/purchase-orders/index.ts';
import { arrangeList } from '#modules/reference/index.ts';
import { signIn } from '#modules/staff/index.ts';
import type { Operation } from '#platform/contract.ts';
import { openTransaction } from '#platform/db/transaction.ts';
import { routes } from '../../src/app/catalogue.ts';
import type { Answer, Api } from '../support/api.ts';
import type { Dealership } from '../support/dealership.ts';
import { dealership } from '../support/dealership.ts';
import { connected } from '../support/oauth.ts';
import { jpeg, multipart } from '../support/pictures.ts';
import { endpointBy } from '../support/webhooks.ts';
import { cardWith, lineOf, partWith } from '../support/workshop.ts';

const nobody = '00000000-0000-0000-0000-000000000000';
const car = { condition: 'USED', make: 'Ford', model: 'Fiesta' };
const visit = { type: 'VIEWING', starts_at: '2026-05-01T09:00:00Z' };
const sold = {
  bill_to: { name: 'Cash sale', address: null, vat_number: null },
  lines: [{ description: 'Oil filter', quantity: 1, unit_price: 995, vat_code: 'STANDARD' as const }],
};
const person = { last_name: 'Ash', email: 'ash@customer.example' };

const noCar = { vin: null, make: null, model: null, mileage: null, mot_expires_on: null, next_service_on: null };

/** Parameters of paths that name nothing of a dealer's. */
const publicNames = new Set(['list']);

const picture = multipart({ file: await jpeg() });

type Make = (of: Dealership, branchId: string) => Promise<string>;

const vehicle: Make = async ({ api }, branchId) => (await api.post('/v1/vehicles', { ...car, branch_id: branchId }).succeeds(201)).id;
const batch: Make = async ({ apiWith }, branchId) => {
  const api = await apiWith({ branchIds: [branchId] });
  return (await api.post('/v1/vehicles/batch', [car]).succeeds(202)).id;
};
const customer: Make = async ({ api }, branchId) => (await api.post('/v1/customers', { ...person, branch_id: branchId }).succeeds(201)).id;
const enquiry: Make = async ({ api }, branchId) =>
  (await api.post('/v1/enquiries', { contact: person, branch_id: branchId }).succeeds(201)).id;
const appointment: Make = async ({ api }, branchId) =>
  (await api.post('/v1/appointments', { ...visit, contact: person, branch_id: branchId }).succeeds(201)).id;
const deal: Make = async ({ api }, branchId) => (await api.post('/v1/deals', { branch_id: branchId }).succeeds(201)).id;
const jobCard: Make = async (of, branchId) => (await cardWith(of, [], { branch_id: branchId })).id;
const invoice: Make = async ({ ctx }, branchId) => (await raisePartsInvoice(ctx, { ...sold, branch_id: branchId })).id;
/** A vehicle and its photo: the ids of a path with two. */
const photo: Make = async (of, branchId) => {
  const vehicleId = await vehicle(of, branchId);
  const { id } = await of.api.post(`/v1/vehicles/${vehicleId}/images`, picture.body, picture.headers).succeeds(201);
  return `${vehicleId}/${id}`;
};
const branch: Make = async (_of, branchId) => branchId;
/** That of a new customer, which is the first of the dealership or the next. */
const event: Make = async (of, branchId) => {
  const object = await customer(of, branchId);
  return (await of.api.get(`/v1/events?object_id=${object}`).succeeds())[0].id;
};

/** An endpoint of a key of this branch alone. */
const endpoint: Make = async ({ apiWith }, branchId) => (await endpointBy(await apiWith({ branchIds: [branchId] }))).id;
/** An endpoint and an attempt to deliver to it. */
const attempt: Make = async (of, branchId) => {
  const endpointId = await endpoint(of, branchId);
  return `${endpointId}/${(await of.api.post(`/v1/webhook-endpoints/${endpointId}/test`).succeeds()).id}`;
};
const asRecently = { since: new Date(Date.now() - 3_600_000).toISOString() };

/** How a record of each operation that takes an id comes to be at a branch, and a body that would change it. */
const records: Record<
  string,
  { make: Make; body?: unknown; headers?: Record<string, string>; bodyOf?: (of: Dealership) => Promise<unknown> }
> = {
  'branches.get': { make: branch },
  'vehicles.get': { make: vehicle },
  'vehicles.update': { make: vehicle, body: { colour: 'Red' } },
  'vehicles.delete': { make: vehicle },
  'vehicle_images.create': { make: vehicle, ...picture },
  'vehicle_images.order': { make: vehicle, body: { image_ids: [] } },
  'vehicle_images.delete': { make: photo },
  'vehicle_batches.get': { make: batch },
  'enquiries.get': { make: enquiry },
  'enquiries.update': { make: enquiry, body: { message: 'Still there?' } },
  'enquiries.delete': { make: enquiry },
  'enquiries.add_note': { make: enquiry, body: { body: 'Rang back.' } },
  'customers.get': { make: customer },
  'customers.update': { make: customer, body: { title: 'Dr' } },
  'customers.delete': { make: customer },
  'appointments.get': { make: appointment },
  'appointments.update': { make: appointment, body: { notes: 'Brings the old car.' } },
  'appointments.cancel': { make: appointment, body: {} },
  'deals.get': { make: deal },
  'deals.update': { make: deal, body: { discount: null } },
  'job_cards.get': { make: jobCard },
  'job_cards.update': { make: jobCard, body: { status: 'BOOKED' } },
  'invoices.get': { make: invoice },
  'events.get': { make: event },
  'events.resend': { make: event, bodyOf: async (of) => ({ webhook_endpoint_id: await endpoint(of, of.branch.id) }) },
  'webhook_endpoints.get': { make: endpoint },
  'webhook_endpoints.update': { make: endpoint, body: { description: 'Seen' } },
  'webhook_endpoints.delete': { make: endpoint },
  'webhook_endpoints.roll_secret': { make: endpoint },
  'webhook_endpoints.test': { make: endpoint },
  'webhook_endpoints.replay': { make: endpoint, body: asRecently },
  'webhook_deliveries.list': { make: endpoint },
  'webhook_deliveries.get': { make: attempt },
  'webhook_deliveries.resend': { make: attempt },
};

/** The same for each list that can be asked for ids. */
const listed: Record<string, Make> = {
  'branches.list': branch,
  'vehicles.list': vehicle,
  'vehicle_batches.list': batch,
  'enquiries.list': enquiry,
  'customers.list': customer,
  'appointments.list': appointment,
  'deals.list': deal,
  'job_cards.list': jobCard,
  'invoices.list': invoice,
  'stock_book.list': vehicle,
  'events.list': event,
  'webhook_endpoints.list': endpoint,
};

const operations = routes.map(({ operation }) => operation);
const taking = operations.filter(({ path }) => [...path.matchAll(/\{(\w+)\}/g)].some(([, name]) => !publicNames.has(name!)));
/** The lists of a dealership; one within a record takes the id of that, and is tried so. */
const listing = operations.filter(({ query, path }) => 'ids' in ((query as { shape?: object }).shape ?? {}) && !path.includes('{'));

test('every operation that takes an id, and every list, is tried below', () => {
  assert.ok(taking.length > 0 && listing.length > 0);
  assert.deepEqual(taking.map(({ id }) => id).sort(), Object.keys(records).sort());
  assert.deepEqual(listing.map(({ id }) => id).sort(), Object.keys(listed).sort());
});

const send = (api: Api, { method, path }: Operation, id: string, body: unknown, headers?: Record<string, string>): Promise<Answer> => {
  const ids = id.split('/');
  const target = path.replaceAll(/\{\w+\}/g, () => ids.shift() ?? nobody);
  if (method === 'GET') return api.get(target);
  return method === 'DELETE' ? api.delete(target) : { POST: api.post, PATCH: api.patch, PUT: api.put }[method](target, body, headers);
};

/** An answer without what differs from request to request. */
function told({ status, headers, body }: Answer) {
  const { 'x-request-id': _id, date: _date, 'x-ratelimit-remaining': _left, 'x-ratelimit-reset': _reset, ...same } = headers;
  const { request_id: _same, ...rest } = body;
  return { status, headers: same, body: rest };
}

for (const operation of taking) {
  test(`${operation.id}: a record of another dealer or branch is indistinguishable from a missing one`, async () => {
    const { make, headers, ...given } = records[operation.id]!;
    const [mine, theirs] = [await dealership(), await dealership()];
    const body = given.bodyOf ? await given.bodyOf(mine) : given.body;
    const away = await mine.newBranch();
    const restricted = await mine.apiWith({ branchIds: [mine.branch.id] });
    const ask = (id: string) => send(restricted, operation, id, body, headers);
    const missing = told(await ask(nobody));
    assert.deepEqual([missing.status, missing.body.code], [404, 'not_found']);
    for (const [what, id] of [
      ['another dealer’s record', await make(theirs, theirs.branch.id)],
      ['another branch’s record', await make(mine, away.id)],
      ['a malformed id', 'none'],
      ['an id in another form', nobody.replaceAll('-', '')],
      ['an id that ends early', nobody.slice(0, -1)],
      ['a quote', '%27%20or%201=1--'],
    ] as const) {
      assert.deepEqual(told(await ask(id)), missing, what);
    }
    const own = await make(mine, mine.branch.id);
    assert.ok((await ask(own.toUpperCase())).status < 300, 'one’s own is there, in whatever case');
  });

  if (!operation.access.kinds.includes('publishable')) continue;
  test(`${operation.id}: what is not on the website is indistinguishable from a missing record for a publishable key`, async () => {
    const { make } = records[operation.id]!;
    const mine = await dealership();
    const hidden = await mine.newBranch(false);
    const api = await mine.apiWith({ kind: 'publishable' });
    const missing = told(await send(api, operation, nobody, undefined));
    assert.equal(missing.status, 404);
    assert.deepEqual(told(await send(api, operation, await make(mine, hidden.id), undefined)), missing);
  });
}

for (const operation of listing) {
  test(`${operation.id}: shows nothing of other dealers and branches, asked for by id or not`, async () => {
    const make = listed[operation.id]!;
    const [mine, theirs] = [await dealership(), await dealership()];
    const away = await mine.newBranch();
    const restricted = await mine.apiWith({ branchIds: [mine.branch.id] });
    const own = await make(mine, mine.branch.id);
    const others = [await make(theirs, theirs.branch.id), await make(mine, away.id), own.slice(0, -nobody.length) + nobody];
    const found = async (query: string) =>
      ((await restricted.get(operation.path + query).succeeds()) as { id: string }[]).map(({ id }) => id);
    assert.deepEqual(await found(''), [own]);
    assert.deepEqual(await found(`?ids=${[own, ...others].join()}`), [own]);
    for (const id of others) assert.deepEqual(await found(`?ids=${id}`), []);
  });

  test(`${operation.id}: its pages, followed to the end, hold each record once`, async () => {
    const make = listed[operation.id]!;
    const mine = await dealership();
    const made = [await make(mine, mine.branch.id)];
    for (let i = 0; i < 2; i++) made.push(await make(mine, (await mine.newBranch()).id));
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { status, body } = await mine.api.get(`${operation.path}?limit=1${cursor && `&cursor=${cursor}`}`);
      assert.deepEqual([status, body.data.length, body.meta.has_more], [200, 1, body.meta.next_cursor !== null]);
      seen.push(body.data[0].id);
      cursor = body.meta.next_cursor;
    }
    assert.deepEqual(seen, made);
  });
}

// ---- The wall below: row level security ----

/** Every table with a row of the dealer’s own. */
async function furnish(d: Dealership): Promise<void> {
  await attempt(d, d.branch.id);
  await d.api.post('/v1/vehicles', car, { 'idempotency-key': 'one' }).succeeds(201);
  await d.api.post('/v1/vehicles/batch', [car]).succeeds(202);
  await d.api.post('/v1/vehicles', { ...car, images: ['https://pictures.example/a.jpg'] }).succeeds(201);
  await photo(d, d.branch.id);
  const offer = { registration: 'AB12CDE' };
  const { id, customer_id } = await d.api.post('/v1/enquiries', { contact: person, part_exchange: offer }).succeeds(201);
  await d.api.post(`/v1/enquiries/${id}/notes`, { body: 'Rang back.' }).succeeds(201);
  await appointment(d, d.branch.id);
  await deal(d, d.branch.id);
  const { id: invoiceId } = await raisePartsInvoice(d.ctx, sold);
  await recordPayment(d.ctx, invoiceId, { method: 'CASH', amount: 500 });
  await createPurchaseOrder(d.ctx, { supplier_name: 'A Supplier Ltd', vehicle_ids: [] });
  await noteOwnedVehicle(d.ctx, customer_id, { ...noCar, ...offer });
  await cardWith(d, [lineOf(await partWith(d, 1))]);
  await arrangeList(d.ctx, 'vat-schemes', [{ code: 'NO_VAT', name: 'Without VAT' }, { code: 'MARGIN' }, { code: 'VAT_QUALIFYING' }]);
  await connected(d);
  const signedIn = await signIn(d.service, {
    dealerCode: d.code,
    email: d.owner.email,
    password: 'correct horse',
    device: null,
    address: '127.0.0.1',
  });
  assert.ok('token' in signedIn);
}

test('a query without any condition returns no row of another dealer, whatever the table, and without a dealer none at all', async () => {
  const [mine, theirs] = [await dealership(), await dealership()];
  await furnish(mine);
  await furnish(theirs);
  const { doors, work } = mine.service.pools;
  const { rows } = await doors.query(`
    select c.table_name as name from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
     where c.table_schema = 'public' and c.column_name = 'dealer_id' and t.table_type = 'BASE TABLE' order by 1`);
  const tables = rows.map(({ name }) => name as string);
  assert.ok(tables.length >= 10, tables.join());
  const role = await work.query('select rolsuper or rolbypassrls as above from pg_roles where rolname = current_user');
  assert.equal(role.rows[0].above, false, 'the product’s role is not above row level security');
  for (const table of tables) {
    const dealers = async (query: (text: string) => Promise<{ rows: { id: string }[] }>) =>
      (await query(`select distinct dealer_id as id from ${table}`)).rows.map(({ id }) => id);
    const whole = await dealers((text) => doors.query(text));
    // A day’s part is empty but for today’s.
    if (!/_\d{8}$/.test(table)) assert.ok(whole.includes(mine.id) && whole.includes(theirs.id), `${table} holds rows of both`);
    assert.deepEqual(
      (await openTransaction(mine.ctx, (tx) => dealers((text) => tx.tx.connection.query(text)))).filter((id) => id !== mine.id),
      [],
      `${table} shows another dealer’s rows`,
    );
    assert.deepEqual(await dealers((text) => work.query(text)), [], `${table} shows rows to nobody in particular`);
  }
});

test('no row of another dealer can be written, moved or deleted', async () => {
  const [mine, theirs] = [await dealership(), await dealership()];
  await furnish(mine);
  await furnish(theirs);
  const inMine = (text: string, values: unknown[] = []) => openTransaction(mine.ctx, (tx) => tx.tx.connection.query(text, values));
  await assert.rejects(inMine("insert into counter (dealer_id, series, last) values ($1, 'theirs', 1)", [theirs.id]), { code: '42501' });
  await assert.rejects(inMine('update vehicle set dealer_id = $1', [theirs.id]), { code: '42501' });
  assert.equal((await inMine('update vehicle set make = $2 where dealer_id = $1', [theirs.id, 'Stolen'])).rowCount, 0);
  assert.equal((await inMine('delete from vehicle where dealer_id = $1', [theirs.id])).rowCount, 0);
  assert.equal((await theirs.api.get('/v1/vehicles').succeeds())[0].make, 'Ford');
});

test('a dealer of a transaction ends with it', async () => {
  const { ctx, service } = await dealership();
  await openTransaction(ctx, async () => undefined);
  for (let i = 0; i < 20; i++) {
    const { rows } = await service.pools.work.query("select coalesce(current_setting('forecourt.dealer_id', true), '') as dealer");
    assert.equal(rows[0].dealer, '');
  }
});

test('who goes on when a transaction is over reads and writes nothing over its connection', async () => {
  const { ctx } = await dealership();
  const over = await openTransaction(ctx, async (tx) => tx);
  await assert.rejects(over.tx.connection.query('select 1'), /transaction is over/);
  await assert.rejects(over.db.selectFrom('vehicle').selectAll().execute(), /transaction is over/);
  const undone: (typeof over)[] = [];
  const refused = openTransaction(ctx, async (tx) => {
    undone.push(tx);
    throw new Error('refused');
  });
  await assert.rejects(refused, /refused/);
  await assert.rejects(undone[0]!.tx.connection.query('select 1'), /transaction is over/);
});
