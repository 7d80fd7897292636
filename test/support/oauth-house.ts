import assert from 'node:assert/strict';
import type { FastifyInstance } from 'fastify';
import type { KnownScope, Role } from '#modules/staff/contract.ts';
import type { Service } from '#platform/service.ts';
import { buildApi, listen } from '../../src/app/api.ts';
import { buildDms } from '../../src/app/dms/server.ts';
import { closeService, openService } from '../../src/app/service.ts';
import { readCommand } from '../../src/bin/admin/arguments.ts';
import { commands } from '../../src/bin/admin/commands.ts';
import type { Dealership } from './dealership.ts';
import { dealership, undoneFirst } from './dealership.ts';
import { limits, masterKeys, silentLog } from './fixtures.ts';
import { freePort } from './free-port.ts';
import type { Arrival, Browser, Field } from './pages.ts';
import { browser } from './pages.ts';
import { recordTraffic } from './traffic.ts';

/** An app as the operator registered it. */
export interface PartnerApp {
  readonly name: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUri: string;
  readonly baseUrl: string;
}

/** Who signs in. */
export interface Member {
  readonly id: string;
  readonly dealerCode: string;
  readonly email: string;
  readonly password: string;
}

/** The roles `api` and `dms`, listening on loopback over the database of this file, and a dealership whose staff approve. */
export interface OAuthHouse {
  readonly dealer: Dealership;
  readonly service: Service;
  readonly app: FastifyInstance;
  readonly baseUrl: string;
  readonly dmsUrl: string;
  /** An administrator of the dealership. */
  readonly member: Member;
  newMember(role?: Role): Promise<Member>;
  /** An administrator disconnects an app of this name under Connected apps. */
  disconnect(name: string): Promise<void>;
  newApp(options?: { name?: string; redirectUri?: string; scopes?: readonly KnownScope[] }): Promise<PartnerApp>;
}

export async function oauthHouse(log = silentLog): Promise<OAuthHouse> {
  const dealer = await dealership();
  const { databaseUrl, files, clock, code } = dealer;
  const [apiPort, dmsPort] = [await freePort(), await freePort()];
  const [baseUrl, dmsUrl] = [`http://127.0.0.1:${apiPort}`, `http://127.0.0.1:${dmsPort}`];
  const service = await openService({ log, databaseUrl, masterKeys, limits, files, baseUrl, dmsUrl, clock: clock.read });
  const app = recordTraffic(buildApi({ service, baseUrl, trustedProxies: [], oauthCallsPerMinute: 100_000 }));
  const dms = buildDms({ service, trustedProxies: [] });
  undoneFirst(async () => {
    await Promise.all([app.close(), dms.close()]);
    await closeService(service);
  });
  await Promise.all([listen(app, '127.0.0.1', apiPort), listen(dms, '127.0.0.1', dmsPort)]);

  const newMember = async (role: Role = 'ADMINISTRATOR'): Promise<Member> => {
    const user = await dealer.newUser({ role });
    return { ...user, dealerCode: code, password: 'correct horse' };
  };
  const member = await newMember();
  return {
    ...{ dealer, service, app, baseUrl, dmsUrl, member, newMember },
    disconnect: (name) => disconnect({ baseUrl, dmsUrl }, member, name),
    async newApp({ name = 'Stock Mirror', redirectUri = 'http://127.0.0.1:8765/callback', scopes = ['vehicles:read'] } = {}) {
      const about = ['--name', name, '--website', 'https://mirror.example', '--redirect-uri', redirectUri, '--scopes', scopes.join(',')];
      const made = await register(service, ...about);
      return { name, clientId: made.client_id, clientSecret: made.client_secret, redirectUri, baseUrl };
    },
  };
}

/** What the operator's tool makes of an app with these flags. */
async function register(service: Service, ...flags: string[]): Promise<{ client_id: string; client_secret: string }> {
  const asked = readCommand(['app', 'register', ...flags], commands);
  if ('help' in asked) throw new Error(asked.help);
  return (await asked.command.run(asked.flags, service)) as { client_id: string; client_secret: string };
}

type Hosts = Pick<OAuthHouse, 'baseUrl' | 'dmsUrl'>;
type Credentials = Pick<Member, 'dealerCode' | 'email' | 'password'>;
/** `scopes`: what is ticked, else all that may be; `forge`: what the browser sends as ticked besides, whatever the page says. */
export type Answer = { decline?: boolean; scopes?: readonly string[]; forge?: readonly string[] };

/**
 * Opens the address of an authorise request as a browser without script would, signs in, answers the consent, and says where the browser
 * is sent then. Where nothing can be approved it takes the way back that the page offers.
 */
export async function walk(
  { baseUrl, dmsUrl }: Hosts,
  url: string,
  user: Credentials,
  { decline = false, scopes, forge = [] }: Answer = {},
): Promise<string> {
  const walker = browser(baseUrl, dmsUrl);
  const at = await signedIn(walker, url, user);
  if (at.away !== undefined) return at.away;
  const back = at.page.links.find(({ label }) => label.startsWith('Back to '));
  if (back) return back.href;
  const consent = at.page.forms.find(({ buttons }) => buttons.some(({ label }) => label === 'Approve'));
  assert.ok(consent, `No consent is asked for: ${at.page.status} ${at.page.text}`);
  const ticked = ({ value, checked }: Field) => scopes?.includes(value) ?? checked;
  const forged = forge.map((scope) => ['scope', scope] as const);
  const to = await walker.submit(at.page, consent, { button: decline ? 'Decline' : 'Approve', ticked, forged });
  if (to.away !== undefined) return to.away;
  throw new Error(`The browser was not sent back: ${to.page.status} ${to.page.text}`);
}

/** Ends an app under Connected apps, as an administrator does. */
async function disconnect({ baseUrl, dmsUrl }: Hosts, user: Credentials, name: string): Promise<void> {
  const walker = browser(baseUrl, dmsUrl);
  const { page } = await signedIn(walker, `${dmsUrl}/administration/developers/connected-apps`, user);
  const button = `Disconnect ${name}`;
  const form = page?.forms.find(({ buttons }) => buttons.some(({ label }) => label === button));
  assert.ok(page && form, `It is not listed: ${page?.text}`);
  const after = await walker.submit(page, form, { button });
  assert.ok(!after.page?.text.includes(name), after.page?.text);
}

/** Opens a page and signs in where that is asked for. */
async function signedIn(walker: Browser, url: string, { dealerCode, email, password }: Credentials): Promise<Arrival> {
  const at = await walker.open(url);
  const form = at.page?.forms.find(({ fields }) => fields.some(({ name }) => name === 'dealer_code'));
  return at.page && form ? walker.submit(at.page, form, { values: { dealer_code: dealerCode, email, password } }) : at;
}
