import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dealership } from '../../../test/support/dealership.ts';
import { createUser, setUser, whoManages } from './index.ts';

const somebody = { email: 'Sales@Example.com ', name: 'A Member', role: 'SALES_EXECUTIVE', password: 'correct horse' } as const;

test('a password is kept as an argon2id hash that differs each time', async () => {
  const { ctx, service, id } = await dealership();
  await createUser(ctx, somebody);
  await createUser(ctx, { ...somebody, email: 'other@example.com' });
  const { rows } = await service.pools.doors.query("select password_hash from staff where dealer_id = $1 and email like '%@example.com'", [
    id,
  ]);
  const hashes = rows.map(({ password_hash }: { password_hash: string }) => password_hash);
  for (const hash of hashes) assert.match(hash, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  assert.notEqual(hashes[0], hashes[1]);
});

test('an e-mail address is one member of staff, however it is spelled, until that one is deleted', async () => {
  const { ctx } = await dealership();
  const first = await createUser(ctx, somebody);
  await assert.rejects(createUser(ctx, { ...somebody, email: 'sales@example.COM' }), { code: 'validation_failed' });
  assert.deepEqual(await setUser(ctx, 'SALES@example.com', { status: 'deleted' }), first);
  const second = await createUser(ctx, somebody);
  assert.notDeepEqual(second, first);
  assert.deepEqual(await setUser(ctx, 'sales@example.com', { status: 'banned' }), second);
});

test('what is wrong with a new member of staff is told by field', async () => {
  const { ctx } = await dealership();
  const refused = (input: object, field: string) =>
    assert.rejects(createUser(ctx, { ...somebody, ...input } as never), (refusal: { fields?: object }) =>
      Object.keys(refusal.fields ?? {}).includes(field),
    );
  await refused({ email: 'nobody' }, 'email');
  await refused({ role: 'BOSS' }, 'role');
  await refused({ password: 'short' }, 'password');
  await refused({ branches: ['00000000-0000-4000-8000-000000000000'] }, 'branches');
});

test('a permission that is withheld counts for the next request, and so does one given back', async () => {
  const { ctx, newUser, apiWith } = await dealership();
  const { id, email } = await newUser({ role: 'SALES_MANAGER' });
  const api = await apiWith({ ownerId: id });
  const focus = { condition: 'USED', make: 'Ford', model: 'Focus' };
  await api.post('/v1/vehicles', focus).succeeds(201);
  await setUser(ctx, email, { without: ['STOCK_EDIT'] });
  const { required } = await api.post('/v1/vehicles', focus).refuses(403, 'scope_not_permitted_for_owner');
  assert.deepEqual(required, { scope: 'vehicles:write', permission: 'STOCK_EDIT' });
  await api.get('/v1/vehicles').succeeds();
  await setUser(ctx, email, { with: ['STOCK_EDIT'] });
  await api.post('/v1/vehicles', focus).succeeds(201);
  await setUser(ctx, email, { role: 'TECHNICIAN' });
  await api.get('/v1/vehicles').refuses(403, 'scope_not_permitted_for_owner');
});

test('changes of a member of staff are told in the activity log by their fields, once', async () => {
  const { ctx, newUser, service, id: dealerId } = await dealership();
  const { id, email } = await newUser();
  for (let n = 0; n < 2; n++) await setUser(ctx, email, { role: 'ACCOUNTS', without: ['SALES_EDIT'] });
  const { rows } = await service.pools.doors.query(
    'select action, fields from activity where dealer_id = $1 and record_id = $2 order by at, id',
    [dealerId, id],
  );
  assert.deepEqual(rows, [
    { action: 'created', fields: ['email', 'name', 'role', 'branches'] },
    { action: 'updated', fields: ['role', 'withheld'] },
  ]);
});

test('whoever is banned or deleted manages nothing, nor does anybody of another dealership', async () => {
  const { ctx, owner, newUser } = await dealership();
  await (await dealership()).newUser();
  const names = async () => (await whoManages(ctx, 'WEBHOOKS_MANAGE')).map(({ email }) => email);
  const [second, third] = [await newUser(), await newUser()];
  assert.deepEqual(await names(), [owner.email, second.email, third.email]);
  await setUser(ctx, second.email, { status: 'banned' });
  await setUser(ctx, third.email, { status: 'deleted' });
  assert.deepEqual(await names(), [owner.email]);
  await setUser(ctx, second.email, { status: 'active' });
  assert.deepEqual(await names(), [owner.email, second.email]);
});
