import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { bucketServer } from '../../../test/support/bucket-server.ts';
import { script, start } from '../../../test/support/processes.ts';
import { until } from '../../../test/support/until.ts';
import { bucketStore } from './bucket.ts';
import { openStore } from './open-store.ts';
import type { FileStore } from './store.ts';
import { isFileName } from './store.ts';

const name = 'photos/ab/abc.jpg';
const addresses = 'https://api.example.com/files';

async function keepsFiles(files: FileStore): Promise<void> {
  assert.equal(await files.open(name), null);
  await files.remove(name);
  await files.put(name, Buffer.from('one'), 'image/jpeg');
  await files.put(name, Buffer.from('one'), 'image/jpeg');
  const file = await files.open(name);
  assert.equal(file?.size, 3);
  assert.equal((await buffer(file!.body)).toString(), 'one');
  assert.equal(files.addressOf(name), `${addresses}/${name}`);
  await files.remove(name);
  assert.equal(await files.open(name), null);
}

test('a folder keeps files, and nothing beside them', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'forecourt-store-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const files = openStore({ kind: 'folder', folder: join(folder, 'deep', 'er'), addresses });
  await keepsFiles(files);
  await Promise.all(Array.from({ length: 20 }, () => files.put(name, Buffer.alloc(100_000, 1), 'image/jpeg')));
  assert.deepEqual(readdirSync(join(folder, 'deep', 'er', 'photos', 'ab')), ['abc.jpg']);
  assert.ok(existsSync(join(folder, 'deep', 'er', name)));
});

test('a bucket keeps files, asked as its protocol wants it', async (t) => {
  const { place: at, endpoint, failNext } = await bucketServer(t);
  const place = { ...at, endpoint, addresses };
  const files = openStore(place);
  await keepsFiles(files);
  failNext(1);
  await files.put(name, Buffer.from('again'), 'image/jpeg');
  assert.equal((await buffer((await files.open(name))!.body)).toString(), 'again', 'a fault that passes is tried again');
  await assert.rejects(openStore({ ...place, secretAccessKey: 'other' }).put(name, Buffer.from('x'), 'image/jpeg'), /answered 403/);
  const nowhere = openStore({ ...place, bucket: 'none' });
  for (const ask of [() => nowhere.put(name, Buffer.from('x'), 'image/jpeg'), () => nowhere.open(name), () => nowhere.remove(name)])
    await assert.rejects(ask, /answered 404 to [A-Z]+: NoSuchBucket/);
});

test('a bucket that sends elsewhere is not followed, and nothing is handed on', async (t) => {
  const { place, endpoint, names } = await bucketServer(t);
  const files = openStore({ ...place, endpoint, addresses });
  const moved = 'photos/ab/moved.jpg';
  for (const ask of [() => files.put(moved, Buffer.from('x'), 'image/jpeg'), () => files.open(moved), () => files.remove(moved)])
    await assert.rejects(ask, /answered 307/);
  assert.deepEqual(names(), []);
});

test('a file of a bucket may be read for longer than its answer may take', async (t) => {
  const { place, endpoint, pause } = await bucketServer(t);
  const files = bucketStore({ ...place, endpoint, addresses }, 200);
  await files.put(name, Buffer.from('slowly'), 'image/jpeg');
  pause(600);
  assert.equal((await buffer((await files.open(name))!.body)).toString(), 'slowly');
});

test('what a killed process left half written goes with the file', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'forecourt-store-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const files = openStore({ kind: 'folder', folder, addresses });
  const names = () => (existsSync(join(folder, 'photos/ab')) ? readdirSync(join(folder, 'photos/ab')) : []);
  await files.put('photos/ab/abc-thumbnail.jpg', Buffer.from('other'), 'image/jpeg');
  const halves = () => names().filter((name) => name.startsWith('abc.jpg.'));
  // Puts it again and again, so that it is killed while it writes.
  while (halves().length === 0) {
    const writer = await start(t, script('put-process.ts'), { FILES: folder, FILE_NAME: name });
    await until(async () => halves().length > 0);
    await writer.kill();
  }
  await files.remove(name);
  assert.deepEqual(names(), ['abc-thumbnail.jpg']);
});

test('a name leads nowhere else', () => {
  assert.ok(isFileName(name) && isFileName('photos/ab/ab_c-d.jpg'));
  for (const bad of [
    '',
    'a.jpg',
    '/photos/a.jpg',
    'photos/../a.jpg',
    'photos//a.jpg',
    'photos/a',
    'photos/a.jpg/',
    'photos/a\\b.jpg',
    'photos/.a.jpg',
    'photos/A.jpg',
    `photos/${'a'.repeat(300)}.jpg`,
  ])
    assert.ok(!isFileName(bad), bad);
});
