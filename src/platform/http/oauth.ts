import type { IncomingMessage } from 'node:http';
import { METHODS } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { plainAddress, visitorOf } from '../addresses.ts';
import { OAuthRefusal, Refusal } from '../errors.ts';
import type { Service } from '../service.ts';
import type { Counter } from './allowance.ts';
import { counter } from './allowance.ts';
import { checkNotEncoded, discardRest, receiveBytes } from './body.ts';
import { bodyFor, refusalAnswer } from './failures.ts';
import type { Sent } from './parameters.ts';
import { parametersOf, parametersOfJson } from './parameters.ts';
import { checkMessage, faultAsRefusal } from './serve.ts';

// The endpoints of OAuth: without a key, with forms or JSON for bodies and the errors of RFC 6749, counted together per client address.

/** An endpoint: what it is called, which parameters it knows, what it answers. */
export interface Endpoint<N extends string = string> {
  readonly id: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly parameters: readonly N[];
  readonly answer: (service: Service, call: Call<N>) => Promise<Answer>;
}

export interface Call<N extends string = string> extends Sent<N> {
  /** The Authorization header; empty when there are several, null when there is none. */
  readonly authorization: string | null;
  readonly requestId: string;
}

/** An object, somewhere else to go to, or a page for whoever sits before the browser. */
export type Answer = { readonly json: object } | { readonly leadsTo: string } | { readonly status: number; readonly page: string };

export interface OAuthOptions {
  readonly service: Service;
  readonly endpoints: readonly Endpoint[];
  readonly callsPerMinute: number;
  /** Where the codes of refusals are explained. */
  readonly docsUrl: string;
  readonly bodyTimeoutMs: number | undefined;
}

/** Says which function answers an endpoint. */
export const endpoint = <N extends string>(declared: Endpoint<N>): Endpoint => declared as unknown as Endpoint;

/** Serves them beside the operations. */
export function serveOAuth(app: FastifyInstance, options: OAuthOptions): void {
  const count = counter(options.service, options.callsPerMinute);
  for (const endpoint of options.endpoints) {
    const { path: url, method } = endpoint;
    // What is opened in a browser answers HEAD, too.
    const methods = method === 'GET' ? ['GET', 'HEAD'] : [method];
    const allow = [...methods, 'OPTIONS'].join(', ');
    const answered = (work: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>) => inItsForm(endpoint, options, work);
    app.route({ method: methods, url, handler: answered((request, reply) => live(endpoint, options, count, request, reply)) });
    // No page of another site has anything to ask here: it would need the client's secret.
    app.options(url, (_request, reply) => reply.code(204).header('Allow', allow).send());
    app.route({
      method: METHODS.filter((method) => !methods.includes(method) && !['OPTIONS', 'CONNECT'].includes(method)),
      url,
      handler: answered(async (request, reply) => {
        await checkAllowance(request, count);
        reply.header('Allow', allow);
        throw new OAuthRefusal('invalid_request', `This endpoint takes ${method} alone.`, 405);
      }),
    });
  }
}

/** The life of a call. */
async function live(
  { method, parameters, answer }: Endpoint,
  options: OAuthOptions,
  count: Counter,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  await checkAllowance(request, count);
  checkMessage(request.raw);
  const sent = method === 'GET' ? parametersOf(queryOf(request.url), parameters) : await receive(request.raw, parameters, options);
  return send(reply, await answer(options.service, { ...sent, authorization: authorizationOf(request.raw), requestId: request.id }));
}

async function checkAllowance({ ip }: FastifyRequest, count: Counter): Promise<void> {
  const { exceeded, resetSeconds } = await count(`oauth:${visitorOf(plainAddress(ip))}`);
  if (exceeded) throw new Refusal('rate_limited', undefined, { retryAfterSeconds: resetSeconds });
}

function send(reply: FastifyReply, answer: Answer) {
  if ('leadsTo' in answer) return reply.code(302).header('Location', answer.leadsTo).send();
  if ('page' in answer)
    return reply.code(answer.status).type('text/html; charset=utf-8').header('Content-Security-Policy', pagePolicy).send(answer.page);
  return reply.type(json).send(JSON.stringify(answer.json));
}

const json = 'application/json; charset=utf-8';
const pagePolicy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

// ---- What was sent ----

/** Codes, secrets and tokens: no honest body is longer. */
const mostBytes = 64 * 1024;

async function receive<N extends string>(request: IncomingMessage, names: readonly N[], { bodyTimeoutMs }: OAuthOptions): Promise<Sent<N>> {
  const bytes = await receiveBytes(request, mostBytes, bodyTimeoutMs);
  if (bytes.length === 0) return parametersOf('', names);
  checkNotEncoded(request);
  const [type = '', ...settings] = (request.headers['content-type'] ?? '').split(';').map((part) => part.trim().toLowerCase());
  const read = { 'application/x-www-form-urlencoded': parametersOf, 'application/json': parametersOfJson }[type];
  if (!read) throw new OAuthRefusal('invalid_request', 'Send the body as application/x-www-form-urlencoded or application/json.');
  if (settings.some((setting) => /^charset=(?!"?utf-8"?$)/.test(setting))) throw notUtf8();
  return read(utf8(bytes), names);
}

function utf8(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw notUtf8();
  }
}

const notUtf8 = () => new OAuthRefusal('invalid_request', 'The body is not UTF-8.');

const queryOf = (url: string) => (url.includes('?') ? url.slice(url.indexOf('?') + 1) : '');

const hasBody = ({ headers }: IncomingMessage) => headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;

function authorizationOf({ rawHeaders, headers }: IncomingMessage): string | null {
  const sent = rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === 'authorization').length;
  return sent > 1 ? '' : (headers.authorization ?? null);
}

// ---- What is refused ----

/** Nothing that is answered here is kept by anybody on the way, and whatever goes wrong is told in the form of these endpoints. */
function inItsForm(
  { id }: Endpoint,
  { service, docsUrl, bodyTimeoutMs }: OAuthOptions,
  work: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>,
) {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    request.visit.operationId = id;
    reply.headers({ 'Cache-Control': 'no-store', Pragma: 'no-cache', 'Referrer-Policy': 'no-referrer' });
    try {
      return await work(request, reply);
    } catch (error) {
      const refusal = error instanceof OAuthRefusal || error instanceof Refusal ? error : faultAsRefusal(service.log, request, error);
      if (refusal instanceof Refusal && refusal.code === 'bad_request') reply.header('Connection', 'close');
      else if (!request.raw.complete && hasBody(request.raw)) discardRest(request.raw, bodyTimeoutMs);
      if (refusal.status === 401) reply.header('WWW-Authenticate', 'Basic realm="Forecourt", charset="UTF-8"');
      if (refusal instanceof Refusal && refusal.retryAfterSeconds !== undefined) reply.header('Retry-After', refusal.retryAfterSeconds);
      const { status, body } = refusal instanceof OAuthRefusal ? plainly(refusal) : inBothForms(refusal, docsUrl, request.id);
      return reply.code(status).type(json).send(body);
    }
  };
}

const plainly = ({ error, message, status }: OAuthRefusal) => ({
  status,
  body: JSON.stringify({ error, error_description: message }),
});

/** What the API answers everywhere else is answered in both forms: a client of either finds what it looks for. */
function inBothForms(refusal: Refusal, docsUrl: string, requestId: string) {
  const answer = refusalAnswer(refusal, docsUrl);
  const [error, description, status] = inOAuth(refusal);
  if (error === 'invalid_request') return plainly(new OAuthRefusal(error, description, status));
  const standard = JSON.parse(bodyFor(answer, requestId));
  return { status, body: JSON.stringify({ error, error_description: description, ...standard }) };
}

function inOAuth({ code, status }: Refusal): readonly ['invalid_request' | 'temporarily_unavailable' | 'server_error', string, number] {
  if (code === 'body_too_large') return ['invalid_request', 'The body is too large.', status];
  if (code === 'rate_limited') return ['temporarily_unavailable', 'Too many calls. Wait as long as Retry-After says.', status];
  if (code === 'service_unavailable') return ['temporarily_unavailable', 'The service is busy. Retry shortly.', status];
  if (status >= 500) return ['server_error', 'Something went wrong on our side.', status];
  if (code === 'bad_request') return ['invalid_request', 'The message is not valid HTTP.', status];
  return ['invalid_request', 'The body did not arrive whole, or is packed.', 400];
}
