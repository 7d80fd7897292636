import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** An answer as it came over the wire. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the answer holds
  readonly body: any;
}

/** Sends bytes over a connection of their own, as no HTTP client would, and reads as many answers as are asked for. */
export const sendRaw = (port: number, bytes: Buffer, count = 1): Promise<RawAnswer[]> =>
  exchange(port, bytes, count, (socket) => socket.write(bytes));

/** The same for one request that comes in pieces, with a pause after each. */
export const sendSlowly = (port: number, pieces: readonly Buffer[], pauseMs: number): Promise<RawAnswer[]> =>
  exchange(port, Buffer.concat(pieces), 1, async (socket) => {
    for (const piece of pieces) {
      socket.write(piece);
      await delay(pauseMs);
    }
  });

function exchange(port: number, bytes: Buffer, count: number, send: (socket: Socket) => unknown): Promise<RawAnswer[]> {
  return new Promise((resolve, reject) => {
    const answers: RawAnswer[] = [];
    let received: Buffer = Buffer.alloc(0);
    const socket = connect(port, '127.0.0.1');
    const settle = (end: () => void) => {
      clearTimeout(timer);
      socket.destroy();
      end();
    };
    const timer = setTimeout(() => settle(() => reject(new Error(`no answer: ${received.toString().slice(0, 500)}`))), 20_000);
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      for (let next = takeAnswer(received, bytes); next; next = takeAnswer(received, bytes)) {
        received = next.rest;
        if (next.answer.status !== 100) answers.push(next.answer);
      }
      if (answers.length >= count) settle(() => resolve(answers));
    });
    socket.on('error', (error) => settle(() => reject(new Error(`${error.message} after ${answers.length} answers`))));
    socket.on('close', () =>
      settle(() => reject(new Error(`closed after ${answers.length} answers: ${received.toString().slice(0, 500)}`))),
    );
    send(socket);
  });
}

/** The first whole answer among what was received, and what follows it. */
function takeAnswer(received: Buffer, request: Buffer): { answer: RawAnswer; rest: Buffer } | null {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const [line = '', ...fields] = received.subarray(0, end).toString('latin1').split('\r\n');
  const headers = Object.fromEntries(
    fields.map((field) => [field.slice(0, field.indexOf(':')).toLowerCase(), field.slice(field.indexOf(':') + 1).trim()]),
  );
  const length = request.toString('latin1', 0, 4) === 'HEAD' ? 0 : Number(headers['content-length'] ?? 0);
  const rest = received.subarray(end + 4);
  if (rest.length < length) return null;
  const text = rest.subarray(0, length).toString();
  return {
    answer: { status: Number(line.split(' ')[1]), headers, body: text === '' ? null : JSON.parse(text) },
    rest: rest.subarray(length),
  };
}
