import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance, InjectOptions } from 'fastify';
import { openApi } from '../../src/app/openapi.ts';

/** An exchange as outside judges read it: one line of NDJSON. */
export interface Exchange {
  readonly request: { readonly method: string; readonly url: string; readonly headers: Record<string, string>; readonly body?: string };
  readonly response: { readonly status: number; readonly headers: Record<string, string>; readonly body: string };
}

/** Writes down what this server is asked and answers, where `TEST_TRAFFIC` names a folder: `accepted` apart from `refused`. */
export function recordTraffic(app: FastifyInstance): FastifyInstance {
  const folder = process.env.TEST_TRAFFIC;
  if (!folder) return app;
  for (const kind of ['accepted', 'refused']) mkdirSync(join(folder, kind), { recursive: true });
  const inject = app.inject.bind(app) as (request: InjectOptions) => ReturnType<FastifyInstance['inject']>;
  const recording = async (asked: InjectOptions | string) => {
    const request = typeof asked === 'string' ? { url: asked } : asked;
    const response = await inject(request);
    const { statusCode: status, payload: body } = response;
    const exchange = { request: told(request, status), response: { status, headers: response.headers as Record<string, string>, body } };
    const kind = status < 400 ? 'accepted' : 'refused';
    if (isOfContract(exchange)) appendFileSync(join(folder, kind, `${process.pid}.ndjson`), `${JSON.stringify(exchange)}\n`);
    return response;
  };
  return Object.assign(app, { inject: recording });
}

/**
 * Whether the contract has anything to say of it: not of an unknown path (404) or a wrong method (405), preflights and HEAD included,
 * of pages beside the operations, or of operations only a test has. Whatever else is answered must be documented.
 */
const isOfContract = ({ request: { method, url }, response: { status } }: Exchange): boolean =>
  url.startsWith('/v1/') &&
  !url.startsWith('/v1/test/') &&
  !['OPTIONS', 'HEAD'].includes(method) &&
  status !== 405 &&
  (status !== 404 || described(method, url) !== undefined);

interface Described {
  readonly method: string;
  readonly pattern: RegExp;
  /** Its parameters that are lists with commas. */
  readonly lists: ReadonlySet<string>;
}

const operations: readonly Described[] = Object.entries(openApi('').paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { parameters }]) => ({
    method: method.toUpperCase(),
    pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
    lists: new Set(parameters.flatMap(({ name, explode }) => (explode === false ? [name] : []))),
  })),
);

const described = (method: string, url: string) =>
  operations.find((operation) => operation.method === method && operation.pattern.test(url.split('?')[0] ?? ''));

function told({ method = 'GET', url, path, headers = {}, payload, body = payload }: InjectOptions, status: number): Exchange['request'] {
  const sent = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]));
  const isJson = body instanceof Object && !Buffer.isBuffer(body) && !('pipe' in body);
  const type = sent['content-type'] ?? (isJson ? 'application/json' : undefined);
  return {
    method,
    url: withListsRepeated(method, String(url ?? path)),
    headers: {
      ...sent,
      ...(type && { 'content-type': type }),
      // The scheme is what a judge asks for; the key is nobody's business.
      ...(sent.authorization && { authorization: `${sent.authorization.split(' ')[0]} key` }),
    },
    // What was refused is refused whatever it held.
    ...(body !== undefined && status < 400 && { body: isJson ? JSON.stringify(body) : textOf(body, type) }),
  };
}

const textOf = (body: unknown, type = ''): string => (/json/.test(type) ? String(body) : `(${type})`);

/** `a=1,2` as `a=1&a=2`, which the API takes for the same: redocly drift does not part lists at commas. */
function withListsRepeated(method: string, url: string): string {
  const lists = described(method, url)?.lists;
  const [path = '', query] = url.split('?');
  if (query === undefined || !lists) return url;
  const parted = new URLSearchParams();
  for (const [name, value] of new URLSearchParams(query))
    for (const item of lists.has(name) ? value.split(',') : [value]) parted.append(name, lists.has(name) ? item.trim() : item);
  return `${path}?${parted}`;
}
