import type { Instant } from './dates.ts';
import { fromMillis, toMillis } from './dates.ts';
import type { Keyring } from './secrets.ts';
import { readSigned, signText } from './signed-text.ts';

/** How long a link stays good. */
const minutes = 30;

/** A text for a link: whoever holds it may see what it names, until it ends. Nobody without the master key can make or alter one. */
export function sealLink(keyring: Keyring, purpose: string, names: readonly string[], now: Instant): string {
  const content = JSON.stringify([fromMillis(toMillis(now) + minutes * 60_000), ...names]);
  return signText(keyring, purpose, content);
}

/** What a link names, and when it ends. */
export interface Sealed {
  readonly until: Instant;
  readonly names: readonly string[];
}

/** Null when it was altered, or is no such link. */
export function openLink(keyring: Keyring, purpose: string, text: string): Sealed | null {
  const content = readSigned(keyring, purpose, text);
  if (content === null) return null;
  const [until, ...names] = JSON.parse(content);
  return { until, names };
}
