import type { Keyring } from './secrets.ts';

/** A text with its signature, for whoever brings it back: nobody without the master key can make or alter one. */
export const signText = (keyring: Keyring, purpose: string, text: string): string =>
  `${Buffer.from(text).toString('base64url')}.${keyring.sign(purpose, text).toString('base64url')}`;

/** The text that was signed; null when it was altered in any way. */
export function readSigned(keyring: Keyring, purpose: string, signed: string): string | null {
  const parts = signed.split('.').map((part) => Buffer.from(part, 'base64url'));
  // A reader of base64 overlooks letters it does not know, and the last bits: what we would not write so was altered.
  if (parts.map((part) => part.toString('base64url')).join('.') !== signed) return null;
  const [text, signature, ...rest] = parts;
  if (!text || !signature || rest.length > 0 || !keyring.verifies(purpose, text.toString(), signature)) return null;
  return text.toString();
}
