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
  sealed.filter((one) => one !== null).map((one) => openSecret(service, dealerId, endpointId, one));

const rowOf = (dealerId: string, endpointId: string): string => `webhook:${dealerId}:${endpointId}`;
