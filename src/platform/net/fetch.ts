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
    // Each request bounds itself as a whole.
    headersTimeout: 0,
    bodyTimeout: 0,
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
function send(agent: Agent, { url, method = 'GET', headers, body, timeoutMs, mostBytes }: Outgoing): Promise<Reply> {
  const { origin, pathname, search } = new URL(url);
  return new Promise((resolve, reject) => {
    let request: Dispatcher.DispatchController | undefined;
    let answer: Pick<Reply, 'status' | 'headers'> | undefined;
    let ended = false;
    const chunks: Buffer[] = [];
    let left = mostBytes;

    /** What was read until now is the answer, once there is one. The rest of it ends with its connection. */
    const end = (cut: Reply['cut'], fault: () => CallFault) => {
      if (ended) return;
      ended = true;
      clearTimeout(patience);
      if (answer) resolve({ ...answer, body: Buffer.concat(chunks), cut });
      else reject(fault());
      if (cut === 'size' || cut === 'timeout') request?.abort(new CallFault('timeout'));
    };
    const patience = setTimeout(() => end('timeout', () => new CallFault('timeout')), timeoutMs);

    agent.dispatch(
      { origin, path: pathname + search, method, headers: headers ?? {}, body: body ?? null },
      {
        onRequestStart(controller) {
          request = controller;
          // One that waited for its connection hears of its end here.
          if (ended) controller.abort(new CallFault('timeout'));
        },
        onResponseStart(_controller, status, headers) {
          if (status >= 200) answer = { status, headers };
        },
        onResponseData(_controller, chunk) {
          if (ended) return;
          chunks.push(chunk.subarray(0, left));
          left -= chunk.length;
          if (left < 0) end('size', () => new CallFault('connect'));
        },
        onResponseEnd: () => end(null, () => new CallFault('connect')),
        onResponseError: (_controller, error) => end('connection', () => asFault(error)),
      },
    );
  });
}

const longestDialMs = 10_000;

/** Said here, so that nothing in the environment says otherwise. */
const strictTls = { rejectUnauthorized: true, minVersion: 'TLSv1.2' } as const;

/** The name is looked up, judged and pinned here: a later look-up could say something else. The certificate is still that of the name. */
function connectorTo(vetting: Vetting, leftMs: () => number): buildConnector.connector {
  return (options, callback) => {
    const secure = options.protocol === 'https:';
    within(leftMs(), vettedAddress(options.hostname, secure, vetting)).then(
      (address) => {
        const dial = buildConnector({ ...strictTls, allowH2: false, maxCachedSessions: 0, timeout: Math.min(longestDialMs, leftMs()) });
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

/** Waits for the work no longer than this. What takes longer goes on by itself, and is a fault for whoever asked. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new CallFault('timeout')), ms);
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}

function asFault(error: unknown): CallFault {
  if (error instanceof CallFault) return error;
  const { code = '' } = error as { code?: string };
  if (/TIMEOUT|ETIMEDOUT/.test(code)) return new CallFault('timeout', { cause: error });
  return new CallFault(/^ERR_TLS|^ERR_SSL|CERT|SIGNATURE|EPROTO/.test(code) ? 'tls' : 'connect', { cause: error });
}
