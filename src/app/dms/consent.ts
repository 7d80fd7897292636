import type { Consent } from '#modules/oauth/index.ts';
import { approve, decline, readConsent } from '#modules/oauth/index.ts';
import type { NotProved } from '#modules/staff/index.ts';
import { isProvedLately, proveAgain } from '#modules/staff/index.ts';
import type { Page, Shown } from '#platform/http/pages.ts';
import type { Service } from '#platform/service.ts';
import { at, withRequest } from './addresses.ts';
import { allowedOf, blockedPage, consentPage } from './consent-page.ts';
import { inWords } from './sign-in.ts';
import { brokenRequest } from './trouble.ts';
import type { Visitor } from './visitor.ts';
import { forMembers, forMembersForms, requestOf } from './visitor.ts';

/** Where a member of staff decides what an app may do. */
export const consentPages = (service: Service): readonly Page[] => [
  { id: 'dms.consent', method: 'GET', path: at.consent, show: forMembers(service, at.consent, (visitor) => ask(service, visitor)) },
  { id: 'dms.consented', method: 'POST', path: at.consent, show: forMembersForms(service, (visitor) => decide(service, visitor)) },
];

async function ask(service: Service, visitor: Visitor): Promise<Shown> {
  const consent = await readConsent(service, requestOf(visitor) ?? '');
  if (!consent) return brokenRequest();
  return notToDecide(service, visitor, consent) ?? consentPage(service, visitor, consent, { ticked: consent.scopes });
}

/** The plan and the permissions are those of this moment, whatever the page said when it was opened. */
async function decide(service: Service, visitor: Visitor): Promise<Shown> {
  const consent = await readConsent(service, requestOf(visitor) ?? '');
  if (!consent) return brokenRequest();
  if (visitor.form.get('decision') !== 'approve') return { leadsTo: decline(service, consent, 'declined') };
  const blocked = notToDecide(service, visitor, consent);
  if (blocked) return blocked;

  const chosen = visitor.form.getAll('scope');
  const ticked = consent.scopes.filter((scope) => chosen.includes(scope));
  const again = (status: number, complaint: string) => consentPage(service, visitor, consent, { ticked, status, complaint });
  if (ticked.length === 0) return again(422, 'Tick at least one of these, or decline.');
  const proof = await unproved(service, visitor);
  if (proof?.refused === 'overtaken') return { leadsTo: withRequest(at.consent, requestOf(visitor)) };
  if (proof) return again(proof.refused === 'wrong' ? 422 : 429, inWords(proof, 'That was not your password.'));
  return { leadsTo: await approve(visitor.ctx, consent, ticked) };
}

/** Why there is nothing to decide: the app is told so when they go on. */
function notToDecide(service: Service, { session }: Visitor, consent: Consent): Shown | null {
  if (session.plan === 'FREE') return blockedPage(session, consent, 'plan', decline(service, consent, 'plan'));
  if (allowedOf(consent, session).length === 0)
    return blockedPage(session, consent, 'nothing_allowed', decline(service, consent, 'nothing_allowed'));
  return null;
}

/** An app keeps what it is given for months, so who has been signed in for long says once more who they are. Why they have not, or null. */
async function unproved(service: Service, visitor: Visitor): Promise<NotProved | null> {
  if (isProvedLately(visitor.session)) return null;
  const { token, address, form, cookie } = visitor;
  const proof = await proveAgain(service, token, { password: form.get('password') ?? '', address, device: cookie('device') });
  if ('refused' in proof) return proof;
  visitor.keep({ name: 'session', value: proof.token });
  return null;
}
