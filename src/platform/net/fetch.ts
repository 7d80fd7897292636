import { once } from 'node:events';
import type { Socket } from 'node:net';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { CallFault } from './fault.ts';
import { isSame, type Vetting, vettedAddress } from './public-address.ts';

/** A request to an address that somebody gave us. */
export interface Outgoing {
  readonly url: string;
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** Bounds everything: names, connecting, answer and body. */
  readonly timeoutMs: number;
  /** How much of the body is read. */
  readonly mostBytes: number;
}

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  /** Why the body is not all there; null when it is. */
  readonly cut: 'size' | 'timeout' | 'connection' | null;
}

/** Calls servers of others. Its connections are its own: one client for what belongs together, and no answer reaches another's request. */
export interface OutsideClient {
  /** Rejects with a `CallFault` when no answer came. Redirects are answers, and are not followed. */
  send(request: Outgoing): Promise<Reply>;
  close(): Promise<void>;
}

/** A client that connects to vetted addresses alone, each found fit at the moment of connecting and held to it. */
export function outsideClient(vetting: Vetting, options: { connections?: number } = {}): OutsideClient {
  // Requests share connections, so none is waited for longer than the most patient request waits for its answer.
  let deadline = 0;
  const agent = new Agent({
    connect: connectorTo(vetting, () => Math.max(1, Math.ceil(deadline - performance.now()))),
    connections: options.connections ?? 4,
    pipelining: 1,
    allowH2: false,
    maxHeaderSize: 16_384,
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 15_000,
    maxRequestsPerClient: 100,
  });
  return {
    send(request) {
      deadline = Math.max(deadline, performance.now() + request.timeoutMs);
      return send(agent, request);
    },
    close: () => agent.destroy(),
  };
}

/** No `Accept-Encoding` is sent, so that nothing small unpacks into something large. */
async function send(agent: Agent, { url, method = 'GET', headers, body, timeoutMs, mostBytes }: Outgoing): Promise<Reply> {
  const { origin, pathname, search } = new URL(url);
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const path = pathname + search;
    const answer = await within(signal, agent.request({ origin, path, method, headers: headers ?? {}, body: body ?? null, signal }));
    return { status: answer.statusCode, headers: answer.headers, ...(await read(answer.body, mostBytes, signal)) };
  } catch (error) {
    throw asFault(error, signal);
  }
}

/** A request that waits for its connection hears of no signal: whoever asked is told all the same. */
export async function within<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const over = new AbortController();
  const timeout = once(signal, 'abort', { signal: over.signal }).then(() => {
    throw new CallFault('timeout');
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    over.abort();
  }
}

async function read(body: Dispatcher.ResponseData['body'], most: number, signal: AbortSignal): Promise<Pick<Reply, 'body' | 'cut'>> {
  const chunks: Buffer[] = [];
  let left = most;
  const so = (cut: Reply['cut']) => ({ body: Buffer.concat(chunks), cut });
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk.subarray(0, left));
      left -= chunk.length;
      if (left < 0) return so('size'); // Leaving the loop ends the connection.
    }
    return so(null);
  } catch {
    return so(signal.aborted ? 'timeout' : 'connection');
  }
}

const longestDialMs = 10_000;

/** The name is looked up, judged and pinned here: a later look-up could say something else. The certificate is still that of the name. */
function connectorTo(vetting: Vetting, leftMs: () => number): buildConnector.connector {
  return (options, callback) => {
    const secure = options.protocol === 'https:';
    within(AbortSignal.timeout(leftMs()), vettedAddress(options.hostname, secure, vetting)).then(
      (address) => {
        const dial = buildConnector({ allowH2: false, maxCachedSessions: 0, timeout: Math.min(longestDialMs, leftMs()) });
        dial({ ...options, hostname: address }, (error, socket) => {
          if (error) return callback(error, null);
          if (isSame(socket.remoteAddress ?? '', address)) return callback(null, socket);
          (socket as Socket).destroy();
          return callback(new CallFault('blocked_address'), null);
        });
      },
      (error: Error) => callback(error, null),
    );
  };
}

function asFault(error: unknown, signal: AbortSignal): CallFault {
  if (error instanceof CallFault) return error;
  const { code = '' } = error as { code?: string };
  if (signal.aborted || /TIMEOUT|ETIMEDOUT/.test(code)) return new CallFault('timeout', { cause: error });
  return new CallFault(/^ERR_TLS|^ERR_SSL|CERT|SIGNATURE|EPROTO/.test(code) ? 'tls' : 'connect', { cause: error });
}
