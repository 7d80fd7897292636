import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changeBranch } from '#modules/dealers/index.ts';
import type { Dealership } from '../../../test/support/dealership.ts';
import { dealership } from '../../../test/support/dealership.ts';
import { createVehicle, moveForDeal, updateVehicle } from './index.ts';

const focus = { condition: 'USED', make: 'Ford', model: 'Focus' };
const onSale = { ...focus, status: 'FOR_SALE', asking_price: 1_299_500 };
const nobody = '00000000-0000-4000-8000-000000000000';

type Json = ReturnType<typeof JSON.parse>;

const eventsOf = async ({ service, id }: Dealership, vehicleId: string): Promise<{ type: string; data: Json }[]> => {
  const { rows } = await service.pools.doors.query(
    'select type, data from event where dealer_id = $1 and resource_id = $2 order by sequence',
    [id, vehicleId],
  );
  return rows.map(({ type, data }) => ({ type, data: JSON.parse(data) }));
};

test('a vehicle is created, read, changed and deleted', async () => {
  const dealer = await dealership();
  const { api } = dealer;
  const created = await api.post('/v1/vehicles', { ...onSale, registration: 'ab12 cde', external_id: 'x-1', metadata: { lot: '7' } });
  assert.equal(created.status, 201);
  const vehicle = created.body.data;
  assert.equal(created.headers.location, `/v1/vehicles/${vehicle.id}`);
  assert.deepEqual([vehicle.registration, vehicle.stock_number, vehicle.type, vehicle.website_visible], ['AB12CDE', '1', 'CAR', true]);
  assert.deepEqual(vehicle.branch, { id: dealer.branch.id, name: dealer.branch.name });
  assert.deepEqual(await api.get(`/v1/vehicles/${vehicle.id}`).succeeds(), vehicle);

  const changed = await api
    .patch(`/v1/vehicles/${vehicle.id}`, { asking_price: 1_199_500, status: 'RESERVED', derivative: 'Zetec' })
    .succeeds();
  assert.equal(changed.title, 'Ford Focus Zetec');
  assert.deepEqual(changed.previous_asking_price, { amount: 1_299_500, currency: 'GBP' });

  const tombstone = await api.delete(`/v1/vehicles/${vehicle.id}`).succeeds();
  assert.deepEqual(Object.keys(tombstone).sort(), ['deleted', 'deleted_at', 'id']);
  await api.get(`/v1/vehicles/${vehicle.id}`).refuses(404, 'not_found');
  await api.delete(`/v1/vehicles/${vehicle.id}`).refuses(404, 'not_found');

  const events = await eventsOf(dealer, vehicle.id);
  assert.deepEqual(
    events.map(({ type }) => type),
    ['vehicle.created', 'vehicle.updated', 'vehicle.status_changed', 'vehicle.deleted'],
  );
  assert.deepEqual(events[1]?.data.changed.toSorted(), ['asking_price', 'derivative', 'status']);
  assert.equal(events[2]?.data.previous_status, 'FOR_SALE');
  assert.equal(events[0]?.data.object.costs, null);
  assert.equal(events[0]?.data.object.branch, null);
  assert.deepEqual(events[3]?.data.object, tombstone);
});

test('a write that changes nothing succeeds, emits nothing and leaves updated_at', async () => {
  const dealer = await dealership();
  const vehicle = await dealer.api.post('/v1/vehicles', onSale).succeeds(201);
  assert.deepEqual(
    await dealer.api.patch(`/v1/vehicles/${vehicle.id}`, { make: 'Ford', features: [], status: 'FOR_SALE' }).succeeds(),
    vehicle,
  );
  assert.equal((await eventsOf(dealer, vehicle.id)).length, 1);
});

test('what is wrong with a vehicle is said by field', async () => {
  const { api } = await dealership();
  const { errors } = await api
    .post('/v1/vehicles', { condition: 'OLD', colur: 'Red', doors: 8, status: 'SOLD', images: ['nowhere'] })
    .refuses(422, 'validation_failed');
  assert.deepEqual(Object.keys(errors).sort(), ['colur', 'condition', 'doors', 'images.0', 'status']);
  assert.match(errors.colur[0], /Did you mean "colour"/);
  assert.deepEqual(Object.keys((await api.post('/v1/vehicles', {}).refuses(422, 'validation_failed')).errors), ['condition']);
  const nameless = await api.post('/v1/vehicles', { condition: 'USED' }).refuses(422, 'validation_failed');
  assert.deepEqual(Object.keys(nameless.errors).sort(), ['make', 'model']);
  await api.post('/v1/vehicles', { condition: 'USED', registration: 'AB12CDE' }).refuses(422, 'vehicle_not_created');
  await api.post('/v1/vehicles', { ...focus, status: 'FOR_SALE' }).refuses(422, 'validation_failed');
  await api.post('/v1/vehicles', { ...focus, year_of_manufacture: 2999 }).refuses(422, 'validation_failed');
  await api.post('/v1/vehicles', { ...focus, costs: { purchase_source: 'X_NEVER_MADE' } }).refuses(422, 'validation_failed');
  await api.post('/v1/vehicles', { ...focus, branch_id: nobody }).refuses(422, 'validation_failed');
});

test('an external_id is free again once its vehicle is deleted', async () => {
  const { api } = await dealership();
  const first = await api.post('/v1/vehicles', { ...focus, external_id: 'x' }).succeeds(201);
  const second = await api.post('/v1/vehicles', { ...focus, external_id: 'y' }).succeeds(201);
  await api.post('/v1/vehicles', { ...focus, external_id: 'x' }).refuses(409, 'external_id_taken');
  await api.patch(`/v1/vehicles/${second.id}`, { external_id: 'x' }).refuses(409, 'external_id_taken');
  await api.delete(`/v1/vehicles/${first.id}`).succeeds();
  await api.patch(`/v1/vehicles/${second.id}`, { external_id: 'x' }).succeeds();
});

test('stock numbers are sequential and never used again, and a refused creation takes none', async () => {
  const { api } = await dealership();
  const first = await api.post('/v1/vehicles', focus).succeeds(201);
  await api.delete(`/v1/vehicles/${first.id}`).succeeds();
  await api.post('/v1/vehicles', { ...focus, branch_id: nobody }).refuses(422, 'validation_failed');
  const second = await api.post('/v1/vehicles', focus).succeeds(201);
  assert.deepEqual([first.stock_number, second.stock_number], ['1', '2']);
});

test('a registration or VIN is in stock once', async () => {
  const { api } = await dealership();
  const vin = 'WBA8E9C50GK647777';
  await api.post('/v1/vehicles', { ...focus, registration: 'AB12 CDE', vin }).succeeds(201);
  await api.post('/v1/vehicles', { ...focus, registration: 'ab12cde' }).refuses(422, 'vehicle_not_created');
  await api.post('/v1/vehicles', { ...focus, vin: vin.toLowerCase() }).refuses(422, 'vehicle_not_created');
});

test('costs are for keys with their scope', async () => {
  const { api, apiWith } = await dealership();
  const blind = await apiWith({ scopes: ['vehicles:read', 'vehicles:write'] });
  const costs = { purchase_price: 900_000, other: 10_000, purchase_source: 'AUCTION' };
  const vehicle = await api.post('/v1/vehicles', { ...onSale, costs }).succeeds(201);
  assert.deepEqual(vehicle.costs.stand_in_value, { amount: 910_000, currency: 'GBP' });
  assert.equal((await blind.get(`/v1/vehicles/${vehicle.id}`).succeeds()).costs, null);
  const refusal = await blind.patch(`/v1/vehicles/${nobody}`, { costs: null }).refuses(403, 'insufficient_scope');
  assert.deepEqual(refusal.required, { scope: 'vehicles:costs' });
  await blind.post('/v1/vehicles', { ...onSale, costs }).refuses(403, 'insufficient_scope');
  await blind.post('/v1/vehicles/batch', [focus, { ...focus, costs }]).refuses(403, 'insufficient_scope');
});

test('deleting needs the owner’s permission STOCK_DELETE', async () => {
  const { api, newUser, apiWith } = await dealership();
  const vehicle = await api.post('/v1/vehicles', focus).succeeds(201);
  const { id: ownerId } = await newUser({ role: 'SALES_EXECUTIVE' });
  const refusal = await (await apiWith({ ownerId, scopes: ['vehicles:write'] }))
    .delete(`/v1/vehicles/${vehicle.id}`)
    .refuses(403, 'scope_not_permitted_for_owner');
  assert.deepEqual(refusal.required, { permission: 'STOCK_DELETE' });
});

test('a car that a deal holds is moved by the deal alone', async () => {
  const { api, ctx } = await dealership();
  const vehicle = await api.post('/v1/vehicles', { ...onSale, registration: 'AB12CDE' }).succeeds(201);
  const path = `/v1/vehicles/${vehicle.id}`;
  await moveForDeal(ctx, vehicle.id, 'RESERVED', nobody);
  for (const changes of [{ status: 'FOR_SALE' }, { registration: null }]) await api.patch(path, changes).refuses(409, 'vehicle_in_deal');
  await api.delete(path).refuses(409, 'vehicle_in_deal');
  await api.patch(path, { asking_price: 5, status: 'RESERVED' }).succeeds();
  await moveForDeal(ctx, vehicle.id, 'SOLD', nobody);
  const sold = await api.get(path).succeeds();
  assert.deepEqual([sold.status, sold.deal_id], ['SOLD', nobody]);
  await api.patch(path, { asking_price: 6 }).refuses(409, 'vehicle_in_deal');
  await api.patch(path, { internal_notes: 'Collected on Friday' }).succeeds();
  await moveForDeal(ctx, vehicle.id, 'IN_PREPARATION', null);
  await api.delete(path).succeeds();
});

test('the deal that holds a car is shown beside its id: null without sales:read and of a branch beyond the key, never on the website', async () => {
  const dealer = await dealership();
  const { api, apiWith, branch, newBranch, service, id } = dealer;
  const away = await newBranch();
  const vehicle = await api.post('/v1/vehicles', onSale).succeeds(201);
  assert.deepEqual([vehicle.deal_id, vehicle.deal], [null, null]);
  const enquiry = await api.post('/v1/enquiries', { contact: { last_name: 'Ash', email: 'ash@customer.example' } }).succeeds(201);
  const body = { vehicle_id: vehicle.id, enquiry_id: enquiry.id, branch_id: away.id, status: 'RESERVED' };
  const deal = await api.post('/v1/deals', body).succeeds(201);
  const path = `/v1/vehicles/${vehicle.id}`;
  const shown = { id: deal.id, reference: deal.reference, status: 'RESERVED' };
  const answers = [api.get(path), api.patch(path, { internal_notes: 'x' })].map((answer) => answer.succeeds());
  for (const answer of [...(await Promise.all(answers)), (await api.get('/v1/vehicles').succeeds())[0]])
    assert.deepEqual([answer.deal_id, answer.deal], [deal.id, shown]);
  for (const key of [{ scopes: ['vehicles:read', 'vehicles:write'] as const }, { branchIds: [branch.id] }]) {
    const other = await apiWith({ ...key } as Parameters<typeof apiWith>[0]);
    for (const answer of [await other.get(path).succeeds(), await other.patch(path, { internal_notes: 'x' }).succeeds()])
      assert.deepEqual([answer.deal_id, answer.deal], [deal.id, null]);
  }
  assert.equal('deal' in (await (await apiWith({ kind: 'publishable' })).get(path).succeeds()), false);
  const { rows } = await service.pools.doors.query("select data from event where dealer_id = $1 and type = 'vehicle.updated'", [id]);
  for (const { data } of rows) assert.equal(JSON.parse(data).object.deal, null);
});

test('a vehicle of a branch outside the key is not there, and none is moved there', async () => {
  const { api, branch, newBranch, newUser, apiWith } = await dealership();
  const other = await newBranch();
  const here = await apiWith({ branchIds: [branch.id] });
  const there = await apiWith({ branchIds: [other.id] });
  const vehicle = await here.post('/v1/vehicles', { ...focus, external_id: 'x' }).succeeds(201);
  assert.equal((await there.post('/v1/vehicles', focus).succeeds(201)).branch_id, other.id);
  await there.get(`/v1/vehicles/${vehicle.id}`).refuses(404, 'not_found');
  await there.patch(`/v1/vehicles/${vehicle.id}`, { colour: 'Red' }).refuses(404, 'not_found');
  await there.delete(`/v1/vehicles/${vehicle.id}`).refuses(404, 'not_found');
  await there.post('/v1/vehicles', { ...focus, external_id: 'x' }).refuses(409, 'external_id_taken');
  await here.patch(`/v1/vehicles/${vehicle.id}`, { branch_id: other.id }).refuses(403, 'branch_move_not_permitted');
  await here.post('/v1/vehicles', { ...focus, branch_id: other.id }).refuses(403, 'branch_move_not_permitted');
  await api.patch(`/v1/vehicles/${vehicle.id}`, { branch_id: other.id }).succeeds();
  await here.get(`/v1/vehicles/${vehicle.id}`).refuses(404, 'not_found');
  assert.equal((await there.get('/v1/vehicles').succeeds()).length, 2);
  const { id: ownerId } = await newUser({ branches: [other.id] });
  assert.deepEqual(
    await (await apiWith({ ownerId, branchIds: [branch.id] })).get('/v1/vehicles').succeeds(),
    [],
    'an empty intersection sees nothing',
  );
});

test('a publishable key sees the public fields of website-visible stock', async () => {
  const { api, apiWith } = await dealership();
  const site = await apiWith({ kind: 'publishable' });
  const shown = await api
    .post('/v1/vehicles', { ...onSale, external_id: 'x', internal_notes: 'secret', vin: 'WBA8E9C50GK647777' })
    .succeeds(201);
  const hidden = await api.post('/v1/vehicles', { ...onSale, website_visible: false }).succeeds(201);
  const listed = await site.get('/v1/vehicles').succeeds();
  assert.deepEqual(
    listed.map(({ id }: { id: string }) => id),
    [shown.id],
  );
  const seen = await site.get(`/v1/vehicles/${shown.id}`).succeeds();
  for (const field of [
    'external_id',
    'vin',
    'costs',
    'internal_notes',
    'metadata',
    'website_visible',
    'deal_id',
    'stocked_on',
    'status_changed_at',
  ]) {
    assert.ok(!(field in seen), field);
  }
  assert.deepEqual(seen, listed[0]);
  await site.get(`/v1/vehicles/${hidden.id}`).refuses(404, 'not_found');
  for (const filter of ['vin=WBA8E9C50GK647777', 'external_id=x', 'website_visible=true', 'status=SOLD', 'status=FOR_SALE,DUE_IN']) {
    await site.get(`/v1/vehicles?${filter}`).refuses(422, 'validation_failed');
  }
  assert.equal((await site.get('/v1/vehicles?status=FOR_SALE,RESERVED').succeeds()).length, 1);
});

test('a car that leaves the website becomes a tombstone there, one that never stood on it does not', async () => {
  const { api, apiWith, ctx, branch } = await dealership();
  const site = await apiWith({ kind: 'publishable' });
  const sold = await api.post('/v1/vehicles', onSale).succeeds(201);
  const removed = await api.post('/v1/vehicles', onSale).succeeds(201);
  await api.post('/v1/vehicles', focus).succeeds(201);
  const { resume_cursor: cursor } = (await site.get('/v1/vehicles?include_deleted=true')).body.meta;
  await moveForDeal(ctx, sold.id, 'SOLD', null);
  await api.delete(`/v1/vehicles/${removed.id}`).succeeds();
  const next = await site.get(`/v1/vehicles?include_deleted=true&cursor=${cursor}`).succeeds();
  assert.deepEqual(
    next.map(({ id, deleted }: { id: string; deleted: boolean }) => [id, deleted]),
    [
      [sold.id, true],
      [removed.id, true],
    ],
  );
  assert.deepEqual(await site.get('/v1/vehicles').succeeds(), []);

  const kept = await api.post('/v1/vehicles', onSale).succeeds(201);
  await changeBranch(ctx, branch.id, { published: false });
  await site.get(`/v1/vehicles/${kept.id}`).refuses(404, 'not_found');
  const gone = await site.get(`/v1/vehicles?include_deleted=true&ids=${kept.id}`).succeeds();
  assert.deepEqual(gone[0].deleted, true);
  await changeBranch(ctx, branch.id, { published: true });
  await site.get(`/v1/vehicles/${kept.id}`).succeeds();
});

test('vehicles are filtered by what they are, their price, mileage, age, photos and time in stock', async () => {
  const { api } = await dealership();
  const golf = { condition: 'NEW', make: 'Volkswagen', model: 'Golf', year_of_manufacture: 2024, mileage: 10, stocked_on: '2026-02-01' };
  const a = await api
    .post('/v1/vehicles', { ...onSale, registration: 'AB12CDE', fuel_type: 'PETROL', mileage: 50_000, year_of_manufacture: 2016 })
    .succeeds(201);
  const b = await api
    .post('/v1/vehicles', { ...golf, status: 'FOR_SALE', price_on_application: true, external_id: 'b', body_type: 'HATCHBACK' })
    .succeeds(201);
  const found = async (query: string) => (await api.get(`/v1/vehicles?${query}`).succeeds()).map(({ id }: { id: string }) => id);
  const both = [a.id, b.id];
  const answers: [string, string[]][] = [
    ['make=FORD,volkswagen', both],
    ['make=ford', [a.id]],
    ['model=golf', [b.id]],
    ['registration=ab12 cde', [a.id]],
    ['stock_number=2', [b.id]],
    ['fuel_type=PETROL,DIESEL', [a.id]],
    ['body_type=HATCHBACK', [b.id]],
    ['condition=NEW', [b.id]],
    ['type=VAN', []],
    ['min_asking_price=1', [a.id]],
    ['max_asking_price=1299499', []],
    ['min_mileage=11', [a.id]],
    ['max_mileage=10', [b.id]],
    ['min_year=2017', [b.id]],
    ['max_year=2016', [a.id]],
    ['external_id=b', [b.id]],
    ['website_visible=true', both],
    ['has_images=true', []],
    ['has_images=false', both],
    ['stocked_from=2026-02-01', [b.id]],
    ['stocked_to=2026-01-31', []],
    ['q=ab-12', [a.id]],
    ['q=volkswagen g', [b.id]],
    ['q=2', [b.id]],
    ['q=%25', []],
    ['status=FOR_SALE&make=ford', [a.id]],
  ];
  for (const [query, ids] of answers) assert.deepEqual(await found(query), ids, query);
  const { errors } = await api.get('/v1/vehicles?fuel_type=STEAM').refuses(422, 'validation_failed');
  assert.match(JSON.stringify(errors), /fuel-types/);
  await api.delete(`/v1/vehicles/${a.id}`).succeeds();
  assert.deepEqual(await found('include_deleted=true&make=volkswagen'), [b.id, a.id], 'tombstones pass the filters');
  assert.deepEqual(await found('include_deleted=true&external_id=b'), [b.id]);
});

test('the Free plan’s stock cap refuses creations, never updates', async () => {
  const { api, ctx, setPlan } = await dealership();
  for (let i = 0; i < 24; i++) await api.post('/v1/vehicles', focus).succeeds(201);
  const last = await api.post('/v1/vehicles', focus).succeeds(201);
  await setPlan('FREE');
  await assert.rejects(createVehicle(ctx, { condition: 'USED', make: 'A', model: 'B' }), { code: 'plan_stock_cap_reached' });
  await updateVehicle(ctx, last.id, { status: 'DISPOSED' });
  await createVehicle(ctx, { condition: 'USED', make: 'A', model: 'B' });
});

test('the previous price shows for 30 days, and only when it was higher', async () => {
  const { api, clock } = await dealership();
  clock.move({});
  const vehicle = await api.post('/v1/vehicles', onSale).succeeds(201);
  const path = `/v1/vehicles/${vehicle.id}`;
  await api.patch(path, { asking_price: 1_000_000 }).succeeds();
  assert.equal((await api.get(path).succeeds()).previous_asking_price.amount, 1_299_500);
  clock.move({ days: 29 });
  assert.equal((await api.get(path).succeeds()).previous_asking_price.amount, 1_299_500);
  clock.move({ days: 1, seconds: 1 });
  assert.equal((await api.get(path).succeeds()).previous_asking_price, null);
  assert.equal((await api.patch(path, { asking_price: 1_100_000 }).succeeds()).previous_asking_price, null);
  clock.release();
});

test('the price before is known by way of price on application, too', async () => {
  const { api } = await dealership();
  const { id } = await api.post('/v1/vehicles', { condition: 'USED', make: 'Ford', model: 'Focus', asking_price: 12_000 }).succeeds(201);
  const change = (changes: object) => api.patch(`/v1/vehicles/${id}`, changes).succeeds();
  assert.equal((await change({ asking_price: 10_000 })).previous_asking_price.amount, 12_000);
  assert.equal((await change({ price_on_application: true })).previous_asking_price, null);
  assert.equal((await change({ asking_price: 10_000 })).previous_asking_price.amount, 12_000);
  await change({ price_on_application: true });
  assert.equal((await change({ asking_price: 9_000 })).previous_asking_price.amount, 10_000);
});

test('a year of manufacture after next year is an error of shape: before the scope of costs, before the record', async () => {
  const { api, apiWith } = await dealership();
  const lesser = await apiWith({ scopes: ['vehicles:write'] });
  const late = { condition: 'USED', make: 'Ford', model: 'Focus', year_of_manufacture: 2100 };
  await lesser.post('/v1/vehicles', { ...late, costs: { other: 1 } }).refuses(422, 'validation_failed');
  await api.patch('/v1/vehicles/00000000-0000-4000-8000-000000000000', { year_of_manufacture: 2100 }).refuses(422, 'validation_failed');
});
