import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bodyTypes } from '#modules/vehicles/contract.ts';
import { dealership } from '../../../test/support/dealership.ts';
import type { ReferenceCode } from './contract.ts';
import { arrangeList, isDealerCode } from './index.ts';
import { shippedLists } from './lists.ts';

const codes = (list: readonly ReferenceCode[]) => list.map(({ code }) => code);

test('every list is named, and each can be read', async () => {
  const { api } = await dealership();
  const { body } = await api.get('/v1/reference');
  assert.deepEqual(body.meta, { next_cursor: null, has_more: false });
  assert.equal(body.data.length, 42);
  assert.deepEqual(body.data[0], { name: 'vehicle-statuses', title: 'Vehicle statuses', description: null });
  for (const { name } of body.data) {
    const list = await api.get(`/v1/reference/${name}`);
    assert.deepEqual(list.body.meta, { next_cursor: null, has_more: false });
    assert.deepEqual(codes(list.body.data), codes(shippedLists[name]!.codes as unknown as ReferenceCode[]));
    for (const code of list.body.data) assert.match(code.name, /^[A-Z0-9]/, `${name} ${code.code}`);
  }
});

test('a list shows codes in order with names, the default, and where the API moves a record no further', async () => {
  const { api } = await dealership();
  const statuses: ReferenceCode[] = await api.get('/v1/reference/vehicle-statuses').succeeds();
  assert.deepEqual(statuses[2], {
    code: 'FOR_SALE',
    name: 'For sale',
    description: null,
    is_active: true,
    is_default: false,
    is_final: false,
    group: null,
  });
  assert.deepEqual(codes(statuses.filter(({ is_final }) => is_final)), ['SOLD', 'DELIVERED']);
  const types: ReferenceCode[] = await api.get('/v1/reference/vehicle-types').succeeds();
  assert.deepEqual(codes(types.filter(({ is_default }) => is_default)), ['CAR']);
  assert.ok(types.every(({ is_final }) => is_final === null));
});

test('a body type names the vehicle type it belongs to', async () => {
  const { api } = await dealership();
  const list: ReferenceCode[] = await api.get('/v1/reference/body-types').succeeds();
  assert.deepEqual(codes(list), [...bodyTypes]);
  assert.deepEqual([...new Set(list.map(({ group }) => group))], ['CAR', 'VAN', 'BIKE', 'MOTORHOME']);
});

test('snake_case spellings are accepted; an unknown list is not found', async () => {
  const { api } = await dealership();
  assert.deepEqual(await api.get('/v1/reference/vehicle_statuses').succeeds(), await api.get('/v1/reference/vehicle-statuses').succeeds());
  for (const name of ['colours', 'constructor', '__proto__', 'Vehicle-Statuses'])
    await api.get(`/v1/reference/${name}`).refuses(404, 'not_found');
});

test('any key reads a list, whatever its scopes; a publishable key is not told the names of all', async () => {
  const { apiWith } = await dealership();
  const none = await apiWith({ scopes: [] });
  const publishable = await apiWith({ kind: 'publishable' });
  await none.get('/v1/reference/fuel-types').succeeds();
  await publishable.get('/v1/reference/fuel-types').succeeds();
  await none.get('/v1/reference').succeeds();
  await publishable.get('/v1/reference').refuses(403, 'secret_key_required');
});

test('a dealer’s names, order, hiding and own codes are laid over the list, for that dealer alone', async () => {
  const [mine, other] = [await dealership(), await dealership()];
  const list: ReferenceCode[] = await mine.api.get('/v1/reference/purchase-sources').succeeds();
  await arrangeList(mine.ctx, 'purchase-sources', [
    { code: 'X_FLEET', name: 'Our fleet', description: 'Cars of our own drivers.' },
    ...[...list].reverse().map(({ code }) => ({ code, ...(code === 'AUCTION' && { name: 'The ring', is_active: false }) })),
  ]);

  const arranged: ReferenceCode[] = await mine.api.get('/v1/reference/purchase-sources').succeeds();
  assert.deepEqual(codes(arranged), ['X_FLEET', ...codes(list).reverse()]);
  assert.deepEqual(arranged[0], {
    code: 'X_FLEET',
    name: 'Our fleet',
    description: 'Cars of our own drivers.',
    is_active: true,
    is_default: false,
    is_final: null,
    group: null,
  });
  const auction = arranged.find(({ code }) => code === 'AUCTION');
  assert.deepEqual([auction?.name, auction?.is_active], ['The ring', false]);
  assert.deepEqual(await other.api.get('/v1/reference/purchase-sources').succeeds(), list);
  assert.equal(await isDealerCode(mine.ctx, 'purchase-sources', 'X_FLEET'), true);
  assert.equal(await isDealerCode(other.ctx, 'purchase-sources', 'X_FLEET'), false);
  assert.equal(await isDealerCode(mine.ctx, 'purchase-sources', 'AUCTION'), false);
});

test('codes are fixed: none may be missing, unknown, twice or added where a list takes none', async () => {
  const { ctx } = await dealership();
  const all = ['MANUAL', 'AUTOMATIC'].map((code) => ({ code }));
  const refused = (entries: { code: string; name?: string }[], field: string) =>
    assert.rejects(arrangeList(ctx, 'transmissions', entries), (refusal: { fields?: object }) =>
      Object.keys(refusal.fields ?? {}).includes(field),
    );
  await refused([{ code: 'MANUAL' }], 'entries');
  await refused([...all, { code: 'CVT', name: 'CVT' }], '2.code');
  await refused([...all, { code: 'X_CVT', name: 'CVT' }], '2.code');
  await refused([...all, { code: 'MANUAL' }], '2.code');
  await assert.rejects(arrangeList(ctx, 'deal-types', [{ code: 'X_LEASE' }]), /errors/);
});

test('arranging a list is a line of the activity log; arranging it as it stands is not', async () => {
  const { ctx, service, id } = await dealership();
  const entries = [{ code: 'AUTOMATIC', name: 'Auto' }, { code: 'MANUAL' }];
  await arrangeList(ctx, 'transmissions', entries);
  await arrangeList(ctx, 'transmissions', entries);
  const { rows } = await service.pools.doors.query(
    "select action, fields from activity where dealer_id = $1 and record_type = 'reference_list'",
    [id],
  );
  assert.deepEqual(rows, [{ action: 'updated', fields: ['transmissions.AUTOMATIC', 'transmissions.MANUAL'] }]);
});
