import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { AwsClient } from 'aws4fetch';
import type { Bucket, FileStore } from './store.ts';

const patienceMs = 30_000;

/** Files in a bucket, addressed by path, as every service that speaks S3 takes it. */
export function bucketStore({ endpoint, bucket, region, accessKeyId, secretAccessKey, addresses }: Bucket): FileStore {
  const client = new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3', retries: 3 });
  const ask = async (name: string, request: RequestInit): Promise<Response> => {
    const answer = await client.fetch(`${endpoint}/${bucket}/${name}`, { ...request, signal: AbortSignal.timeout(patienceMs) });
    if (answer.ok || answer.status === 404) return answer;
    throw new Error(`The bucket answered ${answer.status} to ${request.method}: ${(await answer.text()).slice(0, 300)}`);
  };
  return {
    async put(name, bytes, type) {
      const headers = { 'content-type': type, 'cache-control': 'public, max-age=31536000, immutable' };
      const answer = await ask(name, { method: 'PUT', body: new Uint8Array(bytes), headers });
      if (!answer.ok) throw new Error(`There is no bucket "${bucket}" at ${endpoint}.`);
      await answer.body?.cancel();
    },

    async open(name) {
      const { ok, headers, body } = await ask(name, { method: 'GET' });
      if (ok && body) return { size: Number(headers.get('content-length')), body: Readable.fromWeb(body as ReadableStream) };
      await body?.cancel();
      return null;
    },

    async remove(name) {
      const { body } = await ask(name, { method: 'DELETE' });
      await body?.cancel();
    },

    addressOf: (name) => `${addresses}/${name}`,
  };
}
