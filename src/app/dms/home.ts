import { planNames } from '#modules/dealers/index.ts';
import { roleName } from '#modules/staff/index.ts';
import type { Page } from '#platform/http/pages.ts';
import type { Service } from '#platform/service.ts';
import { at } from './addresses.ts';
import { administers, framedPage } from './frame.ts';
import { html } from './html.ts';
import { forMembers } from './visitor.ts';

/** Where one is, and where one can go from here. */
export const homePages = (service: Service): readonly Page[] => [
  {
    id: 'dms.home',
    method: 'GET',
    path: at.home,
    show: forMembers(service, at.home, async ({ session }) => {
      const { dealer, user, plan } = session;
      const body = html`
        <h1>${dealer.name}</h1>
        <dl class="facts">
          <div><dt>Dealer code</dt><dd>${dealer.code}</dd></div>
          <div><dt>Plan</dt><dd>${planNames[plan]}</dd></div>
          <div><dt>Signed in as</dt><dd>${user.name}<small>${user.email}</small></dd></div>
          <div><dt>Role</dt><dd>${roleName(user.role)}</dd></div>
        </dl>
        <div class="tiles">
          ${administers(session) && html`<a class="tile" href="${at.connectedApps}"><strong>Connected apps</strong><span>Which apps reach your data, with whose permission, and how to end it.</span></a>`}
          <a class="tile" href="${service.baseUrl}/docs"><strong>API reference</strong><span>What your own software can read and write.</span></a>
        </div>`;
      return { status: 200, html: framedPage({ title: dealer.name, session, keyring: service.keyring, body, here: at.home }) };
    }),
  },
];
