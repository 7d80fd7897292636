import { checksum, randomText, sha256 } from '#platform/secrets.ts';

export type Environment = 'live' | 'test';
export type Kind = 'secret' | 'publishable';

const letters = { secret: 'sk', publishable: 'pk' } as const;
const shape = /^svc_(?:live|test)_(?:sk|pk)_([0-9A-Za-z]{12})_([0-9A-Za-z]{38})$/;

/** A new key: `svc_<environment>_<type>_<lookup>_<secret>`, the secret ending in a checksum of all before it. */
export function newKeyText(environment: Environment, kind: Kind): { key: string; lookup: string; hash: Buffer } {
  const lookup = randomText(12);
  const stem = `svc_${environment}_${letters[kind]}_${lookup}_${randomText(32)}`;
  const key = stem + checksum(stem);
  return { key, lookup, hash: sha256(key.slice(-38)) };
}

/** The parts of a well-formed key; `null` for one that no look-up could find. */
export function readKeyText(key: string): { lookup: string; hash: Buffer } | null {
  const [, lookup, secret] = shape.exec(key) ?? [];
  if (!lookup || !secret || checksum(key.slice(0, -6)) !== key.slice(-6)) return null;
  return { lookup, hash: sha256(secret) };
}
