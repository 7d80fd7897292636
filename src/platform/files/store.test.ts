import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
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
  const { endpoint, failNext } = await bucketServer(t);
  const place = { kind: 'bucket', endpoint, bucket: 'photos-of-dealers', region: 'eu-west-2', accessKeyId: 'AKID', addresses } as const;
  const files = openStore({ ...place, secretAccessKey: 'secret' });
  await keepsFiles(files);
  failNext(1);
  await files.put(name, Buffer.from('again'), 'image/jpeg');
  assert.equal((await buffer((await files.open(name))!.body)).toString(), 'again', 'a fault that passes is tried again');
  await assert.rejects(openStore({ ...place, secretAccessKey: 'other' }).put(name, Buffer.from('x'), 'image/jpeg'), /answered 403/);
  await assert.rejects(
    openStore({ ...place, bucket: 'none', secretAccessKey: 'secret' }).put(name, Buffer.from('x'), 'image/jpeg'),
    /no bucket/,
  );
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

/** Speaks as much of the protocol of S3 as matters, and checks every signature. */
async function bucketServer(t: TestContext) {
  const objects = new Map<string, Buffer>();
  let failures = 0;
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    if (failures-- > 0) return response.writeHead(503).end();
    if (request.headers.authorization?.split('Signature=')[1] !== signature(request))
      return response.writeHead(403).end('SignatureDoesNotMatch');
    const path = request.url ?? '';
    if (!path.startsWith('/photos-of-dealers/')) return response.writeHead(404).end('NoSuchBucket');
    if (request.method === 'PUT') objects.set(path, body);
    if (request.method === 'DELETE') objects.delete(path);
    if (request.method !== 'GET') return response.writeHead(request.method === 'PUT' ? 200 : 204).end();
    const found = objects.get(path);
    return found ? response.writeHead(200, { 'content-length': found.length }).end(found) : response.writeHead(404).end('NoSuchKey');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    failNext: (count: number) => {
      failures = count;
    },
  };
}

/** AWS Signature Version 4, from its description. */
function signature({ method, url, headers }: IncomingMessage): string {
  const signed = /SignedHeaders=([^,]+)/.exec(headers.authorization ?? '')?.[1] ?? '';
  const hash = (text: string) => createHash('sha256').update(text).digest('hex');
  const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();
  const lines = signed.split(';').map((one) => `${one}:${headers[one]}\n`);
  const request = [method, url, '', lines.join(''), signed, headers['x-amz-content-sha256']].join('\n');
  const date = String(headers['x-amz-date']);
  const scope = `${date.slice(0, 8)}/eu-west-2/s3/aws4_request`;
  const key = hmac(hmac(hmac(hmac('AWS4secret', date.slice(0, 8)), 'eu-west-2'), 's3'), 'aws4_request');
  return hmac(key, ['AWS4-HMAC-SHA256', date, scope, hash(request)].join('\n')).toString('hex');
}
