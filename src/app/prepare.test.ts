import assert from 'node:assert/strict';
import { test } from 'node:test';
import sharp from 'sharp';
import { speak } from '../../test/support/api.ts';
import { dealership, house } from '../../test/support/dealership.ts';
import { createDemo, resetSandbox } from './prepare.ts';
import { openAlbum } from './seed-photos.ts';
import { seedStock, seedStockWithPhotos } from './seed-stock.ts';

interface Shown {
  id: string;
  external_id: string;
  status: string;
  colour: string;
  images: { url: string; thumbnail_url: string; width: number; height: number; position: number; alt: string }[];
}

async function picture(address: string) {
  const { app } = await house();
  const { statusCode, headers, rawPayload } = await app.inject({ url: new URL(address).pathname });
  assert.deepEqual([statusCode, headers['content-type']], [200, 'image/jpeg'], address);
  return rawPayload;
}

const sizeOf = async (bytes: Buffer) => {
  const { width, height } = await sharp(bytes).metadata();
  return [width, height];
};

test('every car the demo dealer advertises has photos, whose addresses answer pictures of the size that is said', async () => {
  const { service, app } = await house();
  const api = speak(app, (await createDemo(service, 12)).secret_key);
  const cars: Shown[] = await api.get('/v1/vehicles?limit=100').succeeds();
  assert.equal(cars.length, 12);
  const fewest: Record<string, number> = { FOR_SALE: 3, RESERVED: 2, SOLD: 2, DELIVERED: 2 };
  for (const { external_id, status, images } of cars) {
    assert.ok(images.length >= (fewest[status] ?? 0), `${external_id}, ${status}`);
    for (const [i, { url, thumbnail_url, width, height, position, alt }] of images.entries()) {
      assert.deepEqual(await sizeOf(await picture(url)), [width, height]);
      assert.deepEqual(await sizeOf(await picture(thumbnail_url)), [480, 300]);
      assert.deepEqual([width, height, position], [1600, 1000, i]);
      assert.match(alt, /^(Blue|Black|White|Grey|Red|Silver) \S.* (from the side|from the front|from inside)$/);
    }
  }
  assert.ok(new Set(cars.map(({ status }) => status)).size === 8);
});

test('cars that look alike have the same picture, and others another', async () => {
  const { service, app } = await house();
  const api = speak(app, (await createDemo(service, 12)).secret_key);
  const cars: (Shown & { body_type: string })[] = await api.get('/v1/vehicles?has_images=true&limit=100').succeeds();
  const pictures = new Map<string, string>();
  for (const { body_type, colour, images } of cars) {
    const bytes = (await picture(images[0]!.url)).toString('base64');
    assert.equal(pictures.get(`${body_type} ${colour}`) ?? bytes, bytes);
    pictures.set(`${body_type} ${colour}`, bytes);
  }
  assert.equal(new Set(pictures.values()).size, pictures.size);
  assert.ok(pictures.size > 3 && pictures.size < cars.length, 'of both there are some');
});

test('a run that was killed before the photos is completed by the next, and nothing is doubled', async () => {
  const { ctx, branch, api } = await dealership();
  const seed = { branchIds: [branch.id], vehicles: 5, photographed: 2 };
  const galleries = async () => {
    const cars: Shown[] = await api.get('/v1/vehicles').succeeds();
    return Object.fromEntries(cars.map(({ external_id, images }) => [external_id, images.map(({ url }) => url)]));
  };
  await seedStock(ctx, seed);
  assert.deepEqual(Object.values(await galleries()).flat(), []);
  await seedStockWithPhotos(ctx, seed, openAlbum());
  const completed = await galleries();
  assert.deepEqual(
    ['seed-1', 'seed-2', 'seed-3', 'seed-4', 'seed-5'].map((id) => completed[id]?.length),
    [3, 0, 0, 2, 0],
  );
  await seedStockWithPhotos(ctx, seed, openAlbum());
  assert.deepEqual(await galleries(), completed);
});

test('the sandbox has photos, and has them again after its reset', async () => {
  const { apiWith, service } = await dealership();
  const api = await apiWith({ environment: 'test' });
  const photographed = async (): Promise<Shown[]> => api.get('/v1/vehicles?has_images=true&limit=100').succeeds();
  const before = await photographed();
  assert.equal(before.length, 4);
  await resetSandbox(service);
  const after = await photographed();
  assert.deepEqual(
    after.map(({ external_id, images }) => [external_id, images.map(({ alt }) => alt)]),
    before.map(({ external_id, images }) => [external_id, images.map(({ alt }) => alt)]),
  );
  for (const { images } of after) for (const { url } of images) assert.deepEqual(await sizeOf(await picture(url)), [1600, 1000]);
});
