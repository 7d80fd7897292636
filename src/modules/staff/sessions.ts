import type { Context, Dealer } from '#platform/context.ts';
import type { Instant } from '#platform/dates.ts';
import { fromMillis } from '#platform/dates.ts';
import { readsOf } from '#platform/db/queries.ts';
import type { Branches } from '#platform/reach.ts';
import { randomText, sha256, uuidv7 } from '#platform/secrets.ts';
import type { Service } from '#platform/service.ts';
import type { Guesser } from './attempts.ts';
import { attempt, knownDevice } from './attempts.ts';
import type { Permission, Role } from './contract.ts';
import { email as emailAddress, scopeNames } from './contract.ts';
import { hashed, isOutdated, isPassword } from './passwords.ts';
import { allowsScope, permissionsOf } from './rules.ts';
import * as rows from './session-queries.ts';

/** A member of staff who is signed in, as the database has them at this request. */
export interface Session {
  readonly id: string;
  readonly now: Instant;
  /** When the password was last given. */
  readonly provedAt: Instant;
  readonly user: { readonly id: string; readonly name: string; readonly email: string; readonly role: Role };
  readonly dealer: Dealer & { readonly name: string };
  readonly plan: 'FREE' | 'STANDARD' | 'PROFESSIONAL';
  readonly permissions: readonly Permission[];
  readonly branches: Branches;
}

export interface SignIn extends Guesser {
  readonly password: string;
}

export interface SignedIn {
  /** For the browser alone; its hash is kept. */
  readonly token: string;
  /** Marks the browser as one this member of staff was signed in on. */
  readonly device: string;
  readonly session: Session;
}

/** Why somebody was not let in. Which of code, address and password was wrong is told to nobody, nor whether there is such a person. */
export type NotSignedIn = { readonly refused: 'wrong' } | { readonly refused: 'too_many'; readonly waitSeconds: number };

/** The same of who is signed in; `overtaken`: somebody who clicked twice proved it a moment ago, or the session has ended. */
export type NotProved = NotSignedIn | { readonly refused: 'overtaken' };

/** Lets a member of staff in who knows the password. Each sign-in is a session with a token of its own. */
export async function signIn(service: Service, given: SignIn): Promise<SignedIn | NotSignedIn> {
  const guesser = { ...given, dealerCode: given.dealerCode.trim().toLowerCase(), email: given.email.trim().toLowerCase() };
  const { waitSeconds, forgive } = await attempt(service, guesser);
  if (waitSeconds !== null) return tooMany(service, guesser, waitSeconds);
  const member = await memberFor(service, guesser);
  const kept = member?.password_hash ?? null;
  const right = await isPassword(given.password, kept);
  if (!right || !member?.is_active || kept === null) return wrong(service, guesser);

  const token = newToken();
  const id = uuidv7(service.clock() ?? fromMillis(Date.now()));
  const opened = await rows.insertSession(service, member, { id, hash: sha256(token), passwordHash: kept });
  const session = opened ? await sessionOf(service, token) : null;
  if (!session) return wrong(service, guesser);
  await forgive();
  if (isOutdated(kept)) await rows.replaceHash(service, member, kept, await hashed(given.password));
  service.log.info({ dealer: session.dealer.code, user_id: session.user.id, session_id: id }, 'signed in');
  return { token, device: knownDevice(service, guesser), session };
}

/** The same for who is signed in already: the session goes on under another token. */
export async function proveAgain(
  service: Service,
  token: string,
  given: Pick<SignIn, 'password' | 'address' | 'device'>,
): Promise<{ readonly token: string } | NotProved> {
  const found = await rows.sessionWith(service, sha256(token));
  if (!found) return { refused: 'overtaken' };
  const guesser = { ...given, dealerCode: found.dealer.code, email: found.email };
  const { waitSeconds, forgive } = await attempt(service, guesser);
  if (waitSeconds !== null) return tooMany(service, guesser, waitSeconds);
  if (!(await isPassword(given.password, found.password_hash))) return wrong(service, guesser);
  await forgive();
  const next = newToken();
  return (await rows.renewSession(service, sha256(token), sha256(next))) ? { token: next } : { refused: 'overtaken' };
}

/** Whose session a token is of: read at each request, so that a lost permission, a ban or another plan counts from the next one on. */
export async function sessionOf(service: Service, token: string): Promise<Session | null> {
  const found = isToken(token) ? await rows.sessionWith(service, sha256(token)) : undefined;
  if (!found) return null;
  const { id, now, proved_at: provedAt, staff_id, name, email, role, dealer, dealer_name, plan } = found;
  if (found.is_stale) await rows.touchSession(service, dealer.id, id, now);
  return {
    ...{ id, now, provedAt, plan },
    user: { id: staff_id, name, email, role },
    dealer: { ...dealer, name: dealer_name },
    permissions: permissionsOf(found),
    branches: found.all_branches ? 'all' : found.branch_ids,
  };
}

/** Ends the session of a token: whoever kept a copy of it has nothing. */
export const signOut = (service: Service, token: string): Promise<void> => rows.deleteSession(service, sha256(token));

/** The member of staff as every command and query takes them. */
export const contextOf = (service: Service, { user, dealer, permissions, branches, now }: Session, requestId: string | null): Context => {
  const scopes = scopeNames.filter((scope) => allowsScope(permissions, scope));
  return {
    dealer,
    caller: {
      kind: 'user',
      id: user.id,
      name: user.name,
      granted: scopes,
      scopes,
      permissions,
      branches,
      owner: { id: user.id, name: user.name },
      callingDealerId: dealer.id,
      key: null,
    },
    db: readsOf(service.pools.work, dealer.id),
    now,
    requestId,
    service,
  };
};

/** 256 bits, with a beginning by which the log knows it. */
const newToken = (): string => `dms_${randomText(43)}`;
const isToken = (text: string): boolean => /^dms_[0-9A-Za-z]{43}$/.test(text);

/** Nobody where what was typed cannot be a code or an address. */
const memberFor = async (service: Service, { dealerCode, email }: Guesser): Promise<rows.Member | undefined> =>
  /^[a-z0-9-]{2,40}$/.test(dealerCode) && emailAddress.safeParse(email).success ? rows.memberNamed(service, dealerCode, email) : undefined;

/** What was typed is not logged: some type their password into the wrong field. */
function wrong({ log }: Service, { address }: Guesser): NotSignedIn {
  log.warn({ address }, 'sign-in refused');
  return { refused: 'wrong' };
}

function tooMany({ log }: Service, { address }: Guesser, waitSeconds: number): NotSignedIn {
  log.warn({ address, wait_seconds: waitSeconds }, 'sign-in refused: too many attempts');
  return { refused: 'too_many', waitSeconds };
}
