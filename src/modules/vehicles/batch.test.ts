import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Dealership } from '../../../test/support/dealership.ts';
import { dealership } from '../../../test/support/dealership.ts';
import { sweepBatches } from './batch.ts';
import { moveForDeal, writeRemaining } from './index.ts';

const focus = { condition: 'USED', make: 'Ford', model: 'Focus' };
const nobody = '00000000-0000-4000-8000-000000000000';

/** Sends a batch and lets it be written, as the worker does. */
async function upload({ api, ctx }: Pick<Dealership, 'api' | 'ctx'>, vehicles: unknown) {
  const { id } = await api.post('/v1/vehicles/batch', vehicles).succeeds(202);
  await writeRemaining(ctx, id);
  return api.get(`/v1/vehicle-batches/${id}`).succeeds();
}

const completions = async ({ service, id }: Dealership) => {
  const { rows } = await service.pools.doors.query(
    "select data from event where dealer_id = $1 and type = 'vehicle_batch.completed' order by sequence",
    [id],
  );
  return rows.map(({ data }: { data: string }) => JSON.parse(data).object);
};

type Item = {
  status: string;
  operation: string | null;
  matched_by: string | null;
  vehicle_id: string;
  error: { code: string } | null;
  warnings: string[];
};
const brief = ({ items }: { items: Item[] }) => items.map(({ operation, matched_by, error }) => error?.code ?? [operation, matched_by]);

test('items of the wrong shape fail at once, the others are pending and then written', async () => {
  const dealer = await dealership();
  const answer = await dealer.api.post('/v1/vehicles/batch', [
    { ...focus, external_id: 'a' },
    { ...focus, external_id: 'b', doors: 'five', colr: 'Red' },
    'no object',
    { ...focus, registration: 'ab12 cde' },
  ]);
  const batch = answer.body.data;
  assert.equal(answer.headers.location, `/v1/vehicle-batches/${batch.id}`);
  assert.deepEqual([batch.status, batch.total, batch.failed, batch.pending], ['processing', 4, 2, 2]);
  assert.deepEqual(
    batch.items.map(({ index, status, external_id, registration }: Record<string, unknown>) => [index, status, external_id, registration]),
    [
      [0, 'pending', 'a', null],
      [1, 'failed', 'b', null],
      [2, 'failed', null, null],
      [3, 'pending', null, 'AB12CDE'],
    ],
  );
  assert.deepEqual(Object.keys(batch.items[1].error.errors).sort(), ['colr', 'doors']);
  assert.deepEqual(await dealer.api.get(`/v1/vehicle-batches/${batch.id}`).succeeds(), batch);

  await writeRemaining(dealer.ctx, batch.id);
  const done = await dealer.api.get(`/v1/vehicle-batches/${batch.id}`).succeeds();
  assert.deepEqual([done.status, done.created, done.updated, done.failed, done.pending], ['completed', 2, 0, 2, 0]);
  assert.equal((await dealer.api.get(`/v1/vehicles/${done.items[0].vehicle_id}`).succeeds()).external_id, 'a');
  const { items: _items, ...withoutItems } = done;
  assert.deepEqual(await completions(dealer), [withoutItems]);
  assert.deepEqual(await dealer.api.get('/v1/vehicle-batches').succeeds(), [withoutItems]);
});

test('a batch is an array, or {"vehicles": […]}, of 1 to 500', async () => {
  const dealer = await dealership();
  assert.equal((await upload(dealer, { vehicles: [focus] })).created, 1);
  for (const body of [[], { vehicles: [] }, {}, 'text', Array.from({ length: 501 }, () => focus)]) {
    await dealer.api.post('/v1/vehicles/batch', body).refuses(422, 'validation_failed');
  }
});

test('an item is matched by id, else external_id, else registration, else created', async () => {
  const dealer = await dealership();
  const { api } = dealer;
  const stranger = await (await dealership()).api.post('/v1/vehicles', focus).succeeds(201);
  const a = await api.post('/v1/vehicles', { ...focus, external_id: 'a' }).succeeds(201);
  const b = await api.post('/v1/vehicles', { ...focus, external_id: 'b' }).succeeds(201);
  const c = await api.post('/v1/vehicles', { ...focus, registration: 'AB12CDE' }).succeeds(201);
  const batch = await upload(dealer, [
    { id: a.id, external_id: 'a2', colour: 'Red' },
    { id: nobody, external_id: 'b', colour: 'Red' },
    { id: nobody, external_id: 'c', registration: 'ab12cde', colour: 'Red' },
    { id: stranger.id, ...focus },
    { id: b.id, external_id: 'c' },
    { id: b.id, external_id: 'b' },
  ]);
  assert.deepEqual(brief(batch), [
    ['updated', 'id'],
    ['updated', 'external_id'],
    ['updated', 'registration'],
    ['created', null],
    'external_id_taken',
    ['updated', 'id'],
  ]);
  assert.deepEqual(
    batch.items.map(({ warnings }: Item) => warnings),
    [[], ['id_not_matched'], ['id_not_matched'], ['id_not_matched'], [], []],
  );
  assert.deepEqual([batch.items[0].vehicle_id, batch.items[1].vehicle_id, batch.items[2].vehicle_id], [a.id, b.id, c.id]);
  assert.notEqual(batch.items[3].vehicle_id, stranger.id);
  assert.equal((await api.get(`/v1/vehicles/${a.id}`).succeeds()).external_id, 'a2');
});

test('items that resolve to the same vehicle are applied in index order', async () => {
  const dealer = await dealership();
  const batch = await upload(dealer, [
    { ...focus, external_id: 'x', mileage: 1 },
    { external_id: 'x', mileage: 2, registration: 'AB12CDE' },
    { external_id: 'x2', registration: 'AB12CDE', mileage: 3 },
    { ...focus, external_id: 'x', mileage: 4 },
  ]);
  assert.deepEqual(brief(batch), [
    ['created', null],
    ['updated', 'external_id'],
    ['updated', 'registration'],
    ['created', null],
  ]);
  const [first, , , last] = batch.items.map(({ vehicle_id }: Item) => vehicle_id);
  const [one, two] = [await dealer.api.get(`/v1/vehicles/${first}`).succeeds(), await dealer.api.get(`/v1/vehicles/${last}`).succeeds()];
  assert.deepEqual([one.external_id, one.mileage, one.stock_number], ['x2', 3, '1']);
  assert.deepEqual([two.external_id, two.mileage, two.stock_number], ['x', 4, '2']);
});

test('vehicles can exchange their external ids in one batch', async () => {
  const dealer = await dealership();
  const { items } = await upload(dealer, [
    { ...focus, external_id: 'a' },
    { ...focus, external_id: 'b' },
  ]);
  const [a, b] = items.map(({ vehicle_id }: Item) => vehicle_id);
  const swapped = await upload(dealer, [
    { id: a, external_id: 'free' },
    { id: b, external_id: 'a' },
    { id: a, external_id: 'b' },
  ]);
  assert.equal(swapped.updated, 3);
  assert.equal((await dealer.api.get(`/v1/vehicles/${a}`).succeeds()).external_id, 'b');
});

test('an item that changes nothing counts as updated and emits no vehicle event', async () => {
  const dealer = await dealership();
  const items = Array.from({ length: 120 }, (_, i) => ({ ...focus, external_id: `x${i}`, metadata: { row: `${i}` } }));
  assert.equal((await upload(dealer, items)).created, 120);
  const again = await upload(dealer, items);
  assert.deepEqual([again.created, again.updated], [0, 120]);
  const { rows } = await dealer.service.pools.doors.query(
    "select count(*) as n from event where dealer_id = $1 and type = 'vehicle.updated'",
    [dealer.id],
  );
  assert.equal(rows[0].n, 0);
  assert.equal((await completions(dealer)).length, 2);
});

test('creating items without condition, make or model fail in the background', async () => {
  const batch = await upload(await dealership(), [
    { make: 'Ford', model: 'Focus' },
    { condition: 'USED' },
    { ...focus, branch_id: nobody },
    { ...focus, status: 'FOR_SALE' },
  ]);
  assert.deepEqual(brief(batch), ['validation_failed', 'vehicle_not_created', 'validation_failed', 'validation_failed']);
  assert.deepEqual(Object.keys(batch.items[0].error.errors), ['condition']);
});

test('a feed that still lists a sold car does not create it again', async () => {
  const dealer = await dealership();
  const vehicle = await dealer.api
    .post('/v1/vehicles', { ...focus, registration: 'AB12CDE', status: 'FOR_SALE', asking_price: 100 })
    .succeeds(201);
  await moveForDeal(dealer.ctx, vehicle.id, 'SOLD', null);
  const listed = { ...focus, registration: 'AB12CDE' };
  const batch = await upload(dealer, [{ ...listed, status: 'FOR_SALE' }, { ...listed, asking_price: 90 }, listed]);
  assert.deepEqual(brief(batch), ['vehicle_in_deal', 'vehicle_in_deal', ['updated', 'registration']]);
  const back = await dealer.api.post('/v1/vehicles', listed).succeeds(201);
  assert.equal((await upload(dealer, [{ ...listed, asking_price: 80 }])).items[0].vehicle_id, back.id, 'bought back, it is the live match');
});

test('a batch all of whose items failed is completed at once', async () => {
  const dealer = await dealership();
  const batch = await dealer.api.post('/v1/vehicles/batch', [{ condition: 1 }]).succeeds(202);
  assert.deepEqual([batch.status, batch.failed], ['completed', 1]);
  await writeRemaining(dealer.ctx, batch.id);
  assert.equal((await completions(dealer)).length, 1);
});

test('the Free plan’s cap is asked when the items are written', async () => {
  const dealer = await dealership();
  const items = Array.from({ length: 30 }, (_, i) => ({ ...focus, external_id: `x${i}` }));
  const { id } = await dealer.api.post('/v1/vehicles/batch', items).succeeds(202);
  await dealer.setPlan('FREE');
  await writeRemaining(dealer.ctx, id);
  await dealer.setPlan('STANDARD');
  const batch = await dealer.api.get(`/v1/vehicle-batches/${id}`).succeeds();
  assert.deepEqual([batch.created, batch.failed], [25, 5]);
  assert.ok(batch.items.slice(25).every(({ error }: Item) => error?.code === 'plan_stock_cap_reached'));
});

test('a dry run says what would happen and writes nothing', async () => {
  const dealer = await dealership();
  await dealer.api.post('/v1/vehicles', { ...focus, external_id: 'a' }).succeeds(201);
  const items = [{ external_id: 'a', colour: 'Red' }, focus, { id: nobody, ...focus }, { doors: 99 }, { condition: 'USED' }];
  const batch = await dealer.api.post('/v1/vehicles/batch?dry_run=true', items).succeeds(200);
  assert.deepEqual(brief(batch), [
    ['updated', 'external_id'],
    ['created', null],
    ['created', null],
    'validation_failed',
    'vehicle_not_created',
  ]);
  assert.deepEqual(
    [batch.id, batch.status, batch.items[1].vehicle_id, batch.items[2].warnings],
    [null, 'completed', null, ['id_not_matched']],
  );
  assert.deepEqual(await dealer.api.get('/v1/vehicle-batches').succeeds(), []);
  assert.equal((await dealer.api.get('/v1/vehicles').succeeds()).length, 1);
});

test('a key restricted to branches sees the batches of keys with the same branches', async () => {
  const dealer = await dealership();
  const { branch, newBranch, apiWith, api } = dealer;
  const other = await newBranch();
  const mine = await apiWith({ branchIds: [branch.id] });
  const { id } = await mine.post('/v1/vehicles/batch', [focus]).succeeds(202);
  for (const reader of [mine, api, await apiWith({ branchIds: [branch.id] })]) await reader.get(`/v1/vehicle-batches/${id}`).succeeds();
  const stranger = await apiWith({ branchIds: [other.id] });
  await stranger.get(`/v1/vehicle-batches/${id}`).refuses(404, 'not_found');
  assert.deepEqual(await stranger.get('/v1/vehicle-batches').succeeds(), []);
  await (await dealership()).api.get(`/v1/vehicle-batches/${id}`).refuses(404, 'not_found');
});

test('two workers on one batch write every item once', async () => {
  const dealer = await dealership();
  const items = Array.from({ length: 200 }, () => focus);
  const { id } = await dealer.api.post('/v1/vehicles/batch', items).succeeds(202);
  await Promise.all([writeRemaining(dealer.ctx, id), writeRemaining(dealer.ctx, id)]);
  const batch = await dealer.api.get(`/v1/vehicle-batches/${id}`).succeeds();
  assert.deepEqual([batch.status, batch.created], ['completed', 200]);
  const { rows } = await dealer.service.pools.doors.query(
    'select count(*) as n, max(stock_number::int) as last from vehicle where dealer_id = $1',
    [dealer.id],
  );
  assert.deepEqual([rows[0].n, rows[0].last], [200, 200]);
  assert.equal((await completions(dealer)).length, 1);
});

test('a vehicle that cannot be saved fails alone', async () => {
  const dealer = await dealership();
  // A fault of the database's own for one vehicle of many.
  await dealer.service.pools.doors.query(`
    create function poison() returns trigger language plpgsql as $$ begin if new.model = 'Poison' then raise data_exception; end if; return new; end $$;
    create trigger poison before insert on vehicle for each row execute function poison()`);
  const batch = await upload(dealer, [focus, { ...focus, model: 'Poison' }, focus]);
  await dealer.service.pools.doors.query('drop trigger poison on vehicle; drop function poison');
  assert.deepEqual(brief(batch), [['created', null], 'internal_error', ['created', null]]);
  assert.equal((await completions(dealer)).length, 1);
});

test('batches are kept for 90 days', async () => {
  const dealer = await dealership();
  dealer.clock.move({});
  const { id } = await dealer.api.post('/v1/vehicles/batch', [focus]).succeeds(202);
  dealer.clock.move({ days: 89 });
  await dealer.api.get(`/v1/vehicle-batches/${id}`).succeeds();
  dealer.clock.move({ days: 2 });
  await dealer.api.get(`/v1/vehicle-batches/${id}`).refuses(404, 'not_found');
  await sweepBatches(dealer.service);
  dealer.clock.release();
  const { rows } = await dealer.service.pools.doors.query('select count(*) as n from vehicle_batch_item where batch_id = $1', [id]);
  assert.equal(rows[0].n, 0);
});

test('an id that matches nothing is visible on an item that fails, too, and so is the match of one that is refused', async () => {
  const dealer = await dealership();
  const sold = await dealer.api.post('/v1/vehicles', { ...focus, external_id: 'sold', status: 'FOR_SALE', asking_price: 1 }).succeeds(201);
  await moveForDeal(dealer.ctx, sold.id, 'SOLD', null);
  const { items } = await upload(dealer, [
    { id: nobody, asking_price: 5 },
    { external_id: 'sold', asking_price: 2 },
  ]);
  assert.deepEqual([items[0].status, items[0].warnings, items[0].matched_by], ['failed', ['id_not_matched'], null]);
  assert.deepEqual([items[1].error.code, items[1].matched_by, items[1].vehicle_id], ['vehicle_in_deal', 'external_id', sold.id]);
});

test('a dry run tells no id of a vehicle that does not exist yet, also where two items mean the same new one', async () => {
  const { api } = await dealership();
  const items = [
    { ...focus, external_id: 'twice' },
    { external_id: 'twice', colour: 'Red' },
  ];
  const tried = await api.post('/v1/vehicles/batch?dry_run=true', items).succeeds(200);
  assert.deepEqual(
    tried.items.map(({ operation, vehicle_id }: Record<string, unknown>) => [operation, vehicle_id]),
    [
      ['created', null],
      ['updated', null],
    ],
  );
});
