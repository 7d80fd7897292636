import { visitorOf } from '#platform/addresses.ts';
import type { Keyring } from '#platform/secrets.ts';
import { randomText } from '#platform/secrets.ts';
import type { Service } from '#platform/service.ts';
import { readSigned, signText } from '#platform/signed-text.ts';
import { countAttempt, takeBack } from './attempt-queries.ts';
import { allowedAttempts } from './rules.ts';

/** Who tries to sign in, and from where. */
export interface Guesser {
  readonly dealerCode: string;
  readonly email: string;
  readonly address: string;
  /** What a browser was given when somebody signed in on it. */
  readonly device: string | null;
}

export interface Attempt {
  /** So long nothing is tried any more; null: this one may be. */
  readonly waitSeconds: number | null;
  /** It was no guess: it does not count. */
  forgive(): Promise<void>;
}

/**
 * Counts an attempt before the password is looked at, so that many at once are no more than one after the other. Whoever guesses from
 * somewhere has few attempts there, few addresses together have few at an account, and one address few at all accounts. A browser on
 * which this member of staff was signed in before counts by itself: nobody can lock them out of it. An account that does not exist
 * is counted like any other.
 */
export async function attempt(service: Service, guesser: Guesser): Promise<Attempt> {
  const known = deviceOf(service, guesser);
  const counts = countsOf(service, guesser, known);
  const waitSeconds = await countAttempt(service, counts);
  return { waitSeconds, forgive: () => takeBack(service, [...counts.narrow, ...counts.wide]) };
}

/** What a browser keeps of having been signed in on: that it was, by whom, and nothing that opens anything. */
export const knownDevice = ({ keyring }: Service, guesser: Guesser): string =>
  signText(keyring, purpose, JSON.stringify([accountOf(keyring, guesser), randomText(22)]));

const purpose = 'sign-in device';

function deviceOf({ keyring }: Service, guesser: Guesser): string | null {
  const text = guesser.device && readSigned(keyring, purpose, guesser.device);
  if (!text) return null;
  const [account, device] = JSON.parse(text);
  return account === accountOf(keyring, guesser) ? device : null;
}

function countsOf({ keyring }: Service, guesser: Guesser, device: string | null) {
  const account = accountOf(keyring, guesser);
  const address = visitorOf(guesser.address);
  if (device !== null) return { narrow: [{ subject: `sign-in:device:${device}`, allowed: allowedAttempts.onDevice }], wide: [] };
  return {
    narrow: [
      { subject: `sign-in:from:${address}`, allowed: allowedAttempts.fromAddress },
      { subject: `sign-in:at:${account}:from:${address}`, allowed: allowedAttempts.atAccountFromAddress },
    ],
    // What is refused before is no attempt at the account, else one address alone could use up those of all.
    wide: [{ subject: `sign-in:at:${account}`, allowed: allowedAttempts.atAccount }],
  };
}

/** Nobody reads from it what was typed: some type their password into the wrong field. */
const accountOf = (keyring: Keyring, { dealerCode, email }: Guesser): string =>
  keyring.sign('sign-in account', `${dealerCode}\n${email}`).toString('base64url');
