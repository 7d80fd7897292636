import { createHash, createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';

/** Speaks as much of the protocol of S3 as matters, and checks every signature. */
export async function bucketServer(t: { after(undo: () => void): void }) {
  const objects = new Map<string, Buffer>();
  let failures = 0;
  let asked = 0;
  let pauseMs = 0;
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    asked++;
    if (failures-- > 0) return response.writeHead(503).end();
    if (request.headers.authorization?.split('Signature=')[1] !== signature(request))
      return response.writeHead(403).end('SignatureDoesNotMatch');
    const path = request.url ?? '';
    if (!path.startsWith('/photos-of-dealers/')) return response.writeHead(404).end('NoSuchBucket');
    if (path.endsWith('/moved.jpg')) return response.writeHead(307, { location: '/photos-of-dealers/photos/ab/else.jpg' }).end();
    if (request.method === 'PUT') objects.set(path, body);
    if (request.method === 'DELETE') objects.delete(path);
    if (request.method !== 'GET') return response.writeHead(request.method === 'PUT' ? 200 : 204).end();
    const found = objects.get(path);
    if (!found) return response.writeHead(404).end('NoSuchKey');
    response.writeHead(200, { 'content-length': found.length }).write(found.subarray(0, 1));
    await delay(pauseMs);
    return response.end(found.subarray(1));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    place: { kind: 'bucket', bucket: 'photos-of-dealers', region: 'eu-west-2', accessKeyId: 'AKID', secretAccessKey: 'secret' } as const,
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    failNext: (count: number) => {
      failures = count;
    },
    /** Pauses in the middle of each file from now on. */
    pause: (ms: number) => {
      pauseMs = ms;
    },
    names: () => [...objects.keys()],
    asked: () => asked,
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
