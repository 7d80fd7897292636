import { readConsent } from '#modules/oauth/index.ts';
import type { NotSignedIn } from '#modules/staff/index.ts';
import { signIn, signOut } from '#modules/staff/index.ts';
import type { Asked, Page, Shown } from '#platform/http/pages.ts';
import { randomText } from '#platform/secrets.ts';
import type { Service } from '#platform/service.ts';
import { afterSignIn, at, withRequest } from './addresses.ts';
import { complaintOf, formMark, isFormFor } from './forms.ts';
import { cardPage } from './frame.ts';
import { html } from './html.ts';
import { brokenRequest } from './trouble.ts';
import { forMembersForms, requestOf, visitorOf } from './visitor.ts';

/** Signing in and out. */
export const signInPages = (service: Service): readonly Page[] => [
  { id: 'dms.sign_in', method: 'GET', path: at.signIn, show: (asked) => open(service, asked) },
  { id: 'dms.signed_in', method: 'POST', path: at.signIn, show: (asked) => enter(service, asked) },
  {
    id: 'dms.sign_out',
    method: 'POST',
    path: at.signOut,
    show: forMembersForms(service, async (visitor) => {
      await signOut(service, visitor.token);
      visitor.keep({ name: 'session', value: null });
      return { leadsTo: withRequest(at.signIn, requestOf(visitor)) };
    }),
  },
];

async function open(service: Service, asked: Asked): Promise<Shown> {
  const visitor = await visitorOf(service, asked);
  return visitor ? { leadsTo: afterSignIn(broughtBy(asked)) } : signInPage(service, asked, 200, null);
}

async function enter(service: Service, asked: Asked): Promise<Shown> {
  const { form, cookie, address } = asked;
  const visit = cookie('visit');
  if (visit === null || !isFormFor(service.keyring, visit, form)) return signInPage(service, asked, 403, notKept);
  const field = (name: string) => form.get(name) ?? '';
  const given = { dealerCode: field('dealer_code'), email: field('email'), password: field('password') };
  const signedIn = await signIn(service, { ...given, address, device: cookie('device') });
  if ('refused' in signedIn) return signInPage(service, asked, signedIn.refused === 'wrong' ? 422 : 429, inWords(signedIn, notRight));
  // The session that was open here before is over: what somebody may have known of it opens nothing.
  const before = cookie('session');
  if (before !== null) await signOut(service, before);
  asked.keep({ name: 'session', value: signedIn.token });
  asked.keep({ name: 'device', value: signedIn.device, keptSeconds: 180 * 24 * 3600 });
  return { leadsTo: afterSignIn(broughtBy(asked)) };
}

const notRight = 'That is not right. Check the dealer code, the e-mail address and the password.';

const broughtBy = (asked: Asked) => ({ request: requestOf(asked), wanted: asked.form.get('to') ?? asked.query.get('to') });

const notKept =
  'This page was open for long, or your browser keeps no cookies of this site. Sign in again; if this is said again, let it keep them.';

/** Why somebody was not let in, for people. */
export const inWords = (why: NotSignedIn, wrong: string): string =>
  why.refused === 'wrong' ? wrong : `Too many attempts. Wait ${minutes(why.waitSeconds)}, then try again.`;

const minutes = (seconds: number): string => (seconds <= 60 ? 'a minute' : `${Math.ceil(seconds / 60)} minutes`);

async function signInPage(service: Service, asked: Asked, status: number, complaint: string | null): Promise<Shown> {
  const { request, wanted } = broughtBy(asked);
  const consent = request === null ? null : await readConsent(service, request);
  if (request !== null && !consent) return brokenRequest();
  const kept = asked.cookie('visit');
  const visit = kept !== null && /^[0-9A-Za-z]{32}$/.test(kept) ? kept : randomText(32);
  asked.keep({ name: 'visit', value: visit });
  const given = (name: string) => asked.form.get(name) ?? '';
  const body = html`
    <h1>Sign in</h1>
    ${consent && html`<p class="lead"><strong>${consent.app.name}</strong> would like to connect to your dealership. You will see what it asks for.</p>`}
    ${complaint && complaintOf(complaint)}
    <form method="post" action="${at.signIn}">
      ${formMark(service.keyring, visit)}
      ${request !== null && html`<input type="hidden" name="request" value="${request}">`}
      ${wanted !== null && html`<input type="hidden" name="to" value="${wanted}">`}
      <label for="dealer_code">Dealer code</label>
      <input id="dealer_code" name="dealer_code" value="${given('dealer_code')}" required maxlength="40" autocapitalize="none" autocorrect="off" spellcheck="false" autocomplete="organization"${given('dealer_code') === '' && autofocus}>
      <label for="email">E-mail address</label>
      <input id="email" name="email" type="email" value="${given('email')}" required maxlength="254" autocomplete="username">
      <label for="password">Password</label>
      <input id="password" name="password" type="password" required maxlength="200" autocomplete="current-password"${given('dealer_code') !== '' && autofocus}>
      <button class="main">Sign in</button>
    </form>
    <p class="quiet">Lost one of these? Ask an administrator of your dealership.</p>`;
  return { status, html: cardPage('Sign in', body) };
}

const autofocus = html` autofocus`;
