import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { isDeepStrictEqual } from 'node:util';
import type { LookupSettings } from '#platform/lookup/lookup.ts';

/** What a provider answers about one registration. `body` is sent as JSON, a text as it is. */
export interface Reply {
  readonly status?: number;
  readonly body?: unknown;
  /** Sends this header beside. */
  readonly location?: string;
  /** Never ends its answer: `headers` sends not even those. */
  readonly hangs?: 'headers' | 'body';
}

/** A server that speaks the interface of a provider. A registration it was told nothing about is not found. */
export interface Provider {
  readonly replies: Map<string, Reply>;
  /** The registrations asked for, in their order. */
  readonly asked: string[];
  /** The most requests that were under way at once. */
  busiest: number;
  /** Every answer waits for this. */
  gate: Promise<void>;
}

export interface Providers {
  readonly settings: LookupSettings & { dvla: NonNullable<LookupSettings['dvla']>; dvsa: NonNullable<LookupSettings['dvsa']> };
  readonly dvla: Provider;
  readonly dvsa: Provider & { accepted: string; tokens: number; tokenReply: Reply };
  close(): Promise<void>;
}

const [dvlaKey, dvsaKey, clientId, clientSecret] = ['dvla-key', 'dvsa-key', 'client', 'secret'];

/** A path that answers anybody, for redirects to lead to. */
export const elsewhere = '/elsewhere';

/** Starts a Vehicle Enquiry Service and an MOT history with its token endpoint. */
export async function lookupProviders(): Promise<Providers> {
  const fresh = (): Provider => ({ replies: new Map(), asked: [], busiest: 0, gate: Promise.resolve() });
  const dvla = fresh();
  const dvsa = { ...fresh(), accepted: 'token 0', tokens: 0, tokenReply: {} };
  const enquiry = await serve(async (request, response) => {
    if (request.url === elsewhere) return send(response, { body: fiesta });
    const body = await text(request);
    const wrong = request.method !== 'POST' || request.url !== '/vehicle-enquiry/v1/vehicles';
    if (wrong || request.headers['content-type'] !== 'application/json') return send(response, { status: 415 });
    if (request.headers['x-api-key'] !== dvlaKey) return send(response, { status: 403, body: { message: 'Forbidden' } });
    return reply(dvla, JSON.parse(body).registrationNumber, response);
  });
  const history = await serve(async (request, response) => {
    if (request.url === elsewhere) return send(response, { body: fiestaHistory });
    if (request.method === 'POST' && request.url === '/token') return grant(dvsa, await text(request), response);
    const [, registration] = /^\/v1\/trade\/vehicles\/registration\/([A-Z0-9]+)$/.exec(request.url ?? '') ?? [];
    if (request.method !== 'GET' || !registration) return send(response, { status: 405 });
    if (request.headers['x-api-key'] !== dvsaKey) return send(response, { status: 403 });
    if (request.headers.authorization !== `Bearer ${dvsa.accepted}`) return send(response, { status: 401 });
    return reply(dvsa, registration, response);
  });
  return {
    settings: {
      dvla: { apiUrl: enquiry.url, apiKey: dvlaKey },
      dvsa: { apiUrl: history.url, apiKey: dvsaKey, tokenUrl: `${history.url}/token`, clientId, clientSecret },
    },
    dvla,
    dvsa,
    close: async () => void (await Promise.all([enquiry.close(), history.close()])),
  };
}

const notFound: Reply = { status: 404, body: { errors: [{ status: '404', code: '404', title: 'Vehicle Not Found' }] } };

const underWay = new WeakMap<Provider, number>();

async function reply(provider: Provider, registration: string, response: ServerResponse): Promise<void> {
  const now = (underWay.get(provider) ?? 0) + 1;
  underWay.set(provider, now);
  provider.asked.push(registration);
  provider.busiest = Math.max(provider.busiest, now);
  await provider.gate;
  underWay.set(provider, underWay.get(provider)! - 1);
  send(response, provider.replies.get(registration) ?? notFound);
}

function grant(dvsa: Providers['dvsa'], body: string, response: ServerResponse): void {
  const { scope, ...form } = Object.fromEntries(new URLSearchParams(body));
  const asPublished =
    scope === 'https://tapi.dvsa.gov.uk/.default' &&
    isDeepStrictEqual(form, { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret });
  dvsa.tokens += 1;
  dvsa.accepted = `token-${dvsa.tokens}`;
  const granted = { body: { token_type: 'Bearer', expires_in: 3599, access_token: dvsa.accepted }, ...dvsa.tokenReply };
  send(response, asPublished ? granted : { status: 400 });
}

function send(response: ServerResponse, { status = 200, body = {}, location, hangs }: Reply): void {
  if (hangs === 'headers') return;
  response.writeHead(status, { 'content-type': 'application/json', ...(location && { location }) });
  const sent = typeof body === 'string' ? body : JSON.stringify(body);
  if (hangs === 'body') response.write(sent.slice(0, sent.length / 2));
  else response.end(sent);
}

async function serve(handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>) {
  const server = createServer((request, response) => void handle(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A Vehicle Enquiry, as published. */
export const fiesta = {
  registrationNumber: 'WR18XYZ',
  taxStatus: 'Untaxed',
  taxDueDate: '2026-02-01',
  motStatus: 'Valid',
  motExpiryDate: '2026-11-30',
  make: 'FORD',
  yearOfManufacture: 2018,
  engineCapacity: 998,
  co2Emissions: 97,
  fuelType: 'PETROL',
  markedForExport: false,
  colour: 'BLUE',
  typeApproval: 'M1',
  dateOfLastV5CIssued: '2024-04-02',
  wheelplan: '2 AXLE RIGID BODY',
  monthOfFirstRegistration: '2018-03',
  euroStatus: 'EURO 6',
};

/** The MOT history of the same car, as published. */
export const fiestaHistory = {
  registration: 'WR18XYZ',
  make: 'FORD',
  model: 'FIESTA',
  firstUsedDate: '2018-03-01',
  fuelType: 'Petrol',
  primaryColour: 'Blue',
  registrationDate: '2018-03-01',
  manufactureDate: '2018-03-01',
  engineSize: '998',
  hasOutstandingRecall: 'No',
  motTests: [{ completedDate: '2025-11-30T10:12:00.000Z', testResult: 'PASSED', expiryDate: '2026-11-30', odometerValue: '40112' }],
};
