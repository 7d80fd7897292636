import { randomBytes } from 'node:crypto';
import type { Service } from '#platform/service.ts';

/** A new signing secret; its bytes are those of a Standard Webhooks secret too. */
export const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/** What is shown of a secret once it is kept. */
export const hintOf = (secret: string): string => secret.slice(-4);

/** As it is kept: readable with the master key, and in the row of this endpoint alone. */
export const sealSecret = ({ keyring }: Service, dealerId: string, endpointId: string, secret: string): Buffer =>
  keyring.seal(secret, rowOf(dealerId, endpointId));

export const openSecret = ({ keyring }: Service, dealerId: string, endpointId: string, sealed: Buffer): string =>
  keyring.unseal(sealed, rowOf(dealerId, endpointId));

/** The secrets a delivery is signed with, the newest first; null is one that is kept no more. */
export const openSecrets = (service: Service, dealerId: string, endpointId: string, sealed: readonly (Buffer | null)[]): string[] =>
  sealed.filter((one) => one !== null).map((one) => openedBefore(service, dealerId, endpointId, one));

/** Opened once, however often it signs: opening it anew for each delivery took longer than signing. */
function openedBefore(service: Service, dealerId: string, endpointId: string, sealed: Buffer): string {
  const ofRing = opened.get(service.keyring) ?? new Map<string, string>();
  opened.set(service.keyring, ofRing);
  const name = `${dealerId} ${endpointId} ${sealed.toString('latin1')}`;
  const known = ofRing.get(name);
  if (known !== undefined) return known;
  const secret = openSecret(service, dealerId, endpointId, sealed);
  if (ofRing.size >= mostOpened) ofRing.delete(ofRing.keys().next().value!);
  ofRing.set(name, secret);
  return secret;
}

const opened = new WeakMap<Service['keyring'], Map<string, string>>();
const mostOpened = 4_000;

const rowOf = (dealerId: string, endpointId: string): string => `webhook:${dealerId}:${endpointId}`;
