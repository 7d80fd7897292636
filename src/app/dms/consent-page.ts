import type { Consent } from '#modules/oauth/index.ts';
import type { KnownScope } from '#modules/staff/contract.ts';
import { permissions, scopeCatalogue } from '#modules/staff/contract.ts';
import type { Session } from '#modules/staff/index.ts';
import { allowsScope, isProvedLately, roleName } from '#modules/staff/index.ts';
import type { Shown } from '#platform/http/pages.ts';
import type { Service } from '#platform/service.ts';
import { at } from './addresses.ts';
import { complaintOf, formMark } from './forms.ts';
import { cardPage } from './frame.ts';
import type { Html } from './html.ts';
import { html } from './html.ts';
import type { Visitor } from './visitor.ts';
import { requestOf } from './visitor.ts';

/** What of a request the role of a member of staff allows them to give. */
export const allowedOf = ({ scopes }: Consent, { permissions }: Session): KnownScope[] =>
  scopes.filter((scope) => allowsScope(permissions, scope));

interface Choice {
  readonly ticked: readonly KnownScope[];
  readonly status?: number;
  readonly complaint?: string;
}

/** What an app asks for, to approve in whole, in part, or not at all. */
export function consentPage(service: Service, visitor: Visitor, consent: Consent, choice: Choice): Shown {
  const { session } = visitor;
  const { app } = consent;
  const allowed = allowedOf(consent, session);
  const request = html`<input type="hidden" name="request" value="${requestOf(visitor)}">`;
  const mark = formMark(service.keyring, session.id);
  const body = html`
    ${heading(consent, session)}
    ${choice.complaint !== undefined && complaintOf(choice.complaint)}
    <form method="post" action="${at.consent}">
      ${mark}${request}
      <fieldset>
        <legend>It asks to be allowed to</legend>
        <ul class="scopes">${consent.scopes.map((scope) => scopeRow(scope, allowed.includes(scope), choice.ticked.includes(scope)))}</ul>
      </fieldset>
      <p class="quiet">It acts as you, in your branches, and never with more than your role allows at that moment. An administrator can end it at any time under
        Administration, Developers, Connected apps.</p>
      ${!isProvedLately(session) && passwordField}
      <div class="choice">
        <button class="main" name="decision" value="approve">Approve</button>
        <button name="decision" value="decline" formnovalidate>Decline</button>
      </div>
      <p class="quiet">Either way you go back to <strong>${placeOf(consent.redirectUri)}</strong>.</p>
    </form>
    <form method="post" action="${at.signOut}" class="aside">${mark}${request}
      Signed in as ${session.user.name} (${session.user.email}). <button class="plain">Not you?</button></form>`;
  return { status: choice.status ?? 200, html: cardPage(`Connect ${app.name}`, body), policy: policyOf(consent) };
}

/** The page of a request that cannot be approved, which says why and leads back to the app. */
export function blockedPage(session: Session, consent: Consent, why: 'plan' | 'nothing_allowed', back: string): Shown {
  const words =
    why === 'plan'
      ? html`<p>${session.dealer.name} is on the Free plan, and apps connect to dealerships on a paid one. Nothing was connected.</p>
          <p>Once the plan is changed, connect again from the app.</p>`
      : html`<p>Your role, ${roleName(session.user.role)}, allows nothing of what it asks for, so you cannot give it that. Nothing was connected.</p>
          <ul class="scopes">${consent.scopes.map((scope) => scopeRow(scope, false, false))}</ul>
          <p>Somebody whose role does can connect it, or an administrator can change what yours allows.</p>`;
  const body = html`${heading(consent, session)}${words}<p class="choice"><a class="button main" href="${back}">Back to ${consent.app.name}</a></p>
    <p class="quiet">You go to <strong>${placeOf(consent.redirectUri)}</strong>, which is told that it was not connected.</p>`;
  return { status: 403, html: cardPage(`${consent.app.name} cannot be connected`, body), policy: policyOf(consent) };
}

const heading = ({ app }: Consent, { dealer }: Session): Html => html`
  <div class="app">${isShown(app.logo) ? html`<img src="${app.logo}" alt="" width="56" height="56">` : html`<span class="letter" aria-hidden="true">${[...app.name][0]}</span>`}
    <div><h1>${app.name} wants to connect to ${dealer.name}</h1>
    <p class="quiet"><a href="${app.website}" rel="noreferrer noopener" target="_blank">${placeOf(app.website)}</a></p></div></div>`;

function scopeRow(scope: KnownScope, isAllowed: boolean, isTicked: boolean): Html {
  const { words, personalData, permission } = scopeCatalogue[scope];
  const id = `scope-${scope.replace(':', '-')}`;
  return html`<li${!isAllowed && html` class="barred"`}>
    <input type="checkbox" id="${id}" name="scope" value="${scope}" aria-describedby="${id}-about"${isAllowed && isTicked && html` checked`}${!isAllowed && html` disabled`}>
    <div><label for="${id}">${words}</label>
      <p id="${id}-about"><code>${scope}</code>
        ${personalData && html`<span class="personal">Customers’ personal data</span>`}
        ${!isAllowed && permission && html`<span class="why">Your role does not allow it: ${permissions[permission]}</span>`}</p></div></li>`;
}

const passwordField = html`
  <label for="password">Your password, as you have been signed in for a while</label>
  <input id="password" name="password" type="password" required maxlength="200" autocomplete="current-password">`;

/** Pictures come by https alone, else somebody in between could show another. */
const isShown = (logo: string | null): logo is string => logo !== null && URL.parse(logo)?.protocol === 'https:';

/** Whose address it is, as a person would say it. */
function placeOf(address: string): string {
  const url = URL.parse(address);
  return url?.host || (url?.protocol.replace(':', '') ?? address);
}

/**
 * The logo may be shown. And the form may lead to the app: browsers hold the whole way that a form leads against this list, redirects
 * of the app's own among them, hence its scheme rather than its host alone.
 */
function policyOf({ app, redirectUri }: Consent) {
  const { protocol, hostname } = new URL(redirectUri);
  // An IPv6 address is no source to a browser: it passes over it, and would keep the form from leading there.
  const isNameable = protocol === 'http:' && !hostname.startsWith('[');
  const own = protocol === 'https:' ? [] : [isNameable ? `http://${hostname}:*` : protocol];
  return { pictures: isShown(app.logo) ? [new URL(app.logo).origin] : [], forms: ['https:', ...own] };
}
