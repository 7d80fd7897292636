import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Dealership } from '../support/dealership.ts';
import { dealership } from '../support/dealership.ts';
import { pictureServer } from '../support/picture-server.ts';
import { jpeg } from '../support/pictures.ts';
import { script, start } from '../support/processes.ts';
import { until } from '../support/until.ts';

test('dealerships whose picture server never answers keep no other waiting', async (t) => {
  const [one, two, third] = [await dealership(), await dealership(), await dealership()];
  const { databaseUrl, files } = third;
  let held = 0;
  const server = await pictureServer(t, async (request, response) => {
    if (request.url?.startsWith('/never')) return held++;
    return response.end(await jpeg());
  });
  const create = async ({ api }: Dealership, path: string): Promise<string> =>
    (await api.post('/v1/vehicles', { condition: 'USED', make: 'Ford', model: 'Ka', images: [server.at(path)] }).succeeds(201)).id;
  const stateOf = async ({ api }: Dealership, id: string): Promise<string> =>
    (await api.get(`/v1/vehicles/${id}`).succeeds()).images_import.state;
  const waiting = [one, two].flatMap((dealer) =>
    Array.from({ length: 5 }, async (_, n) => [dealer, await create(dealer, `/never/${n}`)] as const),
  );
  const stuck = await Promise.all(waiting);
  await start(t, script('worker-process.ts'), { DATABASE_URL: databaseUrl, FILES: files.folder, IMAGE_ALLOW_ADDRESSES: '127.0.0.1/32' });
  await until(async () => held >= 4);
  const id = await create(third, '/answered');
  await until(async () => (await stateOf(third, id)) === 'succeeded');
  const states = await Promise.all(stuck.map(([dealer, vehicleId]) => stateOf(dealer, vehicleId)));
  assert.deepEqual(new Set(states), new Set(['running']), 'it did not wait for any of them');
});
