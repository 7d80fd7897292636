import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setUser } from '#modules/staff/index.ts';
import type { Api } from '../support/api.ts';
import { dealership } from '../support/dealership.ts';

const car = { condition: 'USED', make: 'Ford', model: 'Fiesta' };
const nobody = '00000000-0000-0000-0000-000000000000';
const ids = (items: { id: string }[]) => items.map(({ id }) => id).sort();

/** A dealership of three branches with a vehicle at each. */
async function threeBranches() {
  const d = await dealership();
  const [a, b, c] = [d.branch, await d.newBranch(), await d.newBranch()];
  const at = async (branch: { id: string }) =>
    (await d.api.post('/v1/vehicles', { ...car, branch_id: branch.id }).succeeds(201)).id as string;
  const cars = [await at(a), await at(b), await at(c)] as const;
  return { ...d, a, b, c, cars, at };
}

const seen = async (api: Api) => ids(await api.get('/v1/vehicles').succeeds());
const reach = async (api: Api) => {
  const { key, branches } = await api.get('/v1/me').succeeds();
  return { all: key.all_branches, ids: [...key.branch_ids].sort(), shown: ids(branches) };
};

test('the effective branches are the key’s chosen branches and its owner’s, together', async () => {
  const { a, b, c, cars, newUser, apiWith } = await threeBranches();
  const owner = await newUser({ branches: [b.id, c.id] });
  const api = await apiWith({ ownerId: owner.id, branchIds: [a.id, b.id] });
  assert.deepEqual(await reach(api), { all: false, ids: [b.id], shown: [b.id] });
  assert.deepEqual(await seen(api), [cars[1]]);
  assert.deepEqual(ids(await api.get('/v1/branches').succeeds()), [b.id]);
  await api.get(`/v1/vehicles/${cars[1]}`).succeeds();
  await api.get(`/v1/vehicles/${cars[0]}`).refuses(404, 'not_found');
  const unchosen = await apiWith({ ownerId: owner.id });
  assert.deepEqual(await reach(unchosen), { all: false, ids: [b.id, c.id].sort(), shown: [b.id, c.id].sort() });
});

test('all branches is a value of its own, which takes in branches that come later', async () => {
  const { a, b, c, cars, newBranch, at, apiWith } = await threeBranches();
  const api = await apiWith();
  const empty = await apiWith({ branchIds: [] });
  const later = await newBranch();
  const there = await at(later);
  for (const each of [api, empty]) {
    assert.deepEqual(await reach(each), { all: true, ids: [], shown: [a.id, b.id, c.id, later.id].sort() });
    assert.deepEqual(await seen(each), [...cars, there].sort());
  }
});

test('an empty intersection sees nothing of any branch and writes nothing', async () => {
  const { a, b, cars, newUser, apiWith } = await threeBranches();
  const owner = await newUser({ branches: [a.id] });
  const api = await apiWith({ ownerId: owner.id, branchIds: [b.id] });
  assert.deepEqual(await reach(api), { all: false, ids: [], shown: [] });
  assert.deepEqual(await seen(api), []);
  assert.deepEqual(await api.get('/v1/branches').succeeds(), []);
  assert.deepEqual(await api.get('/v1/vehicle-batches').succeeds(), []);
  for (const id of cars) await api.get(`/v1/vehicles/${id}`).refuses(404, 'not_found');
  const { errors } = await api.post('/v1/vehicles', car).refuses(422, 'validation_failed');
  assert.deepEqual(Object.keys(errors), ['branch_id']);
  await api.post('/v1/vehicles', { ...car, branch_id: a.id }).refuses(403, 'branch_move_not_permitted');
  await api.get('/v1/reference/vehicle-statuses').succeeds();
});

test('a changed restriction of key or owner counts for the very next request', async () => {
  const { a, b, cars, newUser, apiWith, ctx, service } = await threeBranches();
  const owner = await newUser();
  const api = await apiWith({ ownerId: owner.id });
  assert.equal((await seen(api)).length, 3);
  await setUser(ctx, owner.email, { branches: [a.id] });
  assert.deepEqual(await seen(api), [cars[0]]);
  await setUser(ctx, owner.email, { branches: 'all' });
  const { key } = await api.get('/v1/me').succeeds();
  await service.pools.doors.query('update api_key set all_branches = false, branch_ids = $2 where id = $1', [key.id, [b.id]]);
  assert.deepEqual(await seen(api), [cars[1]]);
  await service.pools.doors.query('update api_key set branch_ids = $2 where id = $1', [key.id, []]);
  assert.deepEqual(await seen(api), []);
});

test('a record of another branch is indistinguishable from a missing one, to read, change, delete and match', async () => {
  const { b, c, cars, apiWith, api } = await threeBranches();
  const restricted = await apiWith({ branchIds: [b.id] });
  for (const id of [cars[2], nobody]) {
    await restricted.get(`/v1/vehicles/${id}`).refuses(404, 'not_found');
    await restricted.patch(`/v1/vehicles/${id}`, { colour: 'Red' }).refuses(404, 'not_found');
    await restricted.patch(`/v1/vehicles/${id}`, { branch_id: b.id }).refuses(404, 'not_found');
    await restricted.delete(`/v1/vehicles/${id}`).refuses(404, 'not_found');
    assert.deepEqual(await restricted.get(`/v1/vehicles?ids=${id}`).succeeds(), []);
    const { items } = await restricted.post('/v1/vehicles/batch?dry_run=true', [{ ...car, id }]).succeeds();
    assert.deepEqual([items[0].operation, items[0].matched_by, items[0].warnings], ['created', null, ['id_not_matched']]);
  }
  assert.deepEqual(await restricted.get(`/v1/vehicles?branch_id=${c.id}`).succeeds(), []);
  assert.deepEqual(await restricted.get(`/v1/branches?ids=${c.id}`).succeeds(), []);
  await restricted.get(`/v1/branches/${c.id}`).refuses(404, 'not_found');
  await api.get(`/v1/vehicles/${cars[2]}`).succeeds();
});

test('without branch_id a vehicle comes to the default branch, else to the caller’s only one, else the field is required', async () => {
  const { a, b, c, apiWith } = await threeBranches();
  const placed = async (branchIds: string[]) => (await (await apiWith({ branchIds })).post('/v1/vehicles', car).succeeds(201)).branch_id;
  assert.equal(await placed([]), a.id);
  assert.equal(await placed([b.id, a.id]), a.id);
  assert.equal(await placed([c.id]), c.id);
  const { errors } = await (await apiWith({ branchIds: [b.id, c.id] })).post('/v1/vehicles', car).refuses(422, 'validation_failed');
  assert.deepEqual(Object.keys(errors), ['branch_id']);
});

test('a vehicle moves within the effective branches; beyond them, or where the dealership forbids it: branch_move_not_permitted', async () => {
  const { id: dealerId, a, b, c, cars, apiWith, api, service } = await threeBranches();
  const restricted = await apiWith({ branchIds: [a.id, b.id] });
  const moved = await restricted.patch(`/v1/vehicles/${cars[0]}`, { branch_id: b.id }).succeeds();
  assert.deepEqual([moved.branch_id, moved.branch?.id], [b.id, b.id]);
  await restricted.patch(`/v1/vehicles/${cars[0]}`, { branch_id: c.id }).refuses(403, 'branch_move_not_permitted');
  await restricted.post('/v1/vehicles', { ...car, branch_id: c.id }).refuses(403, 'branch_move_not_permitted');
  for (const unknown of [nobody, (await dealership()).branch.id]) {
    const { errors } = await restricted.patch(`/v1/vehicles/${cars[0]}`, { branch_id: unknown }).refuses(422, 'validation_failed');
    assert.deepEqual(Object.keys(errors), ['branch_id']);
  }
  await service.pools.doors.query('update dealer set transfers_by_api = false where id = $1', [dealerId]);
  await api.patch(`/v1/vehicles/${cars[0]}`, { branch_id: a.id }).refuses(403, 'branch_move_not_permitted');
  assert.equal(
    (await api.patch(`/v1/vehicles/${cars[0]}`, { branch_id: b.id, colour: 'Red' }).succeeds()).colour,
    'Red',
    'where it is already',
  );
  await api.post('/v1/vehicles', { ...car, branch_id: c.id }).succeeds(201);
});

test('a vehicle that moves out of reach is gone for the key', async () => {
  const { a, b, cars, apiWith, api } = await threeBranches();
  const restricted = await apiWith({ branchIds: [a.id] });
  await restricted.get(`/v1/vehicles/${cars[0]}`).succeeds();
  await api.patch(`/v1/vehicles/${cars[0]}`, { branch_id: b.id }).succeeds();
  await restricted.get(`/v1/vehicles/${cars[0]}`).refuses(404, 'not_found');
  assert.deepEqual(await restricted.get('/v1/vehicles?include_deleted=true').succeeds(), []);
});

test('a branch-restricted key sees only batches posted with the same branches, or by itself', async () => {
  const { a, b, apiWith, api } = await threeBranches();
  const [mine, sameBranches, others, owns] = [
    await apiWith({ branchIds: [a.id, b.id] }),
    await apiWith({ branchIds: [b.id, a.id] }),
    await apiWith({ branchIds: [a.id] }),
    await apiWith({ branchIds: [a.id, b.id], scopes: ['vehicles:write'] }),
  ];
  const { id } = await mine.post('/v1/vehicles/batch', [{ ...car, branch_id: a.id }]).succeeds(202);
  for (const each of [mine, sameBranches, owns, api]) {
    await each.get(`/v1/vehicle-batches/${id}`).succeeds();
    assert.deepEqual(ids(await each.get('/v1/vehicle-batches').succeeds()), [id]);
  }
  await others.get(`/v1/vehicle-batches/${id}`).refuses(404, 'not_found');
  assert.deepEqual(await others.get('/v1/vehicle-batches').succeeds(), []);
});

test('a deleted branch stays in the restriction: the key does not see all branches for it', async () => {
  const { id: dealerId, b, cars, apiWith, service } = await threeBranches();
  const api = await apiWith({ branchIds: [b.id] });
  await service.pools.doors.query('update branch set deleted_at = clock_timestamp() where dealer_id = $1 and id = $2', [dealerId, b.id]);
  assert.deepEqual(await reach(api), { all: false, ids: [b.id], shown: [] });
  assert.deepEqual(await seen(api), [cars[1]]);
  assert.deepEqual(await api.get('/v1/branches').succeeds(), []);
  await api.post('/v1/vehicles', car).refuses(422, 'validation_failed');
});

test('a key is restricted to branches of its dealership alone: those of a live key its own, of a test key the sandbox’s', async () => {
  const { a, newKey, apiWith } = await threeBranches();
  const stranger = await dealership();
  const [inSandbox] = (await (await apiWith({ environment: 'test' })).get('/v1/me').succeeds()).branches;
  for (const elsewhere of [
    { branchIds: [stranger.branch.id] },
    { branchIds: [inSandbox.id] },
    { environment: 'test' as const, branchIds: [a.id] },
  ]) {
    await assert.rejects(newKey(elsewhere), ({ fields }: { fields?: object }) => Object.keys(fields ?? {}).join() === 'branchIds');
  }
  await newKey({ environment: 'test', branchIds: [inSandbox.id] });
});
