import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { METHODS } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fastify, { LogController } from 'fastify';
import type { Logger } from 'pino';
import { z } from 'zod';
import { plainAddress } from '../addresses.ts';
import type { Context } from '../context.ts';
import type { Operation, Page, Success } from '../contract.ts';
import { pageMeta, tombstone, wholeListMeta } from '../contract.ts';
import { readsOf } from '../db/queries.ts';
import type { Doors, Identity } from '../doors.ts';
import { Refusal } from '../errors.ts';
import { observeRequest } from '../metrics.ts';
import type { Service } from '../service.ts';
import { writer } from '../wire.ts';
import { admit, allowsOrigin } from './admit.ts';
import type { BareRoute, Route } from './answer.ts';
import { AnotherSuccess } from './answer.ts';
import { discardRest, receiveJson } from './body.ts';
import { resourceMetadataUrl } from './discovery.ts';
import type { Answer } from './failures.ts';
import { bodyFor, refusalAnswer } from './failures.ts';
import { once, repeatable } from './once.ts';
import { readOnce } from './read-input.ts';
import { hashesOf, longestUploadMs, receiveParts, withRoom } from './uploads.ts';

export interface ServeOptions {
  readonly service: Service;
  readonly doors: Doors;
  readonly routes: readonly Route[];
  readonly bareRoutes?: readonly BareRoute[];
  /** As the outside sees this server. */
  readonly baseUrl: string;
  /** CIDR ranges whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
  /** How long a body may take to arrive. */
  readonly bodyTimeoutMs?: number;
}

/** What a request has met so far; the hooks that write headers and the log read it. */
interface Visit {
  readonly id: string;
  readonly startedAt: number;
  identity: Identity | null;
  operationId: string;
  /** What of the operation was asked for, where one does several things. */
  part: string | null;
  /** The pages that may read the answer, beside those of its key; null where there are none. */
  pages: readonly string[] | null;
}

declare module 'fastify' {
  interface FastifyRequest {
    visit: Visit;
  }
}

/** Serves the operations. Each request lives as `live` says, top to bottom. */
export function serve(options: ServeOptions): FastifyInstance {
  const { routes, trustedProxies } = options;
  const all = [...routes.map(bare), ...(options.bareRoutes ?? [])];
  const app = fastify({
    loggerInstance: options.service.log,
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
    exposeHeadRoutes: false,
    rewriteUrl: (request) => originForm(request.url ?? '/'),
    // Headers and bodies have limits of their own, of which that of an upload is the longest.
    requestTimeout: longestUploadMs + 60_000,
    connectionTimeout: 0,
    keepAliveTimeout: 72_000,
    genReqId: newRequestId,
    // A path that cannot be decoded, or with an endless part: no route has it. Hooks do not run here.
    frameworkErrors: (_error, request, reply) => {
      begin(request, reply);
      reply.raw.once('finish', () => logRequest(options.service.log, request, reply));
      void refuseOutside(options, request, reply, nothingThere());
    },
    clientErrorHandler: (error, socket) => answerBrokenMessage(error, socket, docsOf(options)),
    forceCloseConnections: 'idle',
    // While it closes it answers what still arrives on open connections like any other request.
    return503OnClosing: false,
    // Else Node answers by itself, without a body or a request id.
    http: { requireHostHeader: false },
  }) as unknown as FastifyInstance;

  // An expectation that is not met is one that need not be met; a tunnel is nothing this server makes.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  app.server.on('connect', (_request, socket) => answerBrokenMessage(new Error('CONNECT'), socket, docsOf(options)));
  // Bodies are received by `receive`, after the caller was let in: to the framework no method has one, and it judges none.
  for (const method of METHODS) app.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  app.decorateRequest('visit');
  app.addHook('onRequest', (request, reply, done) => {
    begin(request, reply);
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    logRequest(options.service.log, request, reply);
    done();
  });

  for (const route of all) app.route({ method: route.operation.method, url: fastifyPath(route.operation), handler: live(route, options) });
  for (const [url, methods] of methodsByPath(all)) {
    const listedPages = all.some(({ operation }) => fastifyPath(operation) === url && operation.access.listedPages);
    app.options(url, preflight(listedPages));
    const others = every.filter((method) => !methods.includes(method));
    app.route({
      method: others,
      url,
      handler(request, reply) {
        request.visit.pages = listedPages ? options.doors.pages : null;
        return refuseOutside(options, request, reply, notThatMethod(methods));
      },
    });
  }
  app.setNotFoundHandler((request, reply) => refuseOutside(options, request, reply, nothingThere()));
  app.setErrorHandler((error, request, reply) => fail(options, request, reply, error));
  return app;
}

function begin(request: FastifyRequest, reply: FastifyReply): void {
  request.visit = { id: request.id, startedAt: performance.now(), identity: null, operationId: 'none', part: null, pages: null };
  reply.header('X-Request-Id', request.id).header('X-Content-Type-Options', 'nosniff');
}

const every = METHODS.filter((method) => method !== 'OPTIONS' && method !== 'CONNECT');

/** The life of a request. */
function live({ operation, respond }: BareRoute, options: ServeOptions) {
  const { service, doors, bodyTimeoutMs } = options;
  const asRefused = (refusal: Refusal) => refusalAnswer(refusal, docsOf(options));

  return async (request: FastifyRequest, reply: FastifyReply) => {
    const { visit } = request;
    visit.operationId = operation.id;
    visit.pages = operation.access.listedPages ? doors.pages : null;
    const identity = await identify(request, reply, options);
    checkMessage(request.raw);
    const { caller, dealer } = admit(identity, operation.access, senderOf(request), doors);
    const ctx: Context = {
      dealer,
      caller,
      db: readsOf(service.pools.work, dealer.id),
      now: identity.now,
      requestId: request.id,
      service,
    };
    const name = (part: string) => {
      visit.part = part;
    };
    const { permissionBehind } = doors;
    const asRefusal = (thrown: unknown) => refusalBehind(thrown, service.log, request);
    const params = request.params as Record<string, string>;
    const told = { bodyTimeoutMs, asRefusal, asRefused, permissionBehind, name };
    const answer = await respond(ctx, { message: request.raw, url: request.url, params, ...told });
    if (answer.replayed) reply.header('Idempotent-Replayed', 'true');
    if (answer.retryAfterSeconds !== undefined) reply.header('Retry-After', answer.retryAfterSeconds);
    return send(reply, answer);
  };
}

/** What the function of an operation answers, read and written by the contract. */
function bare(route: Route): BareRoute {
  const { operation, handle } = route;
  const write = writers(operation);
  const respond: BareRoute['respond'] = async (ctx, { message, url, params, bodyTimeoutMs, asRefused }) => {
    const work = async () => {
      const { body, identifying } = await receive(operation, message, bodyTimeoutMs);
      const read = readOnce(operation, { params, query: queryOf(url), body });
      const outside = outsideOf(route, read);
      return once(ctx, repeatable(message, identifying), {
        ...(outside && { outside }),
        inside: async (ctx, fetched) => write(await handle(ctx, read(), fetched), ctx.caller.kind === 'publishable'),
        refused: asRefused,
        busy: operation.refusals.includes('stock_busy') ? 'stock_busy' : 'service_unavailable',
      });
    };
    const answer = await (operation.multipart ? withRoom(ctx.dealer.id, message, work) : work());
    return { ...answer, body: bodyFor(answer, ctx.requestId) };
  };
  return { operation, respond };
}

/** The body, and what of it makes a repeated request the same. */
async function receive(operation: Operation, request: IncomingMessage, timeoutMs: number | undefined) {
  if (!takesBody(operation)) return { body: undefined, identifying: () => undefined };
  if (operation.multipart) {
    const parts = await receiveParts(request, timeoutMs);
    return { body: parts, identifying: () => hashesOf(parts) };
  }
  const body = await receiveJson(request, operation.bodyLimit, timeoutMs);
  return { body, identifying: () => body };
}

/** The calls this request makes to other services. One of the wrong shape makes none: the work refuses it. */
function outsideOf({ callsOut, outside }: Route, read: ReturnType<typeof readOnce>): ((ctx: Context) => Promise<unknown>) | undefined {
  if (!outside) return undefined;
  try {
    const input = read();
    return (callsOut?.(input) ?? true) ? (ctx) => outside(ctx, input) : undefined;
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

/** Finds out who asks and tells the sender, whatever the answer becomes, what is left of the allowance. */
async function identify(request: FastifyRequest, reply: FastifyReply, { doors }: ServeOptions): Promise<Identity> {
  const sent = bearerToken(request.raw);
  const identity = await doors.identify(sent, plainAddress(request.ip));
  request.visit.identity = identity;
  const { limit, remaining, resetSeconds } = identity.allowance;
  reply.header('X-RateLimit-Limit', limit).header('X-RateLimit-Remaining', remaining).header('X-RateLimit-Reset', resetSeconds);
  return identity;
}

/** Refuses what no operation answers: an unknown path, a wrong method. It counts like any other request. */
async function refuseOutside(options: ServeOptions, request: FastifyRequest, reply: FastifyReply, refusal: Refusal) {
  try {
    await identify(request, reply, options);
    checkMessage(request.raw);
    return await fail(options, request, reply, refusal);
  } catch (error) {
    return await fail(options, request, reply, error);
  }
}

/** The one place where an error becomes an answer. Whatever is not a refusal is a fault of ours: logged, told without detail. */
async function fail(options: ServeOptions, request: FastifyRequest, reply: FastifyReply, error: unknown) {
  const refusal = refusalBehind(error, options.service.log, request);
  if (refusal.retryAfterSeconds !== undefined) reply.header('Retry-After', refusal.retryAfterSeconds);
  if (refusal.allow !== undefined) reply.header('Allow', refusal.allow);
  if (refusal.status === 401) reply.header('WWW-Authenticate', challenge(request.raw, options));
  allowOrigin(request, reply, refusal);
  if (refusal.code === 'bad_request') reply.header('Connection', 'close');
  else if (!request.raw.complete && hasBody(request.raw)) discardRest(request.raw, options.bodyTimeoutMs);
  const answer = refusalAnswer(refusal, docsOf(options));
  return send(reply, { ...answer, body: bodyFor(answer, request.id) });
}

function send(reply: FastifyReply, { status, location, body }: Answer) {
  allowOrigin(reply.request, reply, null);
  if (location) reply.header('Location', location);
  return body === '' ? reply.code(status).send() : reply.code(status).type('application/json; charset=utf-8').send(body);
}

const refusalBehind = (thrown: unknown, log: Logger, request: FastifyRequest): Refusal =>
  thrown instanceof Refusal ? thrown : faultAsRefusal(log, request, thrown);

const noDatabase = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', '57P01', '57P02', '57P03', '53300', '08006', '08001']);

/** What is told of whatever was thrown and is no refusal; the log has the rest. */
export function faultAsRefusal(log: Logger, request: FastifyRequest, error: unknown): Refusal {
  const { code, message = '' } = error as { code?: string; message?: string };
  log.error({ err: error, request_id: request.id }, 'fault');
  const away =
    noDatabase.has(code ?? '') || /timeout exceeded when trying to connect|Connection terminated|server closed|not queryable/.test(message);
  return away ? new Refusal('service_unavailable', undefined, { retryAfterSeconds: 5 }) : new Refusal('internal_error');
}

// ---- What a success becomes ----

/** The compiled serialiser is the allow-list: what the contract does not name cannot leave. */
function writers({ success, path }: Operation): (data: unknown, publishable: boolean) => Answer {
  const full = bodyWriter(success.data, success.shape);
  const narrow = success.publishable ? bodyWriter(success.publishable, success.shape) : full;
  const other = success.or && bodyWriter(success.or.data);
  return (data, publishable) => {
    if (data instanceof AnotherSuccess) {
      if (!other) throw new Error(`${path} declares no other success.`);
      return { status: data.status, body: other(data.data), location: null };
    }
    return { status: success.status, body: (publishable ? narrow : full)(data), location: locationOf(success.location, data) };
  };
}

/** Writes the whole body of a success, as `envelope` describes it. */
function bodyWriter(schema: z.ZodType, shape?: Success['shape']): (data: unknown) => string {
  const one = writer(schema);
  if (shape === 'page') {
    const gone = writer(tombstone);
    const meta = writer(pageMeta);
    // Item by item, since a serialiser asked to choose between two forms checks every item against both.
    return (data) => {
      const page = data as Page<object>;
      return `{"data":[${page.data.map((item) => ('deleted' in item ? gone(item) : one(item))).join(',')}],"meta":${meta(page.meta)}}`;
    };
  }
  if (shape === 'list')
    return (data) => `{"data":[${(data as unknown[]).map(one).join(',')}],"meta":{"next_cursor":null,"has_more":false}}`;
  return (data) => `{"data":${one(data)}}`;
}

/** The whole body of a success. */
export function envelope(data: z.ZodType, shape?: Success['shape']): z.ZodType {
  if (shape === 'bare') return data;
  if (shape === 'page') return z.object({ data: z.array(z.union([data, tombstone])), meta: pageMeta });
  if (shape === 'list') return z.object({ data: z.array(data), meta: wholeListMeta });
  return z.object({ data });
}

const locationOf = (pattern: string | undefined, data: unknown): string | null =>
  pattern?.replace('{id}', (data as { id: string }).id) ?? null;

// ---- What a request says ----

const takesBody = ({ body }: Operation) => !(body instanceof z.ZodUndefined);
const hasBody = ({ headers }: IncomingMessage) => headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
const fastifyPath = ({ path }: Operation) => path.replaceAll(/\{(\w+)\}/g, ':$1');
const queryOf = (url: string) => (url.includes('?') ? url.slice(url.indexOf('?') + 1) : '');
const docsOf = ({ baseUrl }: ServeOptions) => `${baseUrl}/docs/errors`;
const originOf = ({ headers }: IncomingMessage) => headers.origin ?? null;
const senderOf = (request: FastifyRequest) => ({ ip: request.ip, origin: originOf(request.raw) });

/** A target in absolute form names the same path. */
const originForm = (target: string) => target.replace(/^https?:\/\/[^/?#]*/i, '').replace(/^(?!\/)/, '/');

/** What another server on the way may have read as another request is no request (RFC 9112, 3.2 and 6.1). */
export function checkMessage(request: IncomingMessage): void {
  const hosts = countOf(request, 'host');
  if (hosts > 1) throw new Refusal('bad_request', 'More than one Host header.');
  if (hosts === 0 && request.httpVersion !== '1.0') throw new Refusal('bad_request', 'No Host header.');
  const coding = request.headers['transfer-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'chunked')
    throw new Refusal('bad_request', 'The only Transfer-Encoding is chunked.');
}

const countOf = ({ rawHeaders }: IncomingMessage, name: string) =>
  rawHeaders.filter((header, i) => i % 2 === 0 && header.toLowerCase() === name).length;

/** The bearer token; null when none was sent. Two Authorization headers are no token of anybody's. */
function bearerToken(request: IncomingMessage): string | null {
  if (countOf(request, 'authorization') > 1) return '';
  return /^bearer +(\S.*)$/i.exec(request.headers.authorization ?? '')?.[1]?.trim() ?? null;
}

/** Says where an application learns whom to ask for a token (RFC 9728). What it may ask for is not said: it would ask for all of it. */
const challenge = (request: IncomingMessage, { baseUrl }: ServeOptions) =>
  `Bearer realm="Forecourt", resource_metadata="${resourceMetadataUrl(baseUrl)}"${bearerToken(request) === null ? '' : ', error="invalid_token"'}`;

function methodsByPath(routes: readonly BareRoute[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { operation } of routes) found.set(fastifyPath(operation), [...(found.get(fastifyPath(operation)) ?? []), operation.method]);
  return found;
}

const nothingThere = () => new Refusal('not_found', 'Nothing has this path.');

const notThatMethod = (allowed: readonly string[]) =>
  new Refusal('method_not_allowed', undefined, { allow: [...allowed, 'OPTIONS'].join(', ') });

// ---- Browsers ----

const exposed = 'X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, Idempotent-Replayed';

/** A preflight carries no key, so any origin is told what the API takes; the real response is the one that decides. */
const preflight = (listedPages: boolean) => async (request: FastifyRequest, reply: FastifyReply) =>
  reply
    .code(204)
    .headers({
      'Access-Control-Allow-Origin': originOf(request.raw) ?? '*',
      'Access-Control-Allow-Methods': 'GET, POST',
      'Access-Control-Allow-Headers': `Authorization, Content-Type, Idempotency-Key${listedPages ? ', MCP-Protocol-Version' : ''}`,
      'Access-Control-Max-Age': '600',
      Vary: 'Origin',
    })
    .send();

/** Lets the page of an allowed origin read the answer, and the page of a refused one that it was refused. */
function allowOrigin(request: FastifyRequest, reply: FastifyReply, refusal: Refusal | null): void {
  reply.header('Vary', 'Origin');
  const origin = originOf(request.raw);
  const { pages, identity } = request.visit;
  const ofKey = identity?.known?.caller.kind === 'publishable' ? identity.known.origins : null;
  if (origin === null || (pages ?? ofKey) === null) return;
  const allowed = [...(pages ?? []), ...(ofKey ?? [])];
  if (!allowsOrigin(allowed, origin) && refusal?.code !== 'origin_not_allowed') return;
  reply
    .header('Access-Control-Allow-Origin', origin)
    .header('Access-Control-Expose-Headers', pages ? `${exposed}, WWW-Authenticate` : exposed);
}

// ---- The log and messages that are no requests ----

function logRequest(log: Logger, request: FastifyRequest, reply: FastifyReply): void {
  const { visit } = request;
  const seconds = (performance.now() - visit.startedAt) / 1000;
  const part = visit.part === null ? '' : `#${visit.part}`;
  observeRequest(visit.operationId + part, reply.statusCode, seconds);
  log.info(
    {
      request_id: visit.id,
      method: request.method,
      path: `${request.url.split('?')[0]}${part}`,
      operation: visit.operationId,
      status: reply.statusCode,
      ms: Math.round(seconds * 10_000) / 10,
      key_id: visit.identity?.known?.caller.id,
      dealer: visit.identity?.known?.dealer.code,
    },
    'request',
  );
}

/** Answers bytes that are not HTTP, or headers that are too long or too slow, and closes. */
function answerBrokenMessage(error: Error & { code?: string }, socket: Duplex, docsUrl: string): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const [status, reason] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? [431, 'Request Header Fields Too Large']
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? [408, 'Request Timeout']
        : [400, 'Bad Request'];
  const requestId = newRequestId();
  const body = bodyFor(refusalAnswer(new Refusal('bad_request'), docsUrl), requestId);
  socket.end(
    `HTTP/1.1 ${status} ${reason}\r\nContent-Type: application/json; charset=utf-8\r\nX-Request-Id: ${requestId}\r\n` +
      `X-Content-Type-Options: nosniff\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

/** The name of a request in answers and in the log. */
export const newRequestId = () => `req_${randomUUID().replaceAll('-', '')}`;
