import { createHmac } from 'node:crypto';
import { eventId } from '#modules/events/contract.ts';
import type { Instant } from '#platform/dates.ts';
import { toMillis } from '#platform/dates.ts';

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

/**
 * The headers of one attempt: signed at its own time, as a receiver refuses what is older than five minutes. The same string is a secret
 * of Standard Webhooks too, so their three headers come beside our own, and their libraries verify what we send.
 */
export function headersOf({ secrets, eventId: id, eventType, sequence, body, signedAt }: Letter): Record<string, string> {
  const t = Math.floor(toMillis(signedAt) / 1_000);
  const event = eventId(id);
  return {
    'Content-Type': 'application/json',
    'User-Agent': 'Forecourt',
    'Service-Event-Id': event,
    'Service-Event-Type': eventType,
    'Service-Event-Sequence': String(sequence),
    'Service-Signature': [`t=${t}`, ...secrets.map((secret) => `v1=${hmac(secret, `${t}.${body}`, 'hex')}`)].join(','),
    'webhook-id': event,
    'webhook-timestamp': String(t),
    'webhook-signature': secrets.map((secret) => `v1,${hmac(bytesOf(secret), `${event}.${t}.${body}`, 'base64')}`).join(' '),
  };
}

const hmac = (key: string | Buffer, text: string, form: 'hex' | 'base64'): string => createHmac('sha256', key).update(text).digest(form);

/** The random bytes a secret was made of. */
const bytesOf = (secret: string): Buffer => Buffer.from(secret.slice('whsec_'.length), 'base64');
