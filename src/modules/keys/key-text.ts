import { checksum, randomText, sha256 } from '#platform/secrets.ts';

export type Environment = 'live' | 'test';
export type Kind = 'secret' | 'publishable';

const letters = { secret: 'sk', publishable: 'pk' } as const;
const keyShape = /^svc_(?:live|test)_(?:sk|pk)_([0-9A-Za-z]{12})_([0-9A-Za-z]{38})$/;

/** A new key: `svc_<environment>_<type>_<lookup>_<secret>`, the secret ending in a checksum of all before it. */
export function newKeyText(environment: Environment, kind: Kind): { key: string; lookup: string; hash: Buffer } {
  const lookup = randomText(12);
  const stem = `svc_${environment}_${letters[kind]}_${lookup}_${randomText(32)}`;
  const key = stem + checksum(stem);
  return { key, lookup, hash: sha256(key.slice(-38)) };
}

/** The parts of a well-formed key; `null` for one that no look-up could find. */
export function readKeyText(key: string): { lookup: string; hash: Buffer } | null {
  const [, lookup, secret] = keyShape.exec(key) ?? [];
  return lookup && secret && isWhole(key) ? { lookup, hash: sha256(secret) } : null;
}

/** What OAuth hands out: an access token, a refresh token, an authorisation code. */
export type TokenKind = 'oat' | 'ort' | 'oac';

const tokenShape = /^svc_(oat|ort|oac)_[0-9A-Za-z]{38}$/;

/** A new token: `svc_<kind>_<secret>`, ending in a checksum of all before it. */
export function newTokenText(kind: TokenKind): { token: string; hash: Buffer } {
  const stem = `svc_${kind}_${randomText(32)}`;
  const token = stem + checksum(stem);
  return { token, hash: sha256(token) };
}

/** The kind and hash of a well-formed token; `null` for one that no look-up could find. */
export function readTokenText(token: string): { kind: TokenKind; hash: Buffer } | null {
  const [, kind] = tokenShape.exec(token) ?? [];
  return kind && isWhole(token) ? { kind: kind as TokenKind, hash: sha256(token) } : null;
}

const isWhole = (text: string): boolean => checksum(text.slice(0, -6)) === text.slice(-6);
