import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { Behaviour, Ends } from './behaviours.ts';
import { until } from './until.ts';

type Undo = { after(undo: () => unknown): void };

/** A delivery as it came in. */
export interface Receipt {
  readonly path: string;
  readonly eventId: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** The hash of the body's bytes. */
  readonly hash: string;
  /** When all of it was here, in milliseconds by this machine's clock. */
  readonly at: number;
  /** The port it came from; what came over one connection has the same. */
  readonly port: number;
}

export interface Receiver {
  /** An address of it. */
  at(path?: string): string;
  /** What came in so far, all of it or what came for a path. */
  receipts(path?: string): readonly Receipt[];
  /** Waits until so much has come in for a path. */
  received(count: number, path?: string): Promise<readonly Receipt[]>;
  /** How many connections it was asked for. */
  connections(): number;
}

/**
 * A receiver of deliveries by HTTPS on loopback. Whoever calls it must trust who vouched for its certificate: `setDefaultCACertificates` in
 * the test's own process, `NODE_EXTRA_CA_CERTS` in others. Receipts are kept, or told to whoever wants to hear of them instead.
 */
export async function receiver(
  t: Undo,
  certificate: { key: string; cert: string },
  behaves: (path: string) => Behaviour,
  heard?: (receipt: Receipt) => void,
): Promise<Receiver> {
  const receipts: Receipt[] = [];
  const raw = new Map<number, Socket>();
  let connections = 0;

  const server = createServer(certificate, async (request, response) => {
    const receipt = await receiptOf(request).catch(() => null);
    if (receipt === null) return; // It left before it had said everything.
    if (heard) heard(receipt);
    else receipts.push(receipt);
    await behaves(receipt.path)(response, receipt, endsOf(request, raw.get(receipt.port)));
  });
  server.on('connection', (socket: Socket) => {
    const { remotePort = 0 } = socket;
    connections++;
    raw.set(
      remotePort,
      socket.on('error', () => undefined).on('close', () => raw.delete(remotePort)),
    );
  });
  server.on('tlsClientError', () => undefined).on('clientError', (_error, socket) => socket.destroy());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });

  const { port } = server.address() as AddressInfo;
  const of = (path?: string) => (path === undefined ? receipts : receipts.filter((receipt) => receipt.path === path));
  return {
    at: (path = '/') => `https://127.0.0.1:${port}${path}`,
    receipts: of,
    async received(count, path) {
      await until(async () => of(path).length >= count);
      return of(path);
    },
    connections: () => connections,
  };
}

async function receiptOf(request: IncomingMessage): Promise<Receipt> {
  const body = await buffer(request);
  return {
    path: request.url ?? '',
    eventId: String(request.headers['service-event-id'] ?? ''),
    headers: request.headers,
    body,
    hash: createHash('sha256').update(body).digest('hex'),
    at: Date.now(),
    port: request.socket.remotePort ?? 0,
  };
}

/** By the socket of the request: a response has none while one before it is not ended, as one that was written past it never is. */
const endsOf = ({ socket }: IncomingMessage, raw: Socket | undefined): Ends => ({
  reset: () => raw?.resetAndDestroy(),
  write: (bytes) => socket.write(bytes),
  end: (bytes) => void socket.end(bytes),
  get open() {
    return socket.writable;
  },
});
