import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { AwsClient } from 'aws4fetch';
import type { Bucket, FileStore } from './store.ts';

/** Files in a bucket, addressed by path, as every service that speaks S3 takes it. `patienceMs` is for its answer; a file may be read slowly. */
export function bucketStore(place: Bucket, patienceMs = 30_000): FileStore {
  const { endpoint, bucket, region, accessKeyId, secretAccessKey, addresses } = place;
  const client = new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3', retries: 3 });

  /** Null when there is no such file. No redirect is followed: what is kept here goes nowhere else. */
  async function ask(name: string, request: RequestInit): Promise<Response | null> {
    const patience = new AbortController();
    const timer = setTimeout(() => patience.abort(new Error('The bucket did not answer in time.')), patienceMs);
    try {
      const answer = await client.fetch(`${endpoint}/${bucket}/${name}`, { ...request, redirect: 'manual', signal: patience.signal });
      if (answer.ok) return answer;
      const said = await answer.text();
      if (answer.status === 404 && said.includes('NoSuchKey')) return null;
      throw new Error(`The bucket answered ${answer.status} to ${request.method}: ${said.slice(0, 300)}`);
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    async put(name, bytes, type) {
      const headers = { 'content-type': type, 'cache-control': 'public, max-age=31536000, immutable' };
      const answer = await ask(name, { method: 'PUT', body: new Uint8Array(bytes), headers });
      if (!answer) throw new Error('The bucket did not take a file.');
      await answer.body?.cancel();
    },

    async open(name) {
      const answer = await ask(name, { method: 'GET' });
      if (!answer?.body) return null;
      return { size: Number(answer.headers.get('content-length')), body: Readable.fromWeb(answer.body as ReadableStream) };
    },

    async remove(name) {
      const answer = await ask(name, { method: 'DELETE' });
      await answer?.body?.cancel();
    },

    addressOf: (name) => `${addresses}/${name}`,
  };
}
