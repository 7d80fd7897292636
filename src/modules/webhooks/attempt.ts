import type { DeliveryError, Outcome } from '#modules/deliveries/index.ts';
import type { FaultCode } from '#platform/net/fault.ts';
import { CallFault } from '#platform/net/fault.ts';
import type { OutsideClient, Reply } from '#platform/net/fetch.ts';
import type { Service } from '#platform/service.ts';
import { withClient } from './clients.ts';
import type { Letter } from './signature.ts';
import { headersOf } from './signature.ts';

export type { Outcome } from '#modules/deliveries/index.ts';
export type { Letter } from './signature.ts';

/** For everything, from the look-up of the name to the last byte that is read. */
const timeoutMs = 10_000;
/** What is read of an answer, so that its connection can be used again, and what is kept of it. */
const mostBytes = 64 * 1024;
const keptBytes = 10 * 1024;

/** Signs and sends once, and says what came of it. What the receiver does is an outcome and never thrown. */
export async function sendAttempt(service: Service, letter: Letter): Promise<Outcome> {
  const requestHeaders = headersOf(letter);
  const begun = performance.now();
  const { url, body } = letter;
  const result = await withClient(service, letter, (client) =>
    answerOf(client, { url, method: 'POST', headers: requestHeaders, body, timeoutMs, mostBytes }),
  );
  return { ...result, requestHeaders, durationMs: Math.round(performance.now() - begun) };
}

type Result = Omit<Outcome, 'requestHeaders' | 'durationMs'>;

/** The status line decides: what is wrong with the rest of an answer does not undo a success. */
async function answerOf(client: OutsideClient, request: Parameters<OutsideClient['send']>[0]): Promise<Result> {
  try {
    const { status, body } = await client.send(request);
    const error = errorOf(status);
    return { success: error === null, responseStatus: status, responseBody: textOf(body), error };
  } catch (fault) {
    if (!(fault instanceof CallFault)) throw fault;
    return { success: false, responseStatus: null, responseBody: null, error: faults[fault.code] };
  }
}

const errorOf = (status: number): DeliveryError | null => {
  if (status >= 200 && status < 300) return null;
  return status >= 300 && status < 400 ? 'redirect' : 'status';
};

/** Whatever the bytes are, a text that can be stored: PostgreSQL takes no U+0000. */
const textOf = (body: Reply['body']): string | null => utf8.decode(body.subarray(0, keptBytes)).replaceAll('\u0000', '\ufffd') || null;

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

const faults: Record<FaultCode, DeliveryError> = {
  dns: 'dns',
  connect: 'connect',
  tls: 'tls',
  timeout: 'timeout',
  blocked_address: 'blocked_address',
  // Only what the operator allows may be called without TLS.
  plain_http: 'blocked_address',
};
