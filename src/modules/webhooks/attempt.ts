import { createHmac } from 'node:crypto';
import type { Instant } from '#platform/dates.ts';
import { toMillis } from '#platform/dates.ts';
import { CallFault } from '#platform/net/fault.ts';
import { outsideClient } from '#platform/net/fetch.ts';
import type { Service } from '#platform/service.ts';

/** What is delivered, and where. */
export interface Letter {
  readonly dealerId: string;
  readonly endpointId: string;
  readonly url: string;
  /** One or two, the newest first. */
  readonly secrets: readonly string[];
  readonly eventId: string;
  readonly eventType: string;
  readonly sequence: number;
  readonly body: string;
  readonly signedAt: Instant;
}

/** What came of an attempt. */
export interface Outcome {
  readonly success: boolean;
  readonly responseStatus: number | null;
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly responseBody: string | null;
  readonly error: 'dns' | 'connect' | 'tls' | 'timeout' | 'blocked_address' | 'redirect' | 'status' | null;
  readonly durationMs: number;
}

export async function sendAttempt(service: Service, letter: Letter): Promise<Outcome> {
  const { url, secrets, eventId, eventType, sequence, body, signedAt } = letter;
  const t = Math.floor(toMillis(signedAt) / 1000);
  const headers = {
    'Content-Type': 'application/json',
    'Service-Signature': [
      `t=${t}`,
      ...secrets.map((secret) => `v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')}`),
    ].join(),
    'Service-Event-Id': `evt_${eventId}`,
    'Service-Event-Type': eventType,
    'Service-Event-Sequence': String(sequence),
    'webhook-id': `evt_${eventId}`,
    'webhook-timestamp': String(t),
    'webhook-signature': secrets
      .map((secret) => {
        const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
        return `v1,${createHmac('sha256', key).update(`evt_${eventId}.${t}.${body}`).digest('base64')}`;
      })
      .join(' '),
  };
  const begun = performance.now();
  const client = outsideClient(service.webhooksTo, { connections: 1 });
  const base = () => ({ requestHeaders: headers, durationMs: Math.round(performance.now() - begun) });
  try {
    const { status, body: answer } = await client.send({ url, method: 'POST', headers, body, timeoutMs: 10_000, mostBytes: 65_536 });
    const success = status >= 200 && status < 300;
    const error = success ? null : status >= 300 && status < 400 ? 'redirect' : 'status';
    return {
      success,
      responseStatus: status,
      responseBody: answer.subarray(0, 10_240).toString().replaceAll('\u0000', '\ufffd'),
      error,
      ...base(),
    };
  } catch (fault) {
    if (!(fault instanceof CallFault)) throw fault;
    return {
      success: false,
      responseStatus: null,
      responseBody: null,
      error: fault.code === 'plain_http' ? 'connect' : fault.code,
      ...base(),
    };
  } finally {
    await client.close();
  }
}
