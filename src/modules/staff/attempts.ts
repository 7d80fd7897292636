import { visitorOf } from '#platform/addresses.ts';
import type { Keyring } from '#platform/secrets.ts';
import { randomText } from '#platform/secrets.ts';
import type { Service } from '#platform/service.ts';
import { readSigned, signText } from '#platform/signed-text.ts';
import type { Count } from './attempt-queries.ts';
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
 * Counts an attempt before the password is looked at, so that many at once are no more than one after the other. One address has few at
 * all accounts and fewer at one, and all addresses together have few at an account. A browser on which this member of staff was signed
 * in before counts by itself: nobody can lock them out of it. An account that does not exist is counted like any other.
 */
export async function attempt(service: Service, guesser: Guesser): Promise<Attempt> {
  const counts = countsOf(service, guesser);
  return { waitSeconds: await countAttempt(service, counts), forgive: () => takeBack(service, counts) };
}

/** What a browser keeps of whom it was signed in on by, the latest first. It opens nothing. */
export function knownDevice({ keyring }: Service, guesser: Guesser): string {
  const { id = randomText(22), accounts } = deviceOf(keyring, guesser);
  const account = accountOf(keyring, guesser);
  const latest = [account, ...accounts.filter((other) => other !== account)].slice(0, mostAccounts);
  return signText(keyring, purpose, JSON.stringify([id, ...latest]));
}

const purpose = 'sign-in device';
/** Some computers are everybody's. */
const mostAccounts = 10;

function deviceOf(keyring: Keyring, { device }: Guesser): { id?: string; accounts: readonly string[] } {
  const text = device === null ? null : readSigned(keyring, purpose, device);
  if (text === null) return { accounts: [] };
  const [id, ...accounts] = JSON.parse(text) as [string, ...string[]];
  return { id, accounts };
}

/** What an attempt counts on. What one of them refuses is none of the next, else one address alone could use up what all have at an account. */
function countsOf({ keyring }: Service, guesser: Guesser): Count[] {
  const account = accountOf(keyring, guesser);
  const device = deviceOf(keyring, guesser);
  if (device.accounts.includes(account))
    return [{ subject: `sign-in:${account}:on:${device.id}`, allowed: allowedAttempts.atAccountOnDevice }];
  const address = visitorOf(guesser.address);
  return [
    { subject: `sign-in:from:${address}`, allowed: allowedAttempts.fromAddress },
    { subject: `sign-in:${account}:from:${address}`, allowed: allowedAttempts.atAccountFromAddress },
    { subject: `sign-in:${account}`, allowed: allowedAttempts.atAccount },
  ];
}

/** Nobody reads from it what was typed: some type their password into the wrong field. */
const accountOf = (keyring: Keyring, { dealerCode, email }: Guesser): string =>
  keyring.sign('sign-in account', `${dealerCode}\n${email}`).toString('base64url');
