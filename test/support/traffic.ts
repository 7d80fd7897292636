import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { openApi } from '../../src/app/openapi.ts';

/** An exchange as outside judges read it: one line of NDJSON. */
export interface Exchange {
  readonly request: { readonly method: string; readonly url: string; readonly headers: Record<string, string>; readonly body?: string };
  readonly response: { readonly status: number; readonly headers: Record<string, string>; readonly body: string };
}

/**
 * Writes down what this server is asked and answers, where `TEST_TRAFFIC` names a folder: `accepted` apart from `refused`,
 * and once what differs in nothing but what every request makes anew.
 */
export function recordTraffic(app: FastifyInstance): FastifyInstance {
  const folder = process.env.TEST_TRAFFIC;
  if (!folder) return app;
  for (const kind of ['accepted', 'refused']) mkdirSync(join(folder, kind), { recursive: true });
  const bodies = new WeakMap<FastifyRequest, Buffer[]>();
  app.addHook('onRequest', (request, _reply, done) => {
    bodies.set(request, overheard(request.raw));
    done();
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    const kind = reply.statusCode < 400 ? 'accepted' : 'refused';
    if (isOfContract(request, reply, payload)) {
      const line = JSON.stringify({
        request: asked(request, reply, bodies.get(request) ?? []),
        response: answered(request, reply, String(payload)),
      });
      if (isNew(line)) appendFileSync(join(folder, kind, `${process.pid}.ndjson`), `${line}\n`);
    }
    done(null, payload);
  });
  return app;
}

/** What is read of a body, as it passes: to listen for it would make it flow before anybody wants it. */
function overheard(message: IncomingMessage): Buffer[] {
  const chunks: Buffer[] = [];
  const emit = message.emit.bind(message) as (event: string | symbol, ...told: unknown[]) => boolean;
  message.emit = (event: string | symbol, ...told: unknown[]) => {
    if (event === 'data') chunks.push(told[0] as Buffer);
    return emit(event, ...told);
  };
  return chunks;
}

/**
 * Whether the contract has anything to say of it: not of an unknown path (404) or a wrong method (405), preflights and HEAD included,
 * of what is no HTTP (400), of pages and the endpoints of OAuth beside the operations, or of operations only a test has. Whatever else is
 * answered must be documented.
 */
const isOfContract = ({ method, url }: FastifyRequest, { statusCode: status }: FastifyReply, payload: unknown): boolean =>
  url.startsWith('/v1/') &&
  !/^\/v1\/(test|oauth)\//.test(url) &&
  !['OPTIONS', 'HEAD'].includes(method) &&
  status !== 405 &&
  !(status === 400 && String(payload).includes('"code":"bad_request"')) &&
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
  operations.find((operation) => operation.method === method && operation.pattern.test(new URL(url, 'http://localhost').pathname));

function asked(
  { method, url, headers }: FastifyRequest,
  { statusCode: status }: FastifyReply,
  body: readonly Buffer[],
): Exchange['request'] {
  const sent = texts(headers);
  return {
    method,
    url: withListsRepeated(method, url),
    headers: {
      ...sent,
      // The scheme is what a judge asks for; the key is nobody's business.
      ...(sent.authorization && { authorization: `${sent.authorization.split(' ')[0]} key` }),
    },
    // What was refused is refused whatever it held.
    ...(body.length > 0 && status < 400 && { body: textOf(Buffer.concat(body), sent['content-type']) }),
  };
}

const answered = ({ url }: FastifyRequest, reply: FastifyReply, body: string): Exchange['response'] => ({
  status: reply.statusCode,
  headers: texts(reply.getHeaders()),
  body: withoutKnown(url.split('?')[0] ?? '', body),
});

const texts = (headers: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));

/** JSON with its texts trimmed, as the API takes them, and without a mark of its byte order. */
function textOf(body: Buffer, type = ''): string {
  if (!/json/i.test(type)) return `(${type})`;
  try {
    return JSON.stringify(JSON.parse(new TextDecoder().decode(body), (_name, value) => trimmed(value)));
  } catch {
    return 'null'; // The MCP endpoint tells within a 200 that it was no JSON.
  }
}

const trimmed = (value: unknown): unknown => (typeof value === 'string' ? value.trim() : value);

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

// ---- Once ----

/** A list with its first record, and those nobody was shown before. */
function withoutKnown(path: string, body: string): string {
  if (!body.startsWith('{"data":[')) return body;
  const { data, ...rest } = JSON.parse(body);
  return JSON.stringify({ data: data.filter((item: unknown, i: number) => isNew(path + JSON.stringify(item)) || i === 0), ...rest });
}

function isNew(text: string): boolean {
  const form = createHash('sha256').update(text.replaceAll(madeAnew, '')).digest('base64');
  return !written.has(form) && written.add(form) !== undefined;
}

const written = new Set<string>();

/** Ids, times, cursors, ports, what is left of an allowance: to a judge one is as good as another. */
const madeAnew = new RegExp(
  [
    /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/,
    /req_[0-9a-f]{32}/,
    /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/,
    /(?<=_cursor\\":\\")[\w.-]+/,
    /(?<=[?&]cursor=)[\w.-]+/,
    /(?<=127\.0\.0\.1:)\d+/,
    /(?<="x-ratelimit-(?:limit|remaining|reset)":")\d+/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
);
