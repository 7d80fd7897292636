import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Api } from '../support/api.ts';
import { dealership } from '../support/dealership.ts';

const car = (model: string) => ({ condition: 'USED', make: 'Ford', model });

async function stock(api: Api, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < count; i++) ids.push((await api.post('/v1/vehicles', car(`Model ${i}`)).succeeds(201)).id);
  return ids;
}

const idsOf = (page: { data: { id: string }[] }) => page.data.map(({ id }) => id);

test('a list is ordered by updated_at, then id, and its pages hold every item once', async () => {
  const { api } = await dealership();
  const ids = await stock(api, 7);
  await api.patch(`/v1/vehicles/${ids[2]}`, { trim: 'Zetec' }).succeeds();
  const seen: string[] = [];
  for (let path: string | null = '/v1/vehicles?limit=3'; path; ) {
    const { body } = await api.get(path);
    seen.push(...idsOf(body));
    assert.equal(body.meta.has_more, body.meta.next_cursor !== null);
    path = body.meta.next_cursor && `/v1/vehicles?limit=3&cursor=${body.meta.next_cursor}`;
  }
  assert.deepEqual(seen, [...ids.filter((id) => id !== ids[2]), ids[2]]);
});

test('limit is 1 to 100, 25 when absent, and may change between pages', async () => {
  const { api } = await dealership();
  const ids = await stock(api, 27);
  const first = await api.get('/v1/vehicles');
  assert.equal(first.body.data.length, 25);
  const second = await api.get(`/v1/vehicles?limit=1&cursor=${first.body.meta.next_cursor}`);
  assert.deepEqual(idsOf(second.body), [ids[25]]);
  assert.equal((await api.get('/v1/vehicles?limit=100')).body.data.length, 27);
  for (const limit of ['0', '101', '-1', '1.5', 'ten', '', '1,2']) {
    const { errors } = await api.get(`/v1/vehicles?limit=${limit}`).refuses(422, 'validation_failed');
    assert.deepEqual(Object.keys(errors), ['limit']);
  }
});

test('a cursor that was altered, or is used by another dealer, on another list or with other filters, is refused', async () => {
  const { api } = await dealership();
  await stock(api, 3);
  const cursor: string = (await api.get('/v1/vehicles?limit=1')).body.meta.next_cursor;
  await api.get(`/v1/vehicles?limit=2&cursor=${cursor}`).succeeds();
  const stranger = await dealership();
  const altered = [`${cursor.slice(0, -2)}AA`, `A${cursor.slice(1)}`, cursor.split('.')[0], `.${cursor.split('.')[1]}`, 'x', ''];
  // A lenient reader of base64 takes these for the same text.
  altered.push(`${cursor}.x`, `${cursor}.`, `${cursor}!`, `${cursor}=`, `!${cursor}`, cursor.replace('.', '=.'), ` ${cursor}`);
  for (const bad of altered) {
    const { errors } = await api.get(`/v1/vehicles?cursor=${bad}`).refuses(422, 'validation_failed');
    assert.deepEqual(Object.keys(errors), ['cursor']);
  }
  await stranger.api.get(`/v1/vehicles?cursor=${cursor}`).refuses(422, 'validation_failed');
  await api.get(`/v1/branches?cursor=${cursor}`).refuses(422, 'validation_failed');
  await api.get(`/v1/vehicles?status=FOR_SALE&cursor=${cursor}`).refuses(422, 'validation_failed');
  await api.get(`/v1/vehicles?include_deleted=true&cursor=${cursor}`).refuses(422, 'validation_failed');
});

test('any one letter of a cursor changed is noticed', async () => {
  const { api } = await dealership();
  await stock(api, 2);
  const cursor: string = (await api.get('/v1/vehicles?limit=1')).body.meta.next_cursor;
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  // Every third letter, and the last of both parts, which hold bits that a reader of base64 may overlook.
  const places = [...cursor].map((_, i) => i).filter((i) => i % 3 === 0 || (cursor[i + 1] ?? '.') === '.');
  for (const i of places.filter((i) => cursor[i] !== '.')) {
    const other = letters[(letters.indexOf(cursor[i]!) + 1) % 64];
    const bad = cursor.slice(0, i) + other + cursor.slice(i + 1);
    assert.equal((await api.get(`/v1/vehicles?cursor=${bad}`)).status, 422, `letter ${i}`);
  }
});

test('updated_since is inclusive, and the moment a client saw never makes it miss that row', async () => {
  const { api, clock } = await dealership();
  try {
    clock.set('2030-01-01T00:00:00.999999Z');
    const [early] = await stock(api, 1);
    clock.set('2030-01-01T00:00:05.500000Z');
    const [late] = await stock(api, 1);
    const shown = (await api.get(`/v1/vehicles/${late}`).succeeds()).updated_at;
    assert.equal(shown, '2030-01-01T00:00:05Z');
    assert.deepEqual(idsOf((await api.get(`/v1/vehicles?updated_since=${shown}`)).body), [late]);
    assert.deepEqual(idsOf((await api.get('/v1/vehicles?updated_since=2030-01-01T00:00:05.5Z')).body), [late]);
    assert.deepEqual(idsOf((await api.get('/v1/vehicles?updated_since=2030-01-01T00:00:05.500001Z')).body), []);
    assert.deepEqual(idsOf((await api.get('/v1/vehicles?updated_since=2030-01-01T01:00:00.999999%2B01:00')).body), [early, late]);
    assert.deepEqual(idsOf((await api.get('/v1/vehicles?updated_before=2030-01-01T00:00:05.5Z')).body), [early]);
    for (const offset of ['+16:00', '-23:59']) {
      await api
        .get(`/v1/vehicles?updated_since=2030-01-01T00:00:00${encodeURIComponent(offset)}&created_before=2030-01-01T00:00:00-23:59`)
        .succeeds();
    }
    for (const bad of ['0001-01-01T00:00:00%2B14:00', '9999-12-31T23:59:59-14:00', '2030-01-01', 'yesterday', '2030-13-01T00:00:00Z', '']) {
      await api.get(`/v1/vehicles?updated_since=${bad}`).refuses(422, 'validation_failed');
    }
  } finally {
    clock.release();
  }
});

test('include_deleted=true adds deleted items as tombstones of exactly three fields, in the same ordered stream', async () => {
  const { api } = await dealership();
  const ids = await stock(api, 3);
  const gone = await api.delete(`/v1/vehicles/${ids[0]}`).succeeds();
  assert.deepEqual(idsOf((await api.get('/v1/vehicles')).body), [ids[1], ids[2]]);
  assert.deepEqual(idsOf((await api.get('/v1/vehicles?include_deleted=false')).body), [ids[1], ids[2]]);
  const { data } = (await api.get('/v1/vehicles?include_deleted=true')).body;
  assert.deepEqual(idsOf({ data }), [ids[1], ids[2], ids[0]]);
  assert.deepEqual(data[2], { id: ids[0], deleted: true, deleted_at: gone.deleted_at });
  for (const bad of ['1', 'TRUE', 'yes', '']) await api.get(`/v1/vehicles?include_deleted=${bad}`).refuses(422, 'validation_failed');
});

test('tombstones pass every filter but branch_id, ids, external_id and updated_*', async () => {
  const { api, newBranch, branch } = await dealership();
  const other = await newBranch();
  const { id } = await api.post('/v1/vehicles', { ...car('Ka'), external_id: 'x' }).succeeds(201);
  await api.delete(`/v1/vehicles/${id}`).succeeds();
  const found = async (filter: string) => idsOf((await api.get(`/v1/vehicles?include_deleted=true&${filter}`)).body);
  assert.deepEqual(await found('make=Volvo&status=SOLD&min_asking_price=1'), [id]);
  assert.deepEqual(await found(`branch_id=${branch.id}`), [id]);
  assert.deepEqual(await found(`branch_id=${other.id}`), []);
  assert.deepEqual(await found('external_id=y'), []);
  assert.deepEqual(await found(`ids=${other.id}`), []);
  assert.deepEqual(await found('updated_since=2100-01-01T00:00:00Z'), []);
});

test('include_deleted is refused on lists of what cannot be deleted', async () => {
  const { api } = await dealership();
  const { errors } = await api.get('/v1/branches?include_deleted=true').refuses(422, 'validation_failed');
  assert.deepEqual(Object.keys(errors), ['include_deleted']);
});

test('resume_cursor goes on behind the last row even when nothing follows yet', async () => {
  const { api } = await dealership();
  const empty = await api.get('/v1/vehicles');
  assert.deepEqual([empty.body.data, empty.body.meta.has_more, empty.body.meta.next_cursor], [[], false, null]);
  const [first] = await stock(api, 1);
  const page = await api.get(`/v1/vehicles?cursor=${empty.body.meta.resume_cursor}`);
  assert.deepEqual(idsOf(page.body), [first]);
  const nothing = await api.get(`/v1/vehicles?cursor=${page.body.meta.resume_cursor}`);
  assert.deepEqual(nothing.body.data, []);
  await api.patch(`/v1/vehicles/${first}`, { trim: 'Zetec' }).succeeds();
  assert.deepEqual(idsOf((await api.get(`/v1/vehicles?cursor=${nothing.body.meta.resume_cursor}`)).body), [first]);
});

test('ids takes up to 100 ids and shows those that are visible', async () => {
  const { api } = await dealership();
  const stranger = await dealership();
  const ids = await stock(api, 3);
  const [foreign] = await stock(stranger.api, 1);
  assert.deepEqual(idsOf((await api.get(`/v1/vehicles?ids=${ids[0]},${foreign},${ids[2]}`)).body), [ids[0], ids[2]]);
  await api.get(`/v1/vehicles?ids=${Array(101).fill(ids[0]).join(',')}`).refuses(422, 'validation_failed');
  await api.get('/v1/vehicles?ids=1').refuses(422, 'validation_failed');
});

test('an unknown query parameter is refused, with the name it may have meant', async () => {
  const { api } = await dealership();
  const { errors } = await api.get('/v1/vehicles?update_since=2030-01-01T00:00:00Z').refuses(422, 'validation_failed');
  assert.deepEqual(errors, { update_since: ['Unknown field. Did you mean "updated_since"?'] });
});
