import { recordActivity } from '#modules/activity/index.ts';
import { newTokenText } from '#modules/keys/index.ts';
import type { KnownScope } from '#modules/staff/contract.ts';
import { allowsScope, permissionsOf } from '#modules/staff/index.ts';
import type { Context } from '#platform/context.ts';
import type { Instant } from '#platform/dates.ts';
import { after } from '#platform/dates.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { uuidv7 } from '#platform/secrets.ts';
import type { Service } from '#platform/service.ts';
import { readSigned, signText } from '#platform/signed-text.ts';
import { codeMinutes, consentMinutes } from './contract.ts';
import { issuerOf } from './metadata.ts';
import { appById, insertCode, planOf, standingOf } from './queries.ts';
import { addressWith } from './rules.ts';

/** What an app asks a member of staff to consent to. */
export interface Consent {
  readonly app: { readonly id: string; readonly name: string; readonly website: string; readonly logo: string | null };
  readonly scopes: readonly KnownScope[];
  readonly redirectUri: string;
  readonly state: string | null;
  readonly challenge: string;
}

type Asked = Omit<Consent, 'app'> & { readonly appId: string };

const purpose = 'oauth consent';

/** The request as the DMS is handed it: nobody without the master key can make or alter one. */
export function consentRequest({ keyring }: Service, asked: Asked, now: Instant): string {
  const { appId, redirectUri, scopes, state, challenge } = asked;
  const until = after(now, consentMinutes * 60_000);
  return signText(keyring, purpose, JSON.stringify([appId, redirectUri, scopes, state, challenge, until]));
}

/** Reads it: null when it was altered, an hour has passed, or the app is gone or no longer registered for what it says. */
export async function readConsent(service: Service, request: string): Promise<Consent | null> {
  const text = readSigned(service.keyring, purpose, request);
  if (text === null) return null;
  const [id, redirectUri, scopes, state, challenge, until] = JSON.parse(text) as [
    string,
    string,
    KnownScope[],
    string | null,
    string,
    Instant,
  ];
  const app = await appById(service, id);
  if (!app || app.now >= until || !app.redirect_uris.includes(redirectUri)) return null;
  const { name, website_url: website, logo_url: logo } = app;
  return { app: { id, name, website, logo }, scopes, redirectUri, state, challenge };
}

/**
 * Approves as the member of staff who asks, as far as their permissions go. Returns the address that leads back to the app: with a code,
 * or with `access_denied` when nothing is left or the plan has no apps.
 */
export const approve = (ctx: Context, consent: Consent, scopes: readonly KnownScope[]): Promise<string> =>
  inTransaction(ctx, async (tx) => {
    const staffId = staffIdOf(tx);
    const permissions = await permissionsNow(tx, staffId);
    const approved = consent.scopes.filter((scope) => scopes.includes(scope) && allowsScope(permissions, scope));
    if ((await planOf(tx)) === 'FREE') return decline(tx.service, consent, 'plan');
    if (approved.length === 0) return decline(tx.service, consent, 'nothing_allowed');
    const { token: code, hash } = newTokenText('oac');
    // Named here, where a person stands behind it: the activity log tells from here to its end of one thing.
    const authorisationId = uuidv7(tx.now);
    await insertCode(tx, {
      hash,
      app_id: consent.app.id,
      staff_id: staffId,
      scopes: approved,
      redirect_uri: consent.redirectUri,
      challenge: consent.challenge,
      created_at: tx.now,
      expires_at: after(tx.now, codeMinutes * 60_000),
      authorisation_id: authorisationId,
    });
    recordActivity(tx, 'created', 'oauth_authorisation', authorisationId, ['scopes']);
    return back(tx.service, consent, { code });
  });

/** The address that leads back to the app without a code, and tells it why. */
export const decline = (service: Service, consent: Consent, why: keyof typeof reasons): string =>
  back(service, consent, { error: 'access_denied', error_description: reasons[why] });

const reasons = {
  declined: 'The dealership declined.',
  plan: 'The plan of the dealership does not include apps.',
  nothing_allowed: 'The member of staff may approve none of the scopes.',
} as const;

/** Back to the app, which learns from `iss` whose answer it is (RFC 9207). */
export const back = (
  service: Service,
  { redirectUri, state }: Pick<Consent, 'redirectUri' | 'state'>,
  told: Record<string, string>,
): string => addressWith(redirectUri, { ...told, state, iss: issuerOf(service) });

/** What somebody may do by now: the page may have been open for long. Nothing when they work here no more. */
async function permissionsNow(tx: Context, staffId: string): Promise<readonly string[]> {
  const standing = await standingOf(tx, staffId);
  return standing ? permissionsOf(standing) : [];
}

function staffIdOf({ caller }: Context): string {
  if (caller.id === null) throw new Error('A member of staff approves.');
  return caller.id;
}
