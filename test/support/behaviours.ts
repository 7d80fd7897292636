import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Receipt } from './receivers.ts';

/** What a receiver does when a delivery has come in. */
export type Behaviour = (response: ServerResponse, receipt: Receipt, connection: Ends) => unknown;

/** The ways in which a receiver may leave. */
export interface Ends {
  /** As a process that crashed, or a firewall, ends it. */
  reset(): void;
  /** Writes what is no part of an answer as HTTP servers write it. */
  write(bytes: string): boolean;
  end(bytes: string): void;
  readonly open: boolean;
}

/** As receivers should. */
export const takes: Behaviour = (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"received":true}');

export const answers =
  (status: number, headers: Record<string, string> = {}): Behaviour =>
  (response) =>
    response.writeHead(status, headers).end();

export const redirectsTo = (location: string): Behaviour => answers(302, { location });

/** Takes it after so long. */
export const takesAfter =
  (ms: number): Behaviour =>
  async (response, receipt, connection) => {
    await delay(ms);
    takes(response, receipt, connection);
  };

/** Fails the first attempts at an event, then takes it. Events that first come when it is mended are taken at once. */
export const failsFirst = (times: number, isMended: () => boolean = () => false): Behaviour => {
  const attempts = new Map<string, number>();
  return (response, receipt, connection) => {
    const before = attempts.get(receipt.eventId) ?? (isMended() ? times : 0);
    attempts.set(receipt.eventId, before + 1);
    return (before < times ? answers(500) : takes)(response, receipt, connection);
  };
};

/** Never says a word. */
export const hangs: Behaviour = () => undefined;

/** Its status line takes longer than anyone waits. */
export const dripsItsHead: Behaviour = (_response, _receipt, connection) =>
  drip(connection, 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');

/** Its status comes at once, its body never ends. */
export const dripsItsBody: Behaviour = (_response, _receipt, connection) => {
  connection.write('HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n');
  return drip(connection, '.'.repeat(3_600));
};

async function drip(connection: Ends, text: string): Promise<void> {
  for (const letter of text) {
    if (!connection.open) return;
    connection.write(letter);
    await delay(1_000);
  }
}

export const resets: Behaviour = (_response, _receipt, connection) => connection.reset();

/** Says that it took it, and goes on for a gigabyte. */
export const floods: Behaviour = async (response) => {
  const chunk = Buffer.alloc(65_536, '.');
  const left = once(
    response.on('error', () => undefined),
    'close',
  );
  response.writeHead(200, { 'content-length': gigabyte });
  for (let sent = 0; sent < gigabyte && !response.destroyed; sent += chunk.length)
    if (!response.write(chunk)) await Promise.race([once(response, 'drain'), left]);
  response.end();
};

const gigabyte = 1_073_741_824;

/** Takes it and says that the connection ends with the answer. */
export const takesAndCloses: Behaviour = (response) => response.writeHead(200, { connection: 'close' }).end();

/** Takes it, lets the connection look as if it stayed, and ends it: whoever uses it next meets nobody. */
export const takesAndLeaves: Behaviour = (_response, _receipt, connection) =>
  connection.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: keep-alive\r\nkeep-alive: timeout=60\r\n\r\n');

/** Takes it after an answer that is none yet: `102`, `103`, or a `100` nobody asked for. */
export const takesAfterInforming =
  (status: 100 | 102 | 103): Behaviour =>
  (_response, _receipt, connection) =>
    connection.write(
      `HTTP/1.1 ${status} ${informing[status]}\r\n${status === 103 ? 'link: </style.css>; rel=preload\r\n' : ''}\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n`,
    );

const informing = { 100: 'Continue', 102: 'Processing', 103: 'Early Hints' };

/** Would rather speak another protocol. */
export const switches: Behaviour = (_response, _receipt, connection) =>
  connection.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: other\r\n\r\n');

/** Speaks something else than HTTP. */
export const babbles: Behaviour = (_response, _receipt, connection) => connection.end('220 mail.example ready\r\n');

/** Answers twice: the second answer lies in wait for the next request of the connection. */
export const answersTwice: Behaviour = (_response, _receipt, connection) =>
  connection.write('HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
