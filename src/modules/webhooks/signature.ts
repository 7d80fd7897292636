import type { KeyObject } from 'node:crypto';
import { createHmac, createSecretKey } from 'node:crypto';
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
  const keys = secrets.map(keysOf);
  return {
    'Content-Type': 'application/json',
    'User-Agent': 'Forecourt',
    'Service-Event-Id': event,
    'Service-Event-Type': eventType,
    'Service-Event-Sequence': String(sequence),
    'Service-Signature': [`t=${t}`, ...keys.map(({ whole }) => `v1=${hmac(whole, `${t}.${body}`, 'hex')}`)].join(','),
    'webhook-id': event,
    'webhook-timestamp': String(t),
    'webhook-signature': keys.map(({ bytes }) => `v1,${hmac(bytes, `${event}.${t}.${body}`, 'base64')}`).join(' '),
  };
}

const hmac = (key: KeyObject, text: string, form: 'hex' | 'base64'): string => createHmac('sha256', key).update(text).digest(form);

interface Keys {
  /** The whole secret, its prefix included. */
  readonly whole: KeyObject;
  /** The random bytes it was made of. */
  readonly bytes: KeyObject;
}

/** Made once for a secret: making them anew for each attempt took longer than signing. */
const made = new Map<string, Keys>();
const most = 4_000;

function keysOf(secret: string): Keys {
  const known = made.get(secret);
  if (known) return known;
  const keys = { whole: createSecretKey(secret, 'utf8'), bytes: createSecretKey(secret.slice('whsec_'.length), 'base64') };
  if (made.size >= most) made.delete(made.keys().next().value!);
  made.set(secret, keys);
  return keys;
}
