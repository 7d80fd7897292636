import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import sharp from 'sharp';
import { openStore } from '#platform/files/open-store.ts';
import { speak } from '../../../test/support/api.ts';
import { bucketServer } from '../../../test/support/bucket-server.ts';
import { type Dealership, dealership } from '../../../test/support/dealership.ts';
import { nameServer } from '../../../test/support/name-server.ts';
import { canary, pictureServer } from '../../../test/support/picture-server.ts';
import { jpeg, multipart, plain } from '../../../test/support/pictures.ts';
import { buildApi } from '../../app/api.ts';
import { writeRemaining } from './index.ts';
import { sweepPhotos } from './photo-files.ts';
import { filesOf } from './photo-gallery.ts';
import { importGallery, resumeImports } from './photo-import.ts';

const focus = { condition: 'USED', make: 'Ford', model: 'Focus' };
const nobody = '00000000-0000-4000-8000-000000000000';

type Json = ReturnType<typeof JSON.parse>;

/** The imports under way, of this dealer. */
const imports = async ({ service, id }: Dealership): Promise<string[]> =>
  (await service.pools.doors.query('select id from photo_import where dealer_id = $1 order by id', [id])).rows.map(({ id }) => id);

/** Runs every import that is queued, as the worker does. */
async function importAll(dealer: Dealership, ctx = dealer.ctx): Promise<void> {
  for (const id of await imports(dealer)) await importGallery(ctx, id);
}

const eventsOf = async ({ service, id }: Dealership, vehicleId: string): Promise<{ type: string; changed?: string[]; object: Json }[]> => {
  const { rows } = await service.pools.doors.query(
    'select type, data from event where dealer_id = $1 and resource_id = $2 order by sequence',
    [id, vehicleId],
  );
  return rows.map(({ type, data }) => ({ type, ...JSON.parse(data) }));
};

const read = ({ api }: Dealership, id: string): Promise<Json> => api.get(`/v1/vehicles/${id}`).succeeds();
const sources = ({ images }: Json): string[] => images.map(({ source_url }: Json) => source_url);

/** A server whose pictures have the colour their path names. */
const colours = (t: Parameters<typeof pictureServer>[0]) =>
  pictureServer(t, async (request, response) => {
    const colour = /^\/(\w+)/.exec(request.url ?? '')?.[1] ?? '';
    response.end(await jpeg({ colour }));
  });

test('photos of a new vehicle come all at once, with one event', async (t) => {
  const dealer = await dealership();
  const server = await colours(t);
  const urls = ['/red', '/green', '/blue'].map(server.at);
  const created = await dealer.api
    .post('/v1/vehicles', { ...focus, images: [urls[0], { url: urls[1], alt: 'Green' }, urls[2]] })
    .succeeds(201);
  assert.deepEqual([created.images, created.images_import], [[], { state: 'running', requested: 3, failed: [] }]);
  await importAll(dealer);

  const vehicle = await read(dealer, created.id);
  assert.deepEqual(vehicle.images_import, { state: 'succeeded', requested: 3, failed: [] });
  assert.deepEqual(sources(vehicle), urls);
  assert.deepEqual(
    vehicle.images.map(({ position, alt, width, height }: Json) => [position, alt, width, height]),
    [
      [0, null, 320, 240],
      [1, 'Green', 320, 240],
      [2, null, 320, 240],
    ],
  );
  assert.deepEqual(
    (await eventsOf(dealer, created.id)).map(({ type, changed, object }) => [type, changed, object.images.length]),
    [
      ['vehicle.created', undefined, 0],
      ['vehicle.updated', ['images'], 3],
    ],
  );
  assert.deepEqual(await imports(dealer), []);
});

test('a gallery is kept, reordered and emptied without an import', async (t) => {
  const dealer = await dealership();
  const { api } = dealer;
  const server = await colours(t);
  const { id } = await api.post('/v1/vehicles', { ...focus, images: [server.at('/red'), server.at('/green')] }).succeeds(201);
  await importAll(dealer);
  const [red, green] = (await read(dealer, id)).images;

  const swapped = await api.patch(`/v1/vehicles/${id}`, { images: [{ id: green.id, alt: 'Rear' }, { id: red.id }] }).succeeds();
  assert.deepEqual(swapped.images, [
    { ...green, position: 0, alt: 'Rear' },
    { ...red, position: 1 },
  ]);
  assert.equal(swapped.images_import.state, 'succeeded');
  const same = await api.patch(`/v1/vehicles/${id}`, { images: [server.at('/green'), { id: red.id }], make: 'Ford' }).succeeds();
  assert.deepEqual(same, swapped, 'an address that a photo came from means that photo');
  assert.equal(server.asked('/green'), 1);

  const mixed = await api.patch(`/v1/vehicles/${id}`, { images: [server.at('/blue'), { id: red.id }], colour: 'Red' }).succeeds();
  assert.deepEqual([mixed.images, mixed.images_import.state, mixed.images_import.requested], [swapped.images, 'running', 1]);
  await importAll(dealer);
  const after = await read(dealer, id);
  assert.deepEqual(sources(after), [server.at('/blue'), server.at('/red')]);
  assert.equal(after.images[1].id, red.id);

  const emptied = await api.patch(`/v1/vehicles/${id}`, { images: [] }).succeeds();
  assert.deepEqual(emptied.images, []);
  assert.deepEqual((await api.patch(`/v1/vehicles/${id}`, { images: null }).succeeds()).images, []);
  assert.deepEqual(
    (await eventsOf(dealer, id)).map(({ changed }) => changed?.join()),
    [undefined, 'images', 'images', 'colour', 'images', 'images'],
  );
});

test('what is wrong with the photos of a write is said by its place', async () => {
  const dealer = await dealership();
  const { api } = dealer;
  const { id } = await api.post('/v1/vehicles', focus).succeeds(201);
  const wrong = async (images: unknown, fields: string[]) => {
    const { errors } = await api.patch(`/v1/vehicles/${id}`, { images }).refuses(422, 'validation_failed');
    assert.deepEqual(Object.keys(errors).sort(), fields, JSON.stringify(images).slice(0, 80));
  };
  await wrong('https://www.example.com/a.jpg', ['images']);
  await wrong(['ftp://www.example.com/a.jpg', 'https://www.example.com/a.jpg', 'https://user@www.example.com/'], ['images.0', 'images.2']);
  await wrong(
    [{}, { url: 'https://www.example.com/a.jpg', alt: '' }, { id: nobody, url: 'https://www.example.com/a.jpg' }, 7],
    ['images.0', 'images.1.alt', 'images.2', 'images.3'],
  );
  await wrong([{ id: nobody }], ['images.0.id']);
  await wrong(
    Array.from({ length: 101 }, (_, n) => `https://www.example.com/${n}.jpg`),
    ['images'],
  );
  await api.post('/v1/vehicles', { ...focus, images: [{ id: nobody }] }).refuses(422, 'validation_failed');
});

test('where no address is allowed but public ones, http is an error of shape', async () => {
  const dealer = await dealership();
  const strict = { ...dealer.ctx, service: { ...dealer.service, photosFrom: { ...dealer.service.photosFrom, allow: [] } } };
  const { createVehicle } = await import('./index.ts');
  const http = { ...focus, condition: 'USED', images: ['https://www.example.com/a.jpg', 'http://www.example.com/a.jpg'] } as const;
  await assert.rejects(createVehicle(strict, { ...http, images: [...http.images] }), {
    code: 'validation_failed',
    fields: { 'images.1': ['Photos come by https.'] },
  });
});

test('each photo is tried three times; one that fails for good leaves the gallery as it was', async (t) => {
  const dealer = await dealership();
  const { api } = dealer;
  const server = await pictureServer(t, async (request, response, asked) => {
    const path = request.url ?? '';
    if (path === '/second-time' && asked < 2) return response.writeHead(503).end();
    if (path === '/third-time' && asked < 3) return response.destroy();
    if (path === '/gone') return response.writeHead(404).end();
    if (path === '/moved') return response.writeHead(301, { location: '/fine' }).end();
    if (path === '/page') return response.setHeader('content-type', 'image/jpeg').end('<html>');
    if (path === '/half') return response.end((await jpeg({ width: 900, height: 900 })).subarray(0, 2000));
    return response.setHeader('content-type', 'text/html').end(await jpeg({ colour: path.length > 5 ? 'red' : 'blue' }));
  });
  const { id } = await api
    .post('/v1/vehicles', { ...focus, images: ['/second-time', '/third-time', '/fine'].map(server.at) })
    .succeeds(201);
  await importAll(dealer);
  const complete = await read(dealer, id);
  assert.equal(complete.images_import.state, 'succeeded');
  assert.deepEqual([server.asked('/second-time'), server.asked('/third-time'), server.asked('/fine')], [2, 3, 1]);

  const bad = ['/gone', '/moved', '/page', '/half'];
  await api.patch(`/v1/vehicles/${id}`, { images: ['/more', ...bad].map(server.at) }).succeeds();
  await importAll(dealer);
  const untouched = await read(dealer, id);
  assert.deepEqual(untouched.images, complete.images);
  assert.equal(untouched.images_import.state, 'failed');
  assert.equal(untouched.images_import.requested, 5);
  assert.deepEqual(untouched.images_import.failed, [
    { url: server.at('/gone'), reason: 'It answered 404.' },
    { url: server.at('/moved'), reason: 'It redirects, and redirects are not followed.' },
    { url: server.at('/page'), reason: 'Not a JPEG, PNG or WebP file.' },
    { url: server.at('/half'), reason: 'The file is damaged or incomplete.' },
  ]);
  for (const path of bad) assert.equal(server.asked(path), 3, path);
  assert.equal(server.asked('/fine'), 1);
  assert.equal((await eventsOf(dealer, id)).length, 2, 'created, and the one gallery that came');
  const [listed] = await api.get(`/v1/vehicles?updated_since=${complete.updated_at}`).succeeds();
  assert.equal(listed.images_import.state, 'failed', 'who syncs learns of it');
});

test('single photos are not changed while an import runs', async (t) => {
  const dealer = await dealership();
  const { api } = dealer;
  const server = await colours(t);
  const { id } = await api.post('/v1/vehicles', { ...focus, images: [server.at('/red')] }).succeeds(201);
  const { body, headers } = multipart({ file: await jpeg() });
  const busy = [
    () => api.post(`/v1/vehicles/${id}/images`, body, headers),
    () => api.put(`/v1/vehicles/${id}/images/order`, { image_ids: [] }),
    () => api.delete(`/v1/vehicles/${id}/images/${nobody}`),
  ];
  for (const ask of busy) {
    const answer = ask();
    await answer.refuses(409, 'stock_busy');
    assert.equal((await answer).headers['retry-after'], '5');
  }
  await importAll(dealer);
  await api.post(`/v1/vehicles/${id}/images`, body, headers).succeeds(201);
});

test('a later write of the images ends a running import; other fields leave it running', async (t) => {
  const dealer = await dealership();
  const { api } = dealer;
  const server = await colours(t);
  const { id } = await api.post('/v1/vehicles', { ...focus, images: [server.at('/red')] }).succeeds(201);
  const [first] = await imports(dealer);
  assert.equal((await api.patch(`/v1/vehicles/${id}`, { colour: 'Red' }).succeeds()).images_import.state, 'running');
  await api.patch(`/v1/vehicles/${id}`, { images: [server.at('/green')] }).succeeds();
  const [second, ...none] = await imports(dealer);
  assert.ok(second !== first && none.length === 0);
  await importGallery(dealer.ctx, first!);
  assert.deepEqual([(await read(dealer, id)).images, server.asked('/red')], [[], 0], 'what was ended does nothing');
  await importGallery(dealer.ctx, second!);
  assert.deepEqual(sources(await read(dealer, id)), [server.at('/green')]);

  await api.patch(`/v1/vehicles/${id}`, { images: [server.at('/blue')] }).succeeds();
  const ended = await api.patch(`/v1/vehicles/${id}`, { images: [] }).succeeds();
  assert.deepEqual(ended.images_import, {
    state: 'failed',
    requested: 1,
    failed: [{ url: server.at('/blue'), reason: 'A later write of the vehicle ended the import.' }],
  });
  assert.deepEqual(await imports(dealer), []);
  await api.patch(`/v1/vehicles/${id}`, { images: [server.at('/blue')] }).succeeds();
  await api.delete(`/v1/vehicles/${id}`).succeeds();
  assert.deepEqual(await imports(dealer), []);
});

test('an import that is ended in its middle comes to nothing', async (t) => {
  const dealer = await dealership();
  const { api } = dealer;
  let vehicleId = '';
  const server = await pictureServer(t, async (_request, response) => {
    await api.patch(`/v1/vehicles/${vehicleId}`, { images: [] }).succeeds();
    response.end(await jpeg());
  });
  vehicleId = (await api.post('/v1/vehicles', { ...focus, images: [server.at('/a')] }).succeeds(201)).id;
  await importAll(dealer);
  assert.deepEqual((await read(dealer, vehicleId)).images, []);
});

test('two runs of one import at once make one gallery', async (t) => {
  const dealer = await dealership();
  const server = await colours(t);
  const { id } = await dealer.api.post('/v1/vehicles', { ...focus, images: ['/red', '/green', '/blue'].map(server.at) }).succeeds(201);
  const [one] = await imports(dealer);
  await Promise.all([importGallery(dealer.ctx, one!), importGallery(dealer.ctx, one!)]);
  assert.deepEqual(sources(await read(dealer, id)), ['/red', '/green', '/blue'].map(server.at));
  assert.equal((await eventsOf(dealer, id)).length, 2);
});

test('a file store that is away is no fault of the photo: the import goes on later', async (t) => {
  const dealer = await dealership();
  const { service, clock } = dealer;
  const server = await colours(t);
  clock.move({});
  const { id } = await dealer.api.post('/v1/vehicles', { ...focus, images: [server.at('/red'), server.at('/green')] }).succeeds(201);
  const away = { ...service, files: { ...service.files, put: () => Promise.reject(new Error('away')) } };
  for (let run = 0; run < 10; run++) await assert.rejects(importAll(dealer, { ...dealer.ctx, service: away }), /away/);
  assert.equal((await read(dealer, id)).images_import.state, 'running', 'as often as it may be');

  const queued = async () =>
    Number((await service.pools.doors.query("select count(*) as n from queue.job where name = 'vehicles.import_photos'")).rows[0].n);
  const before = await queued();
  await resumeImports(service);
  assert.equal(await queued(), before, 'it was touched just now');
  clock.move({ minutes: 31 });
  await resumeImports(service);
  assert.equal(await queued(), before, 'its job only waits');
  await service.pools.doors.query("delete from queue.job where name = 'vehicles.import_photos' and data #>> '{dealer,id}' = $1", [
    dealer.id,
  ]);
  clock.move({ minutes: 62 });
  await resumeImports(service);
  assert.equal(await queued(), before, 'one whose job is gone has a new one');
  clock.release();
  await importAll(dealer);
  assert.equal((await read(dealer, id)).images.length, 2);
});

test('a photo whose file is removed at this moment is no fault of the photo either', async (t) => {
  const dealer = await dealership();
  const { service } = dealer;
  const server = await colours(t);
  const { id } = await dealer.api.post('/v1/vehicles', { ...focus, images: [server.at('/red')] }).succeeds(201);
  await importAll(dealer);
  await dealer.api.patch(`/v1/vehicles/${id}`, { images: [] }).succeeds();
  await dealer.api.patch(`/v1/vehicles/${id}`, { images: [server.at('/red')] }).succeeds();
  await service.pools.doors.query('update photo_file set removing = true where vehicle_id = $1', [id]);
  for (let run = 0; run < 6; run++) await assert.rejects(importAll(dealer), { code: 'stock_busy' });
  await service.pools.doors.query('delete from photo_file where vehicle_id = $1', [id]);
  await importAll(dealer);
  assert.equal((await read(dealer, id)).images_import.state, 'succeeded');
});

test('a photo whose file is gone when the gallery is to be shown is fetched again', async (t) => {
  const dealer = await dealership();
  const { service } = dealer;
  const server = await colours(t);
  const { id } = await dealer.api.post('/v1/vehicles', { ...focus, images: [server.at('/red'), server.at('/green')] }).succeeds(201);
  const [one] = await imports(dealer);
  const fetched = async () =>
    (await service.pools.doors.query('select from photo_import_item where import_id = $1 and photo is not null', [one])).rowCount;
  // The second is not kept in this run, so the first waits for it.
  let puts = 0;
  const put: typeof service.files.put = (...file) => (puts++ < 2 ? service.files.put(...file) : Promise.reject(new Error('away')));
  await assert.rejects(importAll(dealer, { ...dealer.ctx, service: { ...service, files: { ...service.files, put } } }), /away/);
  assert.equal(await fetched(), 1);
  await service.pools.doors.query(
    `delete from photo_file f using photo_import_item i where i.import_id = $1 and i.photo is not null and f.file = i.photo->>'file'`,
    [one],
  );
  await importAll(dealer);
  assert.deepEqual(await imports(dealer), [one], 'not concluded without it');
  await importAll(dealer);
  const { images, images_import } = await read(dealer, id);
  assert.deepEqual([images.length, images_import.state], [2, 'succeeded']);
  const { rows } = await service.pools.doors.query(
    'select count(*)::integer as kept from photo_file where vehicle_id = $1 and unused_since is null',
    [id],
  );
  assert.equal(rows[0].kept, 2);
});

test('an address that a gallery names often is fetched once, for as many photos', async (t) => {
  const dealer = await dealership();
  const server = await pictureServer(t, async (request, response, asked) =>
    asked === 1 || request.url === '/gone' ? response.writeHead(503).end() : response.end(await jpeg()),
  );
  const images = Array.from({ length: 20 }, (_, n) => ({ url: server.at('/red'), alt: `Photo ${n}` }));
  const { id } = await dealer.api.post('/v1/vehicles', { ...focus, images }).succeeds(201);
  await importAll(dealer);
  const vehicle = await read(dealer, id);
  assert.deepEqual([vehicle.images_import.state, vehicle.images_import.requested, server.asked('/red')], ['succeeded', 20, 2]);
  assert.deepEqual(
    vehicle.images.map(({ alt }: Json) => alt),
    images.map(({ alt }) => alt),
  );
  assert.equal(new Set(vehicle.images.map((photo: Json) => photo.id)).size, 20);

  await dealer.api.patch(`/v1/vehicles/${id}`, { images: Array(3).fill(server.at('/gone')) }).succeeds();
  await importAll(dealer);
  const { images_import } = await read(dealer, id);
  assert.deepEqual(images_import.failed, Array(3).fill({ url: server.at('/gone'), reason: 'It answered 503.' }));
  assert.equal(server.asked('/gone'), 3);
});

test('the files of imports that failed or were ended are removed', async (t) => {
  const dealer = await dealership();
  const { api, clock, service, files } = dealer;
  clock.move({});
  const server = await pictureServer(t, async (request, response) =>
    request.url === '/gone' ? response.writeHead(404).end() : response.end(await jpeg({ colour: request.url?.slice(1) ?? '' })),
  );
  const images = ['/red', '/gone'].map(server.at);
  const failed = await api.post('/v1/vehicles', { ...focus, images }).succeeds(201);
  await importAll(dealer);
  const ended = await api.post('/v1/vehicles', { ...focus, images: ['/green', '/blue'].map(server.at) }).succeeds(201);
  let puts = 0;
  const put: typeof service.files.put = (...file) => (puts++ < 2 ? service.files.put(...file) : Promise.reject(new Error('away')));
  await assert.rejects(importAll(dealer, { ...dealer.ctx, service: { ...service, files: { ...service.files, put } } }), /away/);
  await api.patch(`/v1/vehicles/${ended.id}`, { images: [] }).succeeds();
  const ids = [failed.id, ended.id];
  const known = async () => (await service.pools.doors.query('select file from photo_file where vehicle_id = any($1)', [ids])).rows;
  const names = (await known()).flatMap((row) => Object.values(filesOf(row)));
  const there = () => names.filter((name) => existsSync(join(files.folder, name))).length;
  assert.ok(there() >= 4, `${there()} files`);
  clock.move({ hours: 25 });
  await sweepPhotos(service);
  assert.deepEqual([await known(), there()], [[], 0]);
  clock.release();
});

test('photos in a bucket are imported, served and removed as those in a folder are', async (t) => {
  const dealer = await dealership();
  const { clock } = dealer;
  clock.move({});
  const { place, endpoint, names, asked } = await bucketServer(t);
  const files = openStore({ ...place, endpoint, addresses: 'http://127.0.0.1:4000/files' });
  const service = { ...dealer.service, files };
  const app = buildApi({ service, baseUrl: 'http://127.0.0.1:4000', trustedProxies: [] });
  t.after(() => app.close());
  const api = speak(app, dealer.api.key);
  const server = await colours(t);
  const { id } = await api.post('/v1/vehicles', { ...focus, images: [server.at('/red')] }).succeeds(201);
  await importAll(dealer, { ...dealer.ctx, service });
  const { body, headers } = multipart({ file: await jpeg() });
  await api.post(`/v1/vehicles/${id}/images`, body, headers).succeeds(201);
  const { images } = await api.get(`/v1/vehicles/${id}`).succeeds();
  assert.deepEqual([images.length, names().length], [2, 4]);
  for (const { url, thumbnail_url } of images)
    for (const address of [url, thumbnail_url]) {
      const url = new URL(address).pathname;
      const { statusCode, headers, rawPayload } = await app.inject({ url });
      assert.deepEqual([statusCode, headers['content-length']], [200, String(rawPayload.length)]);
      assert.equal((await sharp(rawPayload).metadata()).format, 'jpeg');
      const before = asked();
      assert.equal((await app.inject({ url, headers: { 'if-none-match': String(headers.etag) } })).statusCode, 304);
      assert.equal(asked(), before, 'the bucket is not asked for what is known');
    }
  await api.delete(`/v1/vehicles/${id}`).succeeds();
  clock.move({ hours: 25 });
  await sweepPhotos(service);
  assert.deepEqual(names(), []);
  assert.equal((await app.inject({ url: new URL(images[0].url).pathname })).statusCode, 404);
  clock.release();
});

test('a server that packs its answers is not unpacked for', async (t) => {
  const dealer = await dealership();
  const server = await pictureServer(t, async (_request, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'image/jpeg' }).end(gzipSync(await jpeg())),
  );
  const { id } = await dealer.api.post('/v1/vehicles', { ...focus, images: [server.at('/a')] }).succeeds(201);
  await importAll(dealer);
  assert.equal((await read(dealer, id)).images_import.failed[0].reason, 'Not a JPEG, PNG or WebP file.');
});

test('a public host is called by https alone, and its photo says so', async (t) => {
  const dealer = await dealership();
  const names = await nameServer(t, () => ['93.184.215.14']);
  const { id } = await dealer.api.post('/v1/vehicles', { ...focus, images: ['http://www.example.com/a.jpg'] }).succeeds(201);
  await importAll(dealer, { ...dealer.ctx, service: { ...dealer.service, photosFrom: { names, allow: ['127.0.0.1/32'], ownHosts: [] } } });
  assert.equal((await read(dealer, id)).images_import.failed[0].reason, 'Public addresses are called by https alone.');
});

test('a photo over which processes die again and again fails for good', async (t) => {
  const dealer = await dealership();
  const server = await colours(t);
  const { id } = await dealer.api.post('/v1/vehicles', { ...focus, images: [server.at('/red')] }).succeeds(201);
  await dealer.service.pools.doors.query('update photo_import_item set begun = 5 where dealer_id = $1', [dealer.id]);
  await importAll(dealer);
  const { images, images_import } = await read(dealer, id);
  assert.deepEqual([images, images_import.failed[0].reason], [[], 'Reading it was interrupted again and again.']);
  assert.equal(server.asked('/red'), 0);
});

test('an address that is not public, or is so no longer, is never connected to', async (t) => {
  const dealer = await dealership();
  const { port, connections } = await canary(t);
  const names = await nameServer(t, (name, asked) => (name === 'rebinding.example' && asked === 1 ? ['192.0.2.1'] : ['127.0.0.1']));
  const hosts = ['127.0.0.1', '[::1]', 'home.example', 'rebinding.example', '10.0.0.1', '169.254.169.254'];
  const urls = hosts.map((host) => `https://${host}:${port}/a.jpg`);
  const { id } = await dealer.api.post('/v1/vehicles', { ...focus, images: urls }).succeeds(201);
  const strict = { ...dealer.ctx, service: { ...dealer.service, photosFrom: { names, allow: [], ownHosts: [] } } };
  await importAll(dealer, strict);
  const { images, images_import } = await read(dealer, id);
  assert.deepEqual(images, []);
  assert.deepEqual(
    images_import.failed,
    urls.map((url) => ({ url, reason: 'The host is not at a public address.' })),
  );
  assert.equal(connections(), 0);
});

// ---- Batches ----

const completions = async ({ service, id }: Dealership): Promise<number> =>
  Number(
    (await service.pools.doors.query("select count(*) as n from event where dealer_id = $1 and type = 'vehicle_batch.completed'", [id]))
      .rows[0].n,
  );

test('an item with photos is final when its import has ended, and the batch when all are', async (t) => {
  const dealer = await dealership();
  const { api, ctx } = dealer;
  const server = await pictureServer(t, async (request, response) =>
    request.url === '/gone' ? response.writeHead(410).end() : response.end(await plain({ colour: 'red' }).webp().toBuffer()),
  );
  const posted = await api
    .post('/v1/vehicles/batch', [
      { ...focus, external_id: 'a', images: [server.at('/1'), server.at('/2')] },
      { ...focus, external_id: 'b', images: [server.at('/3'), server.at('/gone')] },
      { ...focus, external_id: 'c' },
      { ...focus, external_id: 'd', images: [] },
      { ...focus, external_id: 'e', images: [{ id: nobody }] },
      { ...focus, external_id: 'f', images: ['nowhere'] },
    ])
    .succeeds(202);
  const batch = () => api.get(`/v1/vehicle-batches/${posted.id}`).succeeds();
  await writeRemaining(ctx, posted.id);

  const running = await batch();
  assert.deepEqual([running.status, running.created, running.failed, running.pending], ['processing', 2, 2, 2]);
  assert.deepEqual(
    running.items.map(({ status, operation, images }: Json) => [status, operation, images]),
    [
      ['pending', 'created', { requested: 2, imported: 0, failed: [] }],
      ['pending', 'created', { requested: 2, imported: 0, failed: [] }],
      ['succeeded', 'created', null],
      ['succeeded', 'created', { requested: 0, imported: 0, failed: [] }],
      ['failed', null, null],
      ['failed', null, null],
    ],
  );
  assert.ok(running.items[0].vehicle_id);
  const [first, second] = await imports(dealer);
  await importGallery(ctx, first!);
  assert.deepEqual([(await batch()).pending, await completions(dealer)], [1, 0]);
  await importGallery(ctx, second!);
  const done = await batch();
  assert.deepEqual([done.status, done.created, done.failed, done.pending, await completions(dealer)], ['completed', 4, 2, 0, 1]);
  assert.deepEqual(
    done.items.slice(0, 2).map(({ status, images }: Json) => [status, images]),
    [
      ['succeeded', { requested: 2, imported: 2, failed: [] }],
      ['succeeded', { requested: 2, imported: 0, failed: [{ url: server.at('/gone'), reason: 'It answered 410.' }] }],
    ],
  );
  assert.equal((await read(dealer, done.items[0].vehicle_id)).images.length, 2);
  assert.equal((await read(dealer, done.items[1].vehicle_id)).images.length, 0);
});

test('a later item, and a later request, end the import of an earlier item, which is final then', async (t) => {
  const dealer = await dealership();
  const { api, ctx } = dealer;
  const server = await colours(t);
  const posted = await api
    .post('/v1/vehicles/batch', [
      { ...focus, external_id: 'a', images: [server.at('/red')] },
      { external_id: 'a', images: [server.at('/green'), server.at('/blue')] },
      { ...focus, external_id: 'b', images: [server.at('/red')] },
      { ...focus, external_id: 'c', images: [server.at('/red')] },
    ])
    .succeeds(202);
  await writeRemaining(ctx, posted.id);
  const batch = () => api.get(`/v1/vehicle-batches/${posted.id}`).succeeds();
  const [earlier, later, b, c] = (await batch()).items;
  const ended = (url: string) => ({
    requested: 1,
    imported: 0,
    failed: [{ url, reason: 'A later write of the vehicle ended the import.' }],
  });
  assert.deepEqual([earlier.status, earlier.images, later.status], ['succeeded', ended(server.at('/red')), 'pending']);

  await api.patch(`/v1/vehicles/${b.vehicle_id}`, { images: [] }).succeeds();
  await api.delete(`/v1/vehicles/${c.vehicle_id}`).succeeds();
  const middle = await batch();
  assert.deepEqual([middle.items[2].status, middle.items[2].images], ['succeeded', ended(server.at('/red'))]);
  assert.deepEqual([middle.status, middle.pending, middle.created, await completions(dealer)], ['processing', 1, 3, 0]);
  await importAll(dealer);
  const done = await batch();
  assert.deepEqual([done.status, done.created, done.updated, await completions(dealer)], ['completed', 3, 1, 1]);
  assert.deepEqual(sources(await read(dealer, earlier.vehicle_id)), [server.at('/green'), server.at('/blue')]);
});

test('a dry run says how many photos would be fetched, and fetches none', async (t) => {
  const dealer = await dealership();
  const server = await colours(t);
  const { items } = await dealer.api.post('/v1/vehicles/batch?dry_run=true', [{ ...focus, images: [server.at('/red')] }]).succeeds();
  assert.deepEqual(items[0].images, { requested: 1, imported: 0, failed: [] });
  assert.deepEqual([await imports(dealer), server.asked('/red')], [[], 0]);
});
