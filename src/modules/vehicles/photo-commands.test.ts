import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import sharp from 'sharp';
import { openTransaction } from '#platform/db/transaction.ts';
import { type Api, speak } from '../../../test/support/api.ts';
import { type Dealership, dealership } from '../../../test/support/dealership.ts';
import { claiming, jpeg, multipart, noisy, plain, sideways } from '../../../test/support/pictures.ts';
import { sandbox } from '../../../test/support/sandbox.ts';
import { until } from '../../../test/support/until.ts';
import { addPhoto, receivePhoto } from './photo-commands.ts';
import { sweepPhotos } from './photo-files.ts';
import { filesOf } from './photo-gallery.ts';
import { noteFile } from './photo-queries.ts';

const focus = { condition: 'USED', make: 'Ford', model: 'Focus' };
const onSale = { ...focus, status: 'FOR_SALE', asking_price: 1_299_500 };
const nobody = '00000000-0000-4000-8000-000000000000';

type Parts = Record<string, string | Buffer>;

function send(api: Api, vehicleId: string, parts: Parts, headers: Record<string, string> = {}, boundary?: string) {
  const { body, headers: type } = multipart(parts, boundary);
  return api.post(`/v1/vehicles/${vehicleId}/images`, body, { ...type, ...headers });
}

const newVehicle = async ({ api }: Pick<Dealership, 'api'>, body: object = focus) =>
  (await api.post('/v1/vehicles', body).succeeds(201)).id as string;

const idsOf = (images: { id: string }[]) => images.map(({ id }) => id);

const updates = async ({ service, id }: Dealership, vehicleId: string): Promise<{ changed: string[]; object: { images: unknown[] } }[]> => {
  const { rows } = await service.pools.doors.query(
    "select data from event where dealer_id = $1 and resource_id = $2 and type = 'vehicle.updated' order by sequence",
    [id, vehicleId],
  );
  return rows.map(({ data }) => JSON.parse(data));
};

test('a photo is added, put in order and removed, each with one vehicle.updated', async () => {
  const dealer = await dealership();
  const { api } = dealer;
  const id = await newVehicle(dealer);
  const first = await send(api, id, { file: await sideways(400, 200), alt: 'From the left' }).succeeds(201);
  assert.deepEqual([first.width, first.height, first.position, first.alt, first.source_url], [200, 400, 0, 'From the left', null]);
  const second = await send(api, id, { file: await plain({ colour: 'red' }).png().toBuffer() }).succeeds(201);
  assert.deepEqual([second.position, second.alt], [1, null]);
  const third = await send(api, id, { file: await plain({ colour: 'blue' }).webp().toBuffer() }).succeeds(201);

  const vehicle = await api.get(`/v1/vehicles/${id}`).succeeds();
  assert.deepEqual(vehicle.images, [first, second, third]);
  assert.equal(vehicle.images_import, null);

  const order = [third.id, first.id, second.id];
  const ordered = await api.put(`/v1/vehicles/${id}/images/order`, { image_ids: order }).succeeds();
  assert.deepEqual(idsOf(ordered.images), order);
  assert.deepEqual(
    ordered.images.map(({ position }: { position: number }) => position),
    [0, 1, 2],
  );
  const same = await api.put(`/v1/vehicles/${id}/images/order`, { image_ids: order }).succeeds();
  assert.equal(same.updated_at, ordered.updated_at);

  const gone = await api.delete(`/v1/vehicles/${id}/images/${first.id}`).succeeds();
  assert.deepEqual(Object.keys(gone).sort(), ['deleted', 'deleted_at', 'id']);
  assert.deepEqual(idsOf((await api.get(`/v1/vehicles/${id}`).succeeds()).images), [third.id, second.id]);
  await api.delete(`/v1/vehicles/${id}/images/${first.id}`).refuses(404, 'not_found');

  const told = await updates(dealer, id);
  assert.deepEqual(
    told.map(({ changed, object }) => [changed, object.images.length]),
    [1, 2, 3, 3, 2].map((count) => [['images'], count]),
  );
});

test('photos are served to whoever has their address, in two sizes, to be kept for ever', async () => {
  const dealer = await dealership();
  const { app } = dealer;
  const id = await newVehicle(dealer);
  const { url, thumbnail_url } = await send(dealer.api, id, { file: await noisy(1200, 800).jpeg().toBuffer() }).succeeds(201);
  for (const [address, width] of [
    [url, 1200],
    [thumbnail_url, 480],
  ]) {
    assert.match(address, /^http:\/\/127\.0\.0\.1:4000\/files\/photos\/[0-9a-f]{2}\/[0-9a-f]{40}(-thumbnail)?\.jpg$/);
    const path = new URL(address).pathname;
    const { statusCode, headers, rawPayload } = await app.inject({ url: path });
    assert.deepEqual(
      [statusCode, headers['content-type'], headers['cache-control']],
      [200, 'image/jpeg', 'public, max-age=31536000, immutable'],
    );
    assert.equal((await sharp(rawPayload).metadata()).width, width);
    const known = await app.inject({ url: path, headers: { 'if-none-match': String(headers.etag) } });
    assert.deepEqual([known.statusCode, known.payload], [304, '']);
    const head = await app.inject({ method: 'HEAD', url: path });
    assert.deepEqual([head.statusCode, head.headers['content-length'], head.payload], [200, String(rawPayload.length), '']);
  }
  const path = new URL(url).pathname;
  const part = await app.inject({ url: path, headers: { range: 'bytes=0-9' } });
  assert.deepEqual([part.statusCode, part.headers['content-length']], [200, String(part.rawPayload.length)], 'always as a whole');
  const any = await app.inject({ url: path, headers: { 'if-none-match': '*' } });
  assert.deepEqual([any.statusCode, any.payload], [304, '']);
  assert.equal((await app.inject({ url: '/files/photos/00/0000.jpg', headers: { 'if-none-match': '*' } })).statusCode, 404);
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH'] as const) {
    const refused = await app.inject({ method, url: path });
    assert.deepEqual([refused.statusCode, refused.headers.allow, refused.json().code], [405, 'GET, HEAD, OPTIONS', 'method_not_allowed']);
  }
  const options = await app.inject({ method: 'OPTIONS', url: path });
  assert.deepEqual([options.statusCode, options.headers.allow], [204, 'GET, HEAD, OPTIONS']);
  for (const path of [
    '/files/photos/00/0000.jpg',
    '/files/photos/..%2f..%2fmaster.key',
    '/files/photos/00/a.txt',
    '/files/',
    '/files/photos',
  ])
    assert.equal((await app.inject({ url: path })).statusCode, 404, path);
});

test('a publishable key sees photos, and not where they came from', async () => {
  const dealer = await dealership();
  const id = await newVehicle(dealer, onSale);
  const { source_url: _source, ...image } = await send(dealer.api, id, { file: await jpeg() }).succeeds(201);
  const website = await dealer.apiWith({ kind: 'publishable' });
  const shown = await website.get(`/v1/vehicles/${id}`).succeeds();
  assert.deepEqual(shown.images, [image]);
  assert.ok(!('images_import' in shown));
  await send(website, id, { file: await jpeg() }).refuses(403, 'secret_key_required');
});

test('has_images finds vehicles with photos, and those without', async () => {
  const dealer = await dealership();
  const [withPhoto, without] = [await newVehicle(dealer), await newVehicle(dealer)];
  await send(dealer.api, withPhoto, { file: await jpeg() }).succeeds(201);
  assert.deepEqual(idsOf(await dealer.api.get('/v1/vehicles?has_images=true').succeeds()), [withPhoto]);
  assert.deepEqual(idsOf(await dealer.api.get('/v1/vehicles?has_images=false').succeeds()), [without]);
});

test('what is no photo is refused by its field, and nothing is added', async () => {
  const dealer = await dealership();
  const { api } = dealer;
  const id = await newVehicle(dealer);
  const whole = await noisy(600, 400).jpeg().toBuffer();
  for (const [what, file] of [
    ['an SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')],
    ['a page', Buffer.from('<!doctype html>')],
    ['half a photo', whole.subarray(0, whole.length / 2)],
    ['a bomb', await claiming(50_000, 50_000)],
    ['an empty file', Buffer.alloc(0)],
    ['a HEIC', Buffer.concat([Buffer.from([0, 0, 0, 24]), Buffer.from('ftypheic\0\0\0\0mif1heic'), Buffer.alloc(200)])],
  ] as const) {
    const { errors } = await send(api, id, { file }).refuses(422, 'validation_failed');
    assert.deepEqual(Object.keys(errors), ['file'], what);
  }
  assert.deepEqual(Object.keys((await send(api, id, { alt: 'x' }).refuses(422, 'validation_failed')).errors), ['file']);
  assert.deepEqual(Object.keys((await send(api, id, { file: 'text' }).refuses(422, 'validation_failed')).errors), ['file']);
  const { errors } = await send(api, id, { file: await jpeg(), fille: 'x', alt: 'a'.repeat(251) }).refuses(422, 'validation_failed');
  assert.deepEqual(Object.keys(errors).sort(), ['alt', 'fille']);
  assert.deepEqual((await api.get(`/v1/vehicles/${id}`).succeeds()).images, []);
});

test('the order names every photo of the vehicle once', async () => {
  const dealer = await dealership();
  const { api } = dealer;
  const id = await newVehicle(dealer);
  const a = (await send(api, id, { file: await jpeg() }).succeeds(201)).id;
  const b = (await send(api, id, { file: await jpeg({ colour: 'red' }) }).succeeds(201)).id;
  for (const image_ids of [[a], [a, a], [a, b, b], [a, nobody], [], ['x', a]]) {
    await api.put(`/v1/vehicles/${id}/images/order`, { image_ids }).refuses(422, 'validation_failed');
  }
  await api.put(`/v1/vehicles/${id}/images/order`, {}).refuses(422, 'validation_failed');
  await api.put(`/v1/vehicles/${id}/images/order`, { image_ids: [b, a] }).succeeds();
});

test('a vehicle has at most 100 photos', async () => {
  const dealer = await dealership();
  const id = await newVehicle(dealer);
  const image = await send(dealer.api, id, { file: await jpeg() }).succeeds(201);
  // As if it had been uploaded a hundred times.
  await dealer.service.pools.doors.query(
    `update vehicle set images = (
       select jsonb_agg(jsonb_set(one, '{id}', to_jsonb(id)))
       from (select vehicle.images->0 as one, gen_random_uuid() as id from generate_series(1, 100)) as many)
     where id = $1`,
    [id],
  );
  const { errors } = await send(dealer.api, id, { file: await jpeg() }).refuses(422, 'validation_failed');
  assert.deepEqual(errors.file, ['The vehicle has 100 photos already.']);
  const [first] = (await dealer.api.get(`/v1/vehicles/${id}`).succeeds()).images;
  assert.equal(first.url, image.url);
  await dealer.api.delete(`/v1/vehicles/${id}/images/${first.id}`).succeeds();
  await send(dealer.api, id, { file: await jpeg() }).succeeds(201);
});

test('photos need vehicles:write, and the vehicle within reach', async () => {
  const [dealer, other] = [await dealership(), await dealership()];
  const id = await newVehicle(dealer);
  const image = await send(dealer.api, id, { file: await jpeg() }).succeeds(201);
  const operations = (api: Api) => [
    async () => send(api, id, { file: await jpeg() }),
    async () => api.put(`/v1/vehicles/${id}/images/order`, { image_ids: [image.id] }),
    async () => api.delete(`/v1/vehicles/${id}/images/${image.id}`),
  ];
  const reader = await dealer.apiWith({ scopes: ['vehicles:read'] });
  const elsewhere = await dealer.apiWith({ branchIds: [(await dealer.newBranch()).id] });
  for (const [api, status, code] of [
    [dealer.api.as(null), 401, 'missing_api_key'],
    [reader, 403, 'insufficient_scope'],
    [other.api, 404, 'not_found'],
    [elsewhere, 404, 'not_found'],
  ] as const)
    for (const ask of operations(api)) {
      const answer = await ask();
      assert.deepEqual([answer.status, answer.body.code], [status, code]);
    }
  await send(dealer.api, nobody, { file: await jpeg() }).refuses(404, 'not_found');
});

test('an upload with an Idempotency-Key happens once, whatever boundary the repetition has', async () => {
  const dealer = await dealership();
  const { api } = dealer;
  const id = await newVehicle(dealer);
  const key = { 'idempotency-key': 'one' };
  const parts = { file: await jpeg(), alt: 'Front' };
  const first = await send(api, id, parts, key);
  assert.equal(first.status, 201);
  const again = await send(api, id, parts, key, 'another-boundary');
  assert.deepEqual([again.status, again.body, again.headers['idempotent-replayed']], [201, first.body, 'true']);
  await send(api, id, { ...parts, alt: 'Rear' }, key).refuses(409, 'idempotency_key_reused');
  await send(api, id, { file: await jpeg({ colour: 'red' }), alt: 'Front' }, key).refuses(409, 'idempotency_key_reused');
  assert.equal((await api.get(`/v1/vehicles/${id}`).succeeds()).images.length, 1);
  const refused = await send(api, id, { file: Buffer.from('no photo') }, { 'idempotency-key': 'two' });
  assert.equal(
    (await send(api, id, { file: Buffer.from('no photo') }, { 'idempotency-key': 'two' })).headers['idempotent-replayed'],
    'true',
  );
  assert.equal(refused.status, 422);
});

test('a refusal of shape is the answer of its key, as any other; an upload is the same whatever its file is called and its parts’ order', async () => {
  const dealer = await dealership();
  const { api } = dealer;
  const id = await newVehicle(dealer);
  const picture = await jpeg();
  const wrong: Parts[] = [{ file: 'text' }, { alt: 'x' }, { fille: picture }, { file: picture, alt: 'a'.repeat(251) }];
  for (const [n, parts] of wrong.entries()) {
    const key = { 'idempotency-key': `shape ${n}` };
    const first = await send(api, id, parts, key);
    const again = await send(api, id, parts, key);
    const { request_id: _first, ...said } = first.body;
    const { request_id: _again, ...repeated } = again.body;
    assert.deepEqual([first.status, again.status, repeated], [422, 422, said]);
    assert.deepEqual([first.headers['idempotent-replayed'], again.headers['idempotent-replayed']], [undefined, 'true']);
    await send(api, id, { file: picture }, key).refuses(409, 'idempotency_key_reused');
  }
  const key = { 'idempotency-key': 'right' };
  const first = await send(api, id, { file: picture, alt: 'Front' }, key);
  const { body, headers } = multipart({ alt: 'Front', file: picture });
  const renamed = Buffer.from(body.toString('latin1').replace('a photo.jpg', 'another.jpg'), 'latin1');
  const again = await api.post(`/v1/vehicles/${id}/images`, renamed, { ...headers, ...key });
  assert.deepEqual([again.status, again.body, again.headers['idempotent-replayed']], [201, first.body, 'true']);
});

test('an upload that was busy may be sent again with its key', async () => {
  const dealer = await dealership();
  const { api } = dealer;
  const id = await newVehicle(dealer);
  const key = { 'idempotency-key': 'busy' };
  const parts = { file: await jpeg() };
  await api.patch(`/v1/vehicles/${id}`, { images: ['https://www.example.com/a.jpg'] }).succeeds();
  await send(api, id, parts, key).refuses(409, 'stock_busy');
  await api.patch(`/v1/vehicles/${id}`, { images: [] }).succeeds();
  const added = await send(api, id, parts, key);
  assert.deepEqual([added.status, added.headers['idempotent-replayed']], [201, undefined]);
});

test('in the sandbox photos are added as anywhere else', async () => {
  const dealer = await dealership();
  const { key } = await dealer.newKey({ environment: 'test' });
  const api = speak(dealer.app, key);
  const id = await newVehicle({ api });
  await send(api, id, { file: await jpeg() }).succeeds(201);
  assert.equal((await (await sandbox()).ctx.db.selectFrom('photo_file').select('file').where('vehicle_id', '=', id).execute()).length, 1);
});

test('files that no gallery shows are removed a day later, and no others', async () => {
  const dealer = await dealership();
  const { api, clock, service, files } = dealer;
  clock.move({});
  const id = await newVehicle(dealer);
  const [kept, dropped] = [await jpeg(), await jpeg({ colour: 'red' })];
  const keep = await send(api, id, { file: kept }).succeeds(201);
  const drop = await send(api, id, { file: dropped }).succeeds(201);
  const twin = await send(api, id, { file: kept }).succeeds(201);
  assert.equal(twin.url, keep.url, 'the same picture of the same vehicle is kept once');
  const other = await newVehicle(dealer);
  assert.notEqual((await send(api, other, { file: kept }).succeeds(201)).url, keep.url, 'and that of another apart');
  const there = ({ url, thumbnail_url }: { url: string; thumbnail_url: string }) =>
    [url, thumbnail_url].map((address) => existsSync(join(files.folder, new URL(address).pathname.replace('/files/', ''))));

  await api.delete(`/v1/vehicles/${id}/images/${drop.id}`).succeeds();
  await api.delete(`/v1/vehicles/${id}/images/${twin.id}`).succeeds();
  clock.move({ hours: 23 });
  await sweepPhotos(service);
  assert.deepEqual(there(drop), [true, true]);
  clock.move({ hours: 2 });
  await sweepPhotos(service);
  assert.deepEqual([there(drop), there(keep)].flat(), [false, false, true, true]);

  const again = await send(api, id, { file: dropped }).succeeds(201);
  assert.deepEqual([again.url, ...there(again)], [drop.url, true, true], 'what was removed can be added again');

  await api.delete(`/v1/vehicles/${id}`).succeeds();
  clock.move({ hours: 25 });
  await sweepPhotos(service);
  assert.deepEqual([there(keep), there(again)].flat(), [false, false, false, false], 'a deleted vehicle shows none');
  clock.release();
});

test('a file that cannot be removed holds up no other, of any dealership', async () => {
  const dealers = [await dealership(), await dealership(), await dealership()];
  const { clock, service } = dealers[0]!;
  clock.move({});
  const ids: string[] = [];
  for (const dealer of dealers) {
    const id = await newVehicle(dealer);
    const image = await send(dealer.api, id, { file: await jpeg() }).succeeds(201);
    await dealer.api.delete(`/v1/vehicles/${id}/images/${image.id}`).succeeds();
    ids.push(id);
    clock.move({ minutes: 1 });
  }
  clock.move({ hours: 25 });
  const { rows } = await service.pools.doors.query('select file from photo_file where vehicle_id = $1', [ids[0]]);
  const remove = (name: string) => (name.includes(rows[0].file) ? Promise.reject(new Error('held')) : service.files.remove(name));
  await assert.rejects(sweepPhotos({ ...service, files: { ...service.files, remove } }), /could not be removed: 1/);
  const left = async () => (await service.pools.doors.query('select vehicle_id from photo_file where vehicle_id = any($1)', [ids])).rows;
  assert.deepEqual(await left(), [{ vehicle_id: ids[0] }]);
  await sweepPhotos(service);
  assert.deepEqual(await left(), []);
  clock.release();
});

test('a file that is noted again while it is swept stays', async () => {
  const dealer = await dealership();
  const { api, clock, service, files } = dealer;
  clock.move({});
  const id = await newVehicle(dealer);
  const picture = await jpeg();
  const image = await send(api, id, { file: picture }).succeeds(201);
  await api.delete(`/v1/vehicles/${id}/images/${image.id}`).succeeds();
  clock.move({ hours: 25 });
  const { rows } = await service.pools.doors.query('select file from photo_file where vehicle_id = $1', [id]);
  const sweeping = await openTransaction(dealer.ctx, async (tx) => {
    assert.ok(await noteFile(tx, id, rows[0].file));
    const sweep = sweepPhotos(service);
    await until(async () => {
      const { rows } = await service.pools.doors.query(
        "select from pg_stat_activity where wait_event_type = 'Lock' and query ~ 'photo_file'",
      );
      return rows.length > 0;
    });
    return { sweep };
  });
  await sweeping.sweep;
  const names = Object.values(filesOf(rows[0]));
  assert.deepEqual(
    names.map((name) => existsSync(join(files.folder, name))),
    [true, true],
  );
  assert.equal((await send(api, id, { file: picture }).succeeds(201)).url, image.url);
  clock.release();
});

test('the files of an upload that came to nothing are removed', async () => {
  const dealer = await dealership();
  const { api, clock, service, files, ctx } = dealer;
  clock.move({});
  const id = await newVehicle(dealer);
  const kept = await receivePhoto(ctx, id, { bytes: await jpeg(), contentType: 'image/jpeg' });
  await api.delete(`/v1/vehicles/${id}`).succeeds();
  await assert.rejects(addPhoto(ctx, id, kept, null), { code: 'not_found' });
  const there = () => Object.values(filesOf(kept)).map((name) => existsSync(join(files.folder, name)));
  assert.deepEqual(there(), [true, true]);
  clock.move({ hours: 25 });
  await sweepPhotos(service);
  assert.deepEqual(there(), [false, false]);
  clock.release();
});

test('a sweep that was killed in the middle is ended by the next', async () => {
  const dealer = await dealership();
  const { api, clock, service } = dealer;
  clock.move({});
  const id = await newVehicle(dealer);
  const image = await send(api, id, { file: await jpeg() }).succeeds(201);
  await api.delete(`/v1/vehicles/${id}/images/${image.id}`).succeeds();
  clock.move({ hours: 25 });
  const broken = { ...service, files: { ...service.files, remove: () => Promise.reject(new Error('away')) } };
  await assert.rejects(sweepPhotos(broken), /could not be removed: 1/);
  const left = async () => (await service.pools.doors.query('select removing from photo_file where vehicle_id = $1', [id])).rows;
  assert.deepEqual(await left(), [{ removing: true }]);
  await send(api, id, { file: await jpeg() }).refuses(409, 'stock_busy');
  await sweepPhotos(service);
  assert.deepEqual(await left(), []);
  await send(api, id, { file: await jpeg() }).succeeds(201);
  clock.release();
});
