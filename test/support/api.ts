import assert from 'node:assert/strict';
import type { FastifyInstance, InjectOptions } from 'fastify';
import type { Operation } from '#platform/contract.ts';
import { type Code, catalogue } from '#platform/errors.ts';
import { envelope } from '#platform/http/serve.ts';
import { routes } from '../../src/app/catalogue.ts';

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the answer holds
type Json = any;

/** An answer of the API, with what a test asks of it. */
export interface Answer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Json;
}

export type Asking = Promise<Answer> & {
  /** The `data` of a success with this status. */
  succeeds(status?: number): Promise<Json>;
  /** The body of a refusal with this status and code, once its form was checked. */
  refuses(status: number, code: Code): Promise<Json>;
};

export interface Api {
  readonly key: string | null;
  get(path: string, headers?: Record<string, string>): Asking;
  post(path: string, body?: unknown, headers?: Record<string, string>): Asking;
  patch(path: string, body?: unknown, headers?: Record<string, string>): Asking;
  put(path: string, body?: unknown, headers?: Record<string, string>): Asking;
  delete(path: string, headers?: Record<string, string>): Asking;
  /** The same API with another key, or none. */
  as(key: string | null): Api;
}

/** Speaks to the API as a client would, and holds every answer against the contract. */
export function speak(app: FastifyInstance, key: string | null): Api {
  const ask = (method: string, path: string, body: unknown, headers: Record<string, string> = {}): Asking =>
    asking(send(app, { method: method as 'GET', url: path, headers: { ...authorization(key), ...headers }, ...payload(body) }));
  return {
    key,
    get: (path, headers) => ask('GET', path, undefined, headers),
    post: (path, body, headers) => ask('POST', path, body, headers),
    patch: (path, body, headers) => ask('PATCH', path, body, headers),
    put: (path, body, headers) => ask('PUT', path, body, headers),
    delete: (path, headers) => ask('DELETE', path, undefined, headers),
    as: (other) => speak(app, other),
  };
}

const authorization = (key: string | null): Record<string, string> => (key === null ? {} : { authorization: `Bearer ${key}` });

const payload = (body: unknown): Pick<InjectOptions, 'payload'> =>
  body === undefined ? {} : { payload: body as Exclude<InjectOptions['payload'], undefined> };

async function send(app: FastifyInstance, request: InjectOptions): Promise<Answer> {
  const response = await app.inject(request);
  const body = response.payload === '' ? null : JSON.parse(response.payload);
  const answer = { status: response.statusCode, headers: response.headers as Record<string, string>, body };
  checkAgainstContract(request, answer);
  return answer;
}

function asking(answer: Promise<Answer>): Asking {
  return Object.assign(answer, {
    async succeeds(status = 200) {
      const { status: actual, body } = await answer;
      assert.equal(actual, status, JSON.stringify(body));
      return body.data;
    },
    async refuses(status: number, code: Code) {
      const { status: actual, body, headers } = await answer;
      assert.deepEqual([actual, body.code], [status, code], JSON.stringify(body));
      assert.equal(body.success, false);
      assert.equal(body.request_id, headers['x-request-id']);
      assert.equal('errors' in body, status === 422 && body.errors !== undefined);
      return body;
    },
  });
}

/** Whether this operation is the one a request meant. */
export const operationFor = (method: string, url: string): Operation | undefined =>
  routes
    .map(({ operation }) => operation)
    .find((operation) => operation.method === method && pattern(operation.path).test(url.split('?')[0] ?? ''));

const pattern = (path: string) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);

function checkAgainstContract({ method = 'GET', url }: InjectOptions, { status, body, headers }: Answer): void {
  assert.ok(status < 500, JSON.stringify(body));
  assert.ok(headers['x-request-id'], 'every response carries X-Request-Id');
  const operation = operationFor(method, String(url));
  if (!operation) return;
  if (status >= 400) {
    assert.ok(body.code in catalogue, `${body.code} stands in the catalogue`);
    return;
  }
  const { success } = operation;
  const shapes = [
    envelope(success.data, success.shape),
    success.publishable && envelope(success.publishable, success.shape),
    success.or && envelope(success.or.data),
  ];
  const read = shapes.flatMap((shape) => (shape ? [shape.safeParse(body)] : []));
  assert.ok(
    read.some((result) => result.success),
    `${operation.id} answered outside its contract: ${JSON.stringify(read[0]?.error?.issues)}`,
  );
}
