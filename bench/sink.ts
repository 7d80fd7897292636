import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { createServer } from 'node:tls';

/** What a sink saw since it was last asked to begin. Times are milliseconds of this machine's clock. */
export interface Seen {
  /** When a tenth, two tenths … of what was awaited had come in. */
  readonly tenths: readonly number[];
  /** Of each event at each path, when it came in. */
  readonly times: readonly (readonly [path: string, eventId: string, at: number])[];
}

// Receivers as light as they can be, so that what is measured is who sends: no HTTP server, hardly any parsing. `/ok…` answers and keeps the
// connection, `/close…` ends it, `/hang…` says nothing.
const [certificate] = (await once(process, 'message')) as [{ key: string; cert: string }];
const keeps = Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
const closes = Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');

let awaited = 0;
let count = 0;
let seen: { tenths: number[]; times: [string, string, number][]; detailed: boolean };

process.on('message', (asked: { await: number; detailed: boolean } | 'tell') => {
  if (asked === 'tell') return void process.send?.({ seen });
  awaited = asked.await;
  seen = { tenths: [], times: [], detailed: asked.detailed };
  count = 0;
  process.send?.({ begun: true });
});
process.once('SIGTERM', () => process.exit());

const now = () => performance.timeOrigin + performance.now();

const server = createServer(certificate, (socket) => {
  let left: Buffer = Buffer.alloc(0);
  socket
    .on('error', () => undefined)
    .on('data', (chunk) => {
      left = left.length === 0 ? chunk : Buffer.concat([left, chunk]);
      for (let size = sizeOf(left); size <= left.length; size = sizeOf(left)) {
        take(socket, left);
        left = left.subarray(size);
      }
    });
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
process.send?.({ url: `https://127.0.0.1:${(server.address() as AddressInfo).port}` });

/** How long the request is that these bytes begin with. */
function sizeOf(bytes: Buffer): number {
  const head = bytes.indexOf('\r\n\r\n');
  if (head < 0) return Number.POSITIVE_INFINITY;
  const [, length = '0'] = /content-length: (\d+)/i.exec(bytes.toString('latin1', 0, head)) ?? [];
  return head + 4 + Number(length);
}

function take(socket: TLSSocket, request: Buffer): void {
  const path = request.toString('latin1', 6, request.indexOf(' ', 6));
  if (path.startsWith('hang')) return;
  count++;
  if (count % (awaited / 10) === 0) {
    seen.tenths.push(now());
    if (count === awaited / 5 || count === (awaited * 9) / 10 || count === awaited) process.send?.({ reached: count / awaited });
  }
  if (seen.detailed) {
    const [, eventId = ''] = /service-event-id: (\S+)/i.exec(request.toString('latin1', 0, 1_000)) ?? [];
    seen.times.push([path, eventId, now()]);
  }
  if (path.startsWith('close')) socket.end(closes);
  else socket.write(keeps);
}
