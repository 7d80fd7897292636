import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { Instant } from '#platform/dates.ts';
import { uuidv7 } from '#platform/secrets.ts';
import type { Api } from './api.ts';
import type { Authority } from './certificates.ts';
import { authority } from './certificates.ts';
import type { Dealership } from './dealership.ts';

/** A request as it arrived at a receiver. */
export interface Arrival {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Receiver {
  readonly url: string;
  readonly arrivals: readonly Arrival[];
}

/** Answers a delivery. */
type Answering = () => { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string };

/** A receiver of webhooks on this machine, by https with a certificate that this process trusts. */
export async function receiver(t: { after(undo: () => void): void }, answering: Answering = () => ({ status: 204 })): Promise<Receiver> {
  const arrivals: Arrival[] = [];
  const server = createServer(certificateFor('hooks.example'), (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      arrivals.push({ headers: request.headers as Record<string, string>, body: Buffer.concat(chunks).toString() });
      const { status, headers = {}, body = '' } = answering();
      response.writeHead(status, headers).end(body);
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `https://hooks.example:${(server.address() as AddressInfo).port}/in`, arrivals };
}

/** A certificate of a server of this name that this process trusts. */
export function certificateFor(name: string, options?: { expired: boolean }): { key: string; cert: string } {
  if (!trusted) {
    trusted = authority();
    setDefaultCACertificates([...getCACertificates('default'), trusted.certificate]);
  }
  return trusted.vouchFor(name, options);
}

/** One for the whole process: two authorities of one name would be taken for each other. */
let trusted: Authority | undefined;

/** Where nobody listens. */
export const deadUrl = 'https://hooks.example:1/in';

/** A new endpoint of whoever speaks through the API. */
export const endpointBy = (api: Api, fields: object = {}) =>
  api.post('/v1/webhook-endpoints', { url: deadUrl, events: ['*'], ...fields }).succeeds(201);

interface Logged {
  readonly eventId: string;
  readonly endpointId: string;
  readonly success?: boolean;
  readonly attempt?: number;
  /** Counted back from now. */
  readonly daysAgo?: number;
}

/** An attempt in the log, as the worker would have written it. Returns its id. */
export async function logAttempt(
  { service, id }: Pick<Dealership, 'service' | 'id'>,
  { eventId, endpointId, success = false, attempt = 1, daysAgo = 0 }: Logged,
): Promise<string> {
  const { doors } = service.pools;
  const now = service.clock();
  const at = "coalesce($1::timestamptz, clock_timestamp()) - $2::float8 * interval '1 day'";
  const { rows: times } = await doors.query(`select ${at} as at`, [now, daysAgo]);
  const attemptedAt: Instant = times[0].at;
  await doors.query("select partition_day('delivery_attempt', $1::date)", [attemptedAt.slice(0, 10)]);
  const attemptId = uuidv7(attemptedAt);
  await doors.query(
    `insert into delivery_attempt (dealer_id, attempted_at, id, endpoint_id, delivery_id, event_id, event_at, event_type, attempt, manual,
       success, response_status, request_headers, request_body, response_body, error, duration_ms, updated_at)
     select e.dealer_id, $1, $2, $5, delivery_id(e.id, $5), e.id, e.created_at, e.type, $6, false,
       $7, case when $7 then 204 else 500 end, '{"Service-Event-Type": "x"}', '{}', null,
       case when $7 then null else 'status'::delivery_error end, 7, $1
     from event e where e.dealer_id = $3 and e.id = $4`,
    [attemptedAt, attemptId, id, eventId.replace('evt_', ''), endpointId, attempt, success],
  );
  return attemptId;
}

/** What happened to a record, in the order in which it did. */
export async function eventsAbout({ service, id }: Pick<Dealership, 'service' | 'id'>, resourceId: string) {
  const { rows } = await service.pools.doors.query(
    'select id, type, created_at from event where dealer_id = $1 and resource_id = $2 order by sequence',
    [id, resourceId],
  );
  return rows as { id: string; type: string; created_at: string }[];
}

/** What is still to be delivered to an endpoint. */
export async function pendingAt({ service }: Pick<Dealership, 'service'>, endpointId: string) {
  const { rows } = await service.pools.doors.query(
    'select event_id, manual from delivery where endpoint_id = $1 order by event_at, manual',
    [endpointId],
  );
  return rows as { event_id: string; manual: boolean }[];
}
