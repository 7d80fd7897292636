import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fastify, { LogController } from 'fastify';
import { plainAddress } from '../addresses.ts';
import { Refusal } from '../errors.ts';
import { observeRequest } from '../metrics.ts';
import type { Service } from '../service.ts';
import type { Cookie } from './cookies.ts';
import { cookieIn, setCookie } from './cookies.ts';
import { faultAsRefusal, newRequestId } from './serve.ts';

// Pages for people who sit before a browser: without a key, with forms and cookies, and no script.

/** What a browser asks for, and brings. */
export interface Asked {
  readonly query: URLSearchParams;
  /** What was filled in; nothing but of a POST. */
  readonly form: URLSearchParams;
  readonly cookie: (name: string) => string | null;
  /** Sets a cookie with whatever is answered, be it that something fails after. */
  readonly keep: (cookie: Cookie) => void;
  readonly address: string;
  readonly requestId: string;
}

/** A page, or another address to go on to. */
export type Shown =
  | { readonly status: number; readonly html: string; readonly policy?: Policy }
  | { readonly leadsTo: string; readonly status?: never };

/** What a page may do beside what every page may: show pictures from elsewhere, and lead elsewhere with a form. */
export interface Policy {
  readonly pictures?: readonly string[];
  readonly forms?: readonly string[];
}

export interface Page {
  readonly id: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly show: (asked: Asked) => Promise<Shown>;
}

/** A part of the pages that is the same for everybody. Its path changes with its text, so a browser keeps it for ever. */
export interface Part {
  readonly path: string;
  readonly type: string;
  readonly text: string;
}

export interface PagesOptions {
  readonly service: Service;
  readonly pages: readonly Page[];
  readonly parts: readonly Part[];
  /** The page that tells why there is none. */
  readonly trouble: (status: number, requestId: string) => string;
  /** As the outside sees this server: an origin. */
  readonly ownUrl: string;
  readonly trustedProxies: readonly string[];
}

/** Serves the pages. */
export function servePages(options: PagesOptions): FastifyInstance {
  const { service, pages, parts, trustedProxies } = options;
  const app = fastify({
    loggerInstance: service.log,
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
    genReqId: newRequestId,
    bodyLimit: mostBytes,
    requestTimeout: 60_000,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    frameworkErrors: (_error, request, reply) => void tell(options, request, reply.headers(guarded({})), 404),
  }) as unknown as FastifyInstance;

  endUnusedConnections(app);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, text, done) =>
    done(null, new URLSearchParams(String(text))),
  );
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(guarded({}));
    if (comesFromElsewhere(request, options)) return void tell(options, request, reply, 403);
    return done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    note(service, request, reply);
    done();
  });
  for (const page of pages) app.route({ method: page.method, url: page.path, config: { page: page.id }, handler: live(page, options) });
  for (const part of parts)
    app.get(part.path, (_request, reply) =>
      reply.headers({ 'Cache-Control': 'public, max-age=31536000, immutable', 'Content-Type': part.type }).send(part.text),
    );
  for (const [url, methods] of methodsByPath(pages)) {
    const others = app.supportedMethods.filter((method) => !methods.includes(method));
    app.route({
      method: others,
      url,
      handler: (request, reply) => tell(options, request, reply.header('Allow', methods.join(', ')), 405),
    });
  }
  app.setNotFoundHandler((request, reply) => tell(options, request, reply, 404));
  app.setErrorHandler((error, request, reply) => tell(options, request, reply, statusOf(options, request, error)));
  return app;
}

/** Browsers open connections in advance. One over which nothing was asked yet does not count as idle, and would keep the server from closing for a minute. */
function endUnusedConnections(app: FastifyInstance): void {
  const unused = new Set<Socket>();
  app.server.on('connection', (socket) => {
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
  });
  app.server.on('request', ({ socket }) => unused.delete(socket));
  app.addHook('preClose', async () => {
    for (const socket of unused) socket.destroy();
  });
}

declare module 'fastify' {
  interface FastifyContextConfig {
    page?: string;
  }
}

/** What is filled in by hand, and a request to connect that is handed through. */
const mostBytes = 64 * 1024;

function live({ method, show }: Page, { ownUrl }: PagesOptions) {
  const secure = ownUrl.startsWith('https:');
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const shown = await show({
      query: new URLSearchParams(request.url.split('?')[1] ?? ''),
      form: method === 'POST' && request.body instanceof URLSearchParams ? request.body : new URLSearchParams(),
      cookie: (name) => cookieIn(request.headers.cookie, name, secure),
      keep: (cookie) => void reply.header('Set-Cookie', setCookie(cookie, secure)),
      address: plainAddress(request.ip),
      requestId: request.id,
    });
    if ('leadsTo' in shown) return reply.code(303).header('Location', shown.leadsTo).send();
    return reply
      .code(shown.status)
      .headers(guarded(shown.policy ?? {}))
      .type(html)
      .send(shown.html);
  };
}

const html = 'text/html; charset=utf-8';

/** Nobody keeps a page or shows it inside another, none runs a script, and what it leads to does not learn where somebody came from. */
const guarded = ({ pictures = [], forms = [] }: Policy) => ({
  'Cache-Control': 'no-store',
  'Content-Security-Policy': [
    "default-src 'none'; base-uri 'none'; frame-ancestors 'none'; style-src 'self'",
    ["img-src 'self'", ...pictures].join(' '),
    ["form-action 'self'", ...forms].join(' '),
  ].join('; '),
  'Cross-Origin-Resource-Policy': 'same-origin',
  // Not `no-referrer`: with it browsers do not say either where a form of ours comes from.
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'X-Robots-Tag': 'noindex',
});

// ---- What is refused ----

/**
 * Whether a page of another site sent this form. The browser says it, in the one or in the other header; who sends neither is no browser
 * of today, and has the form's token to bring in any case.
 */
function comesFromElsewhere({ method, headers }: FastifyRequest, { ownUrl }: PagesOptions): boolean {
  if (method === 'GET' || method === 'HEAD' || method === 'OPTIONS') return false;
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') return true;
  const { origin } = headers;
  if (origin === undefined || origin === new URL(ownUrl).origin) return false;
  // Somebody may have come by another name of this server; the name is not for another site to choose.
  return URL.parse(origin)?.host !== headers.host;
}

/** What is no refusal and no fault of whoever asked is one of ours, and logged. */
function statusOf({ service }: PagesOptions, request: FastifyRequest, error: unknown): number {
  const { statusCode } = error as { statusCode?: number };
  if (error instanceof Refusal) return error.status;
  return statusCode !== undefined && statusCode < 500 ? statusCode : faultAsRefusal(service.log, request, error).status;
}

const tell = ({ trouble }: PagesOptions, request: FastifyRequest, reply: FastifyReply, status: number) =>
  reply.code(status).type(html).send(trouble(status, request.id));

/** What answers GET answers HEAD, too. */
function methodsByPath(pages: readonly Page[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { path, method } of pages) found.set(path, [...(found.get(path) ?? []), ...(method === 'GET' ? ['GET', 'HEAD'] : [method])]);
  return found;
}

function note({ log }: Service, request: FastifyRequest, reply: FastifyReply): void {
  const page = request.routeOptions.config.page ?? 'none';
  observeRequest(page, reply.statusCode, reply.elapsedTime / 1000);
  log.info(
    {
      request_id: request.id,
      method: request.method,
      path: request.url.split('?')[0],
      page,
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 10) / 10,
    },
    'request',
  );
}
