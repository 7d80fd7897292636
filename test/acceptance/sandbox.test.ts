import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setUser } from '#modules/staff/index.ts';
import { resetSandbox } from '../../src/app/prepare.ts';
import { dealership } from '../support/dealership.ts';
import { sandbox } from '../support/sandbox.ts';

const car = { condition: 'USED', make: 'Ford', model: 'Fiesta' };
const testKey = { environment: 'test' } as const;
const ids = (items: { id: string }[]) => items.map(({ id }) => id);

test('test keys of all dealerships reach one sandbox dealer and share its records; their own dealership’s stay apart', async () => {
  const [a, b] = [await dealership(), await dealership()];
  const [ofA, ofB] = [await a.apiWith(testKey), await b.apiWith(testKey)];
  const shared = await sandbox();
  for (const api of [ofA, ofB]) assert.equal((await api.get('/v1/me').succeeds()).id, shared.id);
  const { id } = await ofA.post('/v1/vehicles', { ...car, external_id: `${a.code}-1` }).succeeds(201);
  assert.equal((await ofB.patch(`/v1/vehicles/${id}`, { colour: 'Red' }).succeeds()).colour, 'Red');
  assert.deepEqual(ids(await ofB.get(`/v1/vehicles?external_id=${a.code}-1`).succeeds()), [id]);
  await a.api.get(`/v1/vehicles/${id}`).refuses(404, 'not_found');
  const own = await a.api.post('/v1/vehicles', car).succeeds(201);
  await ofA.get(`/v1/vehicles/${own.id}`).refuses(404, 'not_found');
  assert.deepEqual(await a.api.get(`/v1/vehicles?external_id=${a.code}-1`).succeeds(), []);
});

test('a test key acts as the sandbox’s own user: its permissions count, not those of who made the key', async () => {
  const { newUser, apiWith } = await dealership();
  const shared = await sandbox();
  const marketer = await newUser({ role: 'MARKETING' });
  const api = await apiWith({ ...testKey, ownerId: marketer.id });
  const { owner, key } = await api.get('/v1/me').succeeds();
  assert.deepEqual(owner, { id: shared.user.id, name: shared.user.name });
  assert.ok(key.effective_scopes.includes('vehicles:write'));
  await api.post('/v1/vehicles', car).succeeds(201);
  await shared.permit({ without: ['STOCK_EDIT'] });
  await api.post('/v1/vehicles', car).refuses(403, 'scope_not_permitted_for_owner');
  await shared.permit({ with: ['STOCK_EDIT'] });
  await api.post('/v1/vehicles', car).succeeds(201);
});

test('a test key is refused when the member of staff who made it is banned or deleted', async () => {
  const { newUser, apiWith, ctx } = await dealership();
  for (const status of ['banned', 'deleted'] as const) {
    const owner = await newUser();
    const api = await apiWith({ ...testKey, ownerId: owner.id });
    await api.get('/v1/me').succeeds();
    await setUser(ctx, owner.email, { status });
    await api.get('/v1/me').refuses(401, 'key_owner_inactive');
  }
});

test('a secret test key follows the caller’s plan and needs a paid one; a publishable test key works on every plan', async () => {
  const { apiWith, setPlan } = await dealership();
  const [secret, publishable] = [await apiWith(testKey), await apiWith({ ...testKey, kind: 'publishable' })];
  await secret.get('/v1/me').succeeds();
  await setPlan('FREE');
  await secret.get('/v1/me').refuses(403, 'plan_not_entitled');
  await publishable.get('/v1/me').succeeds();
  await setPlan('STANDARD');
  assert.equal((await secret.get('/v1/me').succeeds()).plan.code, 'STANDARD');
});

test('while the sandbox is switched off test keys answer sandbox_unavailable, and live keys go on', async () => {
  const { api, apiWith } = await dealership();
  const keys = [await apiWith(testKey), await apiWith({ ...testKey, kind: 'publishable' })];
  const shared = await sandbox();
  await shared.available(false);
  for (const each of keys) await each.get('/v1/me').refuses(401, 'sandbox_unavailable');
  await api.get('/v1/me').succeeds();
  await shared.available(true);
  for (const each of keys) await each.get('/v1/me').succeeds();
});

test('a sandbox that nobody is there to act for is unavailable, and no other request is the worse for it', async () => {
  const { api, apiWith, service } = await dealership();
  const test = await apiWith(testKey);
  const shared = await sandbox();
  await service.pools.doors.query('update dealer set acts_as_id = null where is_sandbox');
  await Promise.all(
    Array.from(
      { length: 20 },
      async (_, i) => void (i % 2 ? await api.get('/v1/me').succeeds() : await test.get('/v1/me').refuses(401, 'sandbox_unavailable')),
    ),
  );
  await service.pools.doors.query('update dealer set acts_as_id = $1 where is_sandbox', [shared.user.id]);
  await test.get('/v1/me').succeeds();
});

test('the branches of a test key are the sandbox’s', async () => {
  const { branch, apiWith } = await dealership();
  const api = await apiWith(testKey);
  await sandbox();
  const { branches } = await api.get('/v1/me').succeeds();
  assert.ok(branches.length > 1 && !ids(branches).includes(branch.id));
  const restricted = await apiWith({ ...testKey, branchIds: [branches[1].id] });
  assert.deepEqual((await restricted.get('/v1/me').succeeds()).branches, [branches[1]]);
  const elsewhere = await api.post('/v1/vehicles', { ...car, branch_id: branches[0].id }).succeeds(201);
  await restricted.get(`/v1/vehicles/${elsewhere.id}`).refuses(404, 'not_found');
  assert.equal((await restricted.post('/v1/vehicles', car).succeeds(201)).branch_id, branches[1].id);
});

test('another dealership’s key does not meet an idempotency key used in the sandbox', async () => {
  const [a, b] = [await dealership(), await dealership()];
  const [ofA, ofB] = [await a.apiWith(testKey), await b.apiWith(testKey)];
  const once = { 'idempotency-key': 'import-1' };
  const first = await ofA.post('/v1/vehicles', car, once);
  const other = await ofB.post('/v1/vehicles', { ...car, make: 'Skoda' }, once);
  assert.deepEqual([first.status, other.status, other.headers['idempotent-replayed']], [201, 201, undefined]);
  assert.notEqual(first.body.data.id, other.body.data.id);
  const replay = await ofA.post('/v1/vehicles', car, once);
  assert.deepEqual([replay.headers['idempotent-replayed'], replay.body.data.id], ['true', first.body.data.id]);
});

test('batches in the sandbox belong to the calling dealership', async () => {
  const [a, b] = [await dealership(), await dealership()];
  const [ofA, alsoA, ofB] = [await a.apiWith(testKey), await a.apiWith(testKey), await b.apiWith(testKey)];
  const { id } = await ofA.post('/v1/vehicles/batch', [car]).succeeds(202);
  await alsoA.get(`/v1/vehicle-batches/${id}`).succeeds();
  await ofB.get(`/v1/vehicle-batches/${id}`).refuses(404, 'not_found');
  assert.deepEqual(await ofB.get('/v1/vehicle-batches').succeeds(), []);
});

test('a calling dealership’s part of the sandbox is 50 vehicles of counted statuses; deleting or disposing of one makes room', async () => {
  const { id: dealerId, code, apiWith, service } = await dealership();
  const api = await apiWith(testKey);
  const { sandboxStockShare: share } = service.limits;
  const made: string[] = [];
  for (let i = 0; i < share; i++) made.push((await api.post('/v1/vehicles', { ...car, external_id: `${code}-${i}` }).succeeds(201)).id);
  await api.post('/v1/vehicles', car).refuses(403, 'sandbox_stock_cap_reached');
  await api.post('/v1/vehicles', { ...car, status: 'DISPOSED' }).succeeds(201);
  await api.patch(`/v1/vehicles/${made[0]}`, { colour: 'Red' }).succeeds();
  await api.delete(`/v1/vehicles/${made[0]}`).succeeds();
  await api.post('/v1/vehicles', car).succeeds(201);
  await api.post('/v1/vehicles', car).refuses(403, 'sandbox_stock_cap_reached');
  await (await (await dealership()).apiWith(testKey)).post('/v1/vehicles', car).succeeds(201);
  const { rows } = await service.pools.doors.query(
    'select count(*)::int as n from vehicle where created_for_dealer_id = $1 and deleted_at is null',
    [dealerId],
  );
  assert.equal(rows[0].n, share + 1);
});

test('the whole sandbox holds 500 vehicles, whoever’s they are', async () => {
  const { apiWith, service } = await dealership();
  const api = await apiWith(testKey);
  const { id: sandboxId } = await sandbox();
  const { id } = await api.post('/v1/vehicles', { ...car, metadata: { filler: 'yes' } }).succeeds(201);
  const counted =
    "dealer_id = $1 and deleted_at is null and status in ('DUE_IN', 'IN_PREPARATION', 'FOR_SALE', 'RESERVED', 'NOT_FOR_SALE')";
  const { rows } = await service.pools.doors.query(`select count(*)::int as n from vehicle where ${counted}`, [sandboxId]);
  // Copies of the one, made for dealerships that do not matter.
  await service.pools.doors.query(
    `insert into vehicle select (jsonb_populate_record(v, jsonb_build_object('id', gen_random_uuid(), 'created_for_dealer_id', gen_random_uuid()))).*
       from vehicle v, generate_series(1, $3::int) where v.dealer_id = $1 and v.id = $2`,
    [sandboxId, id, service.limits.sandboxStockCap - rows[0].n - 1],
  );
  assert.deepEqual((await api.get('/v1/me').succeeds()).limits.stock, { cap: 500, used: 499 });
  await api.post('/v1/vehicles', car).succeeds(201);
  await api.post('/v1/vehicles', car).refuses(403, 'sandbox_stock_cap_reached');
  await api.patch(`/v1/vehicles/${id}`, { colour: 'Red' }).succeeds();
});

test('the nightly reset puts the sandbox back to its seed, and leaves it switched off when it was', async () => {
  const { apiWith, service } = await dealership();
  const api = await apiWith(testKey);
  const shared = await sandbox();
  const { id } = await api.post('/v1/vehicles', { ...car, status: 'DISPOSED' }).succeeds(201);
  const [customer] = await api.get('/v1/customers?limit=1').succeeds();
  const deal = await api.post('/v1/deals', { customer_id: customer.id }).succeeds(201);
  await resetSandbox(service);
  await api.get(`/v1/vehicles/${id}`).refuses(404, 'not_found');
  await api.get(`/v1/deals/${deal.id}`).refuses(404, 'not_found');
  const seed = (await api.get('/v1/vehicles?limit=100').succeeds()).length;
  assert.ok(seed > 0 && seed < service.limits.sandboxStockShare);
  await shared.available(false);
  await resetSandbox(service);
  await api.get('/v1/me').refuses(401, 'sandbox_unavailable');
  await shared.available(true);
  assert.equal((await api.get('/v1/vehicles?limit=100').succeeds()).length, seed);
});
