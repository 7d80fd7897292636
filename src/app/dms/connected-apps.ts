import type { ConnectedApp } from '#modules/oauth/index.ts';
import { connectedApps, disconnectApp } from '#modules/oauth/index.ts';
import { scopeCatalogue } from '#modules/staff/contract.ts';
import { id } from '#platform/contract.ts';
import type { Instant } from '#platform/dates.ts';
import { toDateTime, toMillis } from '#platform/dates.ts';
import { Refusal } from '#platform/errors.ts';
import type { Page, Shown } from '#platform/http/pages.ts';
import type { Service } from '#platform/service.ts';
import { at } from './addresses.ts';
import { formMark } from './forms.ts';
import { administers, framedPage } from './frame.ts';
import type { Html } from './html.ts';
import { html } from './html.ts';
import type { Visitor } from './visitor.ts';
import { forMembers, forMembersForms } from './visitor.ts';

/** Administration, Developers, Connected apps. */
export const connectedAppsPages = (service: Service): readonly Page[] => [
  {
    id: 'dms.connected_apps',
    method: 'GET',
    path: at.connectedApps,
    show: forMembers(service, at.connectedApps, (visitor) => list(service, visitor)),
  },
  {
    id: 'dms.disconnect',
    method: 'POST',
    path: at.disconnect,
    show: forMembersForms(service, async (visitor) => {
      if (!administers(visitor.session)) return forAdministrators(service, visitor);
      const named = id.safeParse(visitor.form.get('id'));
      if (!named.success) throw new Refusal('not_found');
      await disconnectApp(visitor.ctx, named.data);
      return { leadsTo: `${at.connectedApps}?disconnected` };
    }),
  },
];

async function list(service: Service, visitor: Visitor): Promise<Shown> {
  if (!administers(visitor.session)) return forAdministrators(service, visitor);
  const apps = await connectedApps(visitor.ctx);
  const body = html`
    <p class="path">Administration › Developers</p>
    <h1>Connected apps</h1>
    <p class="lead">Apps of partners that members of staff have connected. Each acts as whoever approved it, within what is listed here and what that
      person’s role allows.</p>
    ${visitor.query.has('disconnected') && html`<p class="done" role="status">The app is disconnected.</p>`}
    ${apps.length === 0 ? html`<p class="empty">No app is connected.</p>` : html`<ul class="apps">${apps.map((app) => appRow(service, visitor, app))}</ul>`}`;
  return page(service, visitor, 200, body);
}

function appRow(service: Service, { session }: Visitor, { id, app, scopes, approvedBy, approvedAt, lastUsedAt }: ConnectedApp): Html {
  const zone = session.dealer.timeZone;
  return html`<li>
    <h2>${app.name}</h2>
    <p class="quiet"><a href="${app.website}" rel="noreferrer noopener" target="_blank">${app.website}</a></p>
    <dl class="facts">
      <div><dt>Approved by</dt><dd>${approvedBy.name}</dd></div>
      <div><dt>Approved</dt><dd>${moment(approvedAt, zone)}</dd></div>
      <div><dt>Last used</dt><dd>${lastUsedAt === null ? 'Never' : moment(lastUsedAt, zone)}</dd></div>
    </dl>
    <h3>It may</h3>
    <ul class="rights">${scopes.map((scope) => {
      const { words, personalData } = scopeCatalogue[scope];
      return html`<li>${words} ${personalData && html`<span class="personal">Customers’ personal data</span>`}</li>`;
    })}</ul>
    <details><summary>Disconnect …</summary>
      <form method="post" action="${at.disconnect}">${formMark(service.keyring, session.id)}<input type="hidden" name="id" value="${id}">
        <p>Its next request is refused. To come back it has to ask a member of staff again.</p>
        <button class="danger">Disconnect ${app.name}</button></form></details>
  </li>`;
}

const forAdministrators = async (service: Service, visitor: Visitor): Promise<Shown> =>
  page(
    service,
    visitor,
    403,
    html`<h1>Connected apps</h1><p>Administrators look after the apps of the dealership. Your role is another.</p>`,
  );

const page = (service: Service, { session }: Visitor, status: number, body: Html): Shown => ({
  status,
  html: framedPage({ title: 'Connected apps', session, keyring: service.keyring, body, here: at.connectedApps }),
});

/** As the clocks of the dealership show it. */
const moment = (at: Instant, timeZone: string): Html =>
  html`<time datetime="${toDateTime(at)}">${new Intl.DateTimeFormat('en-GB', { timeZone, dateStyle: 'long', timeStyle: 'short' }).format(toMillis(at))}</time>`;
