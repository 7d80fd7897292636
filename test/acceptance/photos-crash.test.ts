import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { toVehicle } from '../../src/bin/admin/listings.ts';
import { rowsOf } from '../../src/bin/admin/listings-file.ts';
import type { Api } from '../support/api.ts';
import { dealership } from '../support/dealership.ts';
import { pictureServer } from '../support/picture-server.ts';
import { jpeg, multipart, noisy } from '../support/pictures.ts';
import { script, start } from '../support/processes.ts';
import { until } from '../support/until.ts';

/** A whole batch of real cars where the listings are at hand, else a few. */
const cars = await listings(500);
const vehicles = cars.length;
const photos = 5;
const kills = 3;

/** Every fifth vehicle has a photo that never comes. */
const isHopeless = (n: number) => n % 5 === 4;

test('galleries from a slow server that sometimes fails and sometimes lies are complete or untouched, whenever the worker is killed', async (t) => {
  const { api, id: dealerId, databaseUrl, files, service } = await dealership();
  const server = await pictureServer(t, async (request, response, asked) => {
    const [, n = 0, photo = 0] = /^\/(\d+)\/(\d+)$/.exec(request.url ?? '')?.map(Number) ?? [];
    await delay(5 + ((n * 7 + photo * 13) % 40));
    if (isHopeless(n) && photo === 2) return response.writeHead(404).end('<html>');
    if ((n + photo) % 11 === 0 && asked === 1) return response.destroy();
    if ((n + photo) % 7 === 0 && asked === 1) return response.setHeader('content-type', 'image/jpeg').end('<html>');
    // The picture tells by its width which it is.
    const type = photo % 2 === 0 ? 'image/png' : 'text/plain';
    return response.setHeader('content-type', type).end(await jpeg({ width: 100 + photo, height: 60 }));
  });
  const work = () =>
    start(t, script('worker-process.ts'), { DATABASE_URL: databaseUrl, FILES: files.folder, IMAGE_ALLOW_ADDRESSES: '127.0.0.1/32' });
  const item = (n: number) => ({
    ...cars[n],
    images: Array.from({ length: photos }, (_, photo) => server.at(`/${n}/${photo}`)),
  });
  const { id } = await api
    .post(
      '/v1/vehicles/batch',
      Array.from({ length: vehicles }, (_, n) => item(n)),
    )
    .succeeds(202);
  const progress = async (): Promise<number> => {
    const { rows } = await service.pools.doors.query(
      `select (select count(*) from photo_file where dealer_id = $1) + (select created from vehicle_batch where id = $2) as n`,
      [dealerId, id],
    );
    return Number(rows[0].n);
  };

  let partial = 0;
  const watching = new AbortController();
  const watched = watch(api, watching.signal, (counts) => {
    partial += counts.filter((count) => count !== 0 && count !== photos).length;
  });
  for (let kill = 1; kill <= kills; kill++) {
    // What a missed heartbeat does in half a minute, done at once: the jobs of the dead worker are due again.
    await service.pools.doors.query("update queue.job set state = 'retry' where name like 'vehicles.%' and state = 'active'");
    const before = await progress();
    const worker = await work();
    await until(async () => (await progress()) > before + vehicles / 3);
    await worker.kill();
  }
  await service.pools.doors.query("update queue.job set state = 'retry' where name like 'vehicles.%' and state = 'active'");
  assert.notEqual((await api.get(`/v1/vehicle-batches/${id}`).succeeds()).status, 'completed', 'killed before the end');
  await work();
  await until(async () => (await api.get(`/v1/vehicle-batches/${id}`).succeeds()).status === 'completed');
  watching.abort();
  await watched;
  assert.equal(partial, 0, 'nobody ever saw a part of a gallery');

  const batch = await api.get(`/v1/vehicle-batches/${id}`).succeeds();
  assert.deepEqual([batch.created, batch.failed, batch.pending], [vehicles, 0, 0]);
  for (const [n, { status, images, vehicle_id }] of batch.items.entries()) {
    const vehicle = await api.get(`/v1/vehicles/${vehicle_id}`).succeeds();
    const widths = vehicle.images.map(({ width }: { width: number }) => width);
    const failed = isHopeless(n) ? [{ url: server.at(`/${n}/2`), reason: 'It answered 404.' }] : [];
    assert.deepEqual([status, images], ['succeeded', { requested: photos, imported: isHopeless(n) ? 0 : photos, failed }], `item ${n}`);
    assert.deepEqual(vehicle.images_import, { state: isHopeless(n) ? 'failed' : 'succeeded', requested: photos, failed });
    assert.deepEqual(widths, isHopeless(n) ? [] : Array.from({ length: photos }, (_, photo) => 100 + photo));
  }
  const { rows } = await service.pools.doors.query(
    `select (select count(*) from event where dealer_id = $1 and type = 'vehicle_batch.completed') as completed,
            (select count(*) from event where dealer_id = $1 and type = 'vehicle.updated') as updated,
            (select count(*) from photo_import where dealer_id = $1) + (select count(*) from photo_import_item where dealer_id = $1) as left_over`,
    [dealerId],
  );
  assert.deepEqual(rows[0], { completed: 1, updated: vehicles - vehicles / 5, left_over: 0 });
});

test('an upload whose process is killed is a photo once its sender repeats it, and once only', async (t) => {
  const { api, id: dealerId, databaseUrl, files, service } = await dealership();
  const { id } = await api.post('/v1/vehicles', { condition: 'USED', make: 'Ford', model: 'Ka' }).succeeds(201);
  const env = { DATABASE_URL: databaseUrl, FILES: files.folder };
  const query = async (text: string) => (await service.pools.doors.query(text, [dealerId])).rows[0].n;
  // Killed as soon as the key is claimed, or the file is noted.
  const stages = ['stored_answer where running_until is not null and', 'photo_file where unused_since is not null and'];
  const photos = await Promise.all([1_500, 1_510].map((width) => noisy(width, 1_000).jpeg().toBuffer()));
  for (const [at, stage] of stages.entries()) {
    const { body, headers } = multipart({ file: photos[at]!, alt: `Photo ${at}` });
    const sent = { ...headers, authorization: `Bearer ${api.key}`, 'idempotency-key': `photo ${at}` };
    const upload = (url: string) => fetch(`${url}/v1/vehicles/${id}/images`, { method: 'POST', headers: sent, body });
    const doomed = await start(t, script('api-process.ts'), env);
    const lost = upload(doomed.url).catch(() => undefined);
    await until(async () => (await query(`select count(*) as n from ${stage} dealer_id = $1`)) > 0);
    await doomed.kill();
    await lost;
    await service.pools.doors.query('update stored_answer set running_until = clock_timestamp() where running_until is not null');
    const next = await start(t, script('api-process.ts'), env);
    let answer = await upload(next.url);
    while (answer.status === 409) answer = await upload(next.url); // Until PostgreSQL noticed that its client is gone.
    assert.equal(answer.status, 201);
    await next.kill();
    const { images } = await api.get(`/v1/vehicles/${id}`).succeeds();
    assert.deepEqual(
      images.map(({ alt }: { alt: string }) => alt),
      Array.from({ length: at + 1 }, (_, n) => `Photo ${n}`),
    );
    for (const { url, thumbnail_url } of images)
      for (const address of [url, thumbnail_url])
        assert.ok(existsSync(join(files.folder, new URL(address).pathname.replace('/files/', ''))));
  }
});

async function listings(most: number): Promise<object[]> {
  const file = fileURLToPath(new URL('../../../shared/data/uk-used-cars/listings.csv.gz', import.meta.url));
  if (!existsSync(file)) {
    return Array.from({ length: 30 }, (_, n) => ({ condition: 'USED', make: 'Ford', model: `Model ${n}`, external_id: `car ${n}` }));
  }
  const found: object[] = [];
  for await (const row of rowsOf(file)) {
    if (found.push(toVehicle(row, `car ${found.length}`, 2026).vehicle) === most) break;
  }
  return found;
}

/** Looks at every gallery again and again. */
async function watch(api: Api, signal: AbortSignal, see: (counts: number[]) => void): Promise<void> {
  while (!signal.aborted) {
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body } = await api.get(`/v1/vehicles?limit=100${cursor && `&cursor=${cursor}`}`);
      see(body.data.map(({ images }: { images: unknown[] }) => images.length));
      cursor = body.meta.next_cursor;
    }
    await delay(100, undefined, { signal }).catch(() => undefined);
  }
}
