import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import type { FastifyInstance, InjectOptions } from 'fastify';
import type { Consent } from '#modules/oauth/index.ts';
import { approve, readConsent, registerApp } from '#modules/oauth/index.ts';
import type { KnownScope } from '#modules/staff/contract.ts';
import { permissionsOf } from '#modules/staff/index.ts';
import type { Context } from '#platform/context.ts';
import type { Service } from '#platform/service.ts';
import type { Dealership } from './dealership.ts';

export const callback = 'https://partner.example/callback?kept=1';

/** A partner app, as whoever made it knows it. */
export interface Partner {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUri: string;
}

export async function partner(
  service: Service,
  { scopes = ['vehicles:read', 'vehicles:write', 'customers:read'], redirectUri = callback } = {},
): Promise<Partner> {
  const app = await registerApp(service, {
    name: 'Partner',
    website: 'https://partner.example',
    redirectUris: [redirectUri, 'http://127.0.0.1:33418/'],
    scopes,
  });
  return { ...app, redirectUri };
}

export interface Said {
  readonly status: number;
  readonly headers: Record<string, string>;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the answer holds
  readonly body: any;
}

/** Asks one of the endpoints. */
export async function say(app: FastifyInstance, request: InjectOptions): Promise<Said> {
  const { statusCode: status, headers, payload } = await app.inject(request);
  const isJson = payload !== '' && String(headers['content-type']).startsWith('application/json');
  return { status, headers: headers as Record<string, string>, body: isJson ? JSON.parse(payload) : payload };
}

export const basic = (id: string, secret: string): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`,
});

type Form = Readonly<Record<string, string | undefined>>;

/** Posts a form as the partner. */
export const postForm = (app: FastifyInstance, path: string, { clientId, clientSecret }: Partner, form: Form): Promise<Said> =>
  say(app, {
    method: 'POST',
    url: path,
    headers: { ...basic(clientId, clientSecret), 'content-type': 'application/x-www-form-urlencoded' },
    payload: formOf(form),
  });

export const formOf = (form: Form): string => {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(form)) if (value !== undefined) given.set(name, value);
  return given.toString();
};

/** A verifier with its challenge. */
export function proof(): { verifier: string; challenge: string } {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

/** The query with which a browser is sent to authorise, or another where something is given. */
export const authorizeQuery = ({ clientId, redirectUri }: Partner, challenge: string, other: Form = {}): string => {
  const asked = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: 'vehicles:read vehicles:write',
    state: 'xyz &=?/ü',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...other,
  };
  return `/v1/oauth/authorize?${formOf(asked)}`;
};

/** What the consent page is handed. */
export async function consentFor({ app, service }: Pick<Dealership, 'app' | 'service'>, query: string): Promise<Consent> {
  const { status, headers } = await say(app, { method: 'GET', url: query });
  assert.equal(status, 302);
  const consent = await readConsent(service, new URL(headers.location ?? '').searchParams.get('request') ?? '');
  assert.ok(consent, headers.location);
  return consent;
}

/** Acts as a member of staff who signed in to the DMS. */
export async function asUser({ ctx }: Dealership, staffId: string): Promise<Context> {
  const user = await ctx.db.selectFrom('staff').selectAll().where('id', '=', staffId).executeTakeFirstOrThrow();
  const caller = { ...ctx.caller, kind: 'user' as const, id: user.id, name: user.name, owner: { id: user.id, name: user.name } };
  return { ...ctx, caller: { ...caller, permissions: permissionsOf(user), branches: user.all_branches ? 'all' : user.branch_ids } };
}

/** An app on its way: a code, and what it takes to exchange it. */
export interface Flow {
  readonly partner: Partner;
  readonly verifier: string;
  readonly code: string;
}

interface Wanted {
  readonly partner?: Partner;
  readonly staffId?: string;
  readonly scopes?: readonly KnownScope[];
}

/** Walks to the code: the app asks, the member of staff approves. */
export async function approved(dealer: Dealership, { partner: given, staffId = dealer.owner.id, scopes }: Wanted = {}): Promise<Flow> {
  const app = given ?? (await partner(dealer.service));
  const { verifier, challenge } = proof();
  const consent = await consentFor(dealer, authorizeQuery(app, challenge, scopes && { scope: scopes.join(' ') }));
  const address = new URL(await approve(await asUser(dealer, staffId), consent, consent.scopes));
  const code = address.searchParams.get('code');
  assert.ok(code, address.href);
  return { partner: app, verifier, code };
}

export const exchangeCode = ({ app }: Pick<Dealership, 'app'>, { partner, code, verifier }: Flow, other: Form = {}): Promise<Said> =>
  postForm(app, '/v1/oauth/token', partner, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: partner.redirectUri,
    code_verifier: verifier,
    ...other,
  });

export const refresh = ({ app }: Pick<Dealership, 'app'>, partner: Partner, token: string, other: Form = {}): Promise<Said> =>
  postForm(app, '/v1/oauth/token', partner, { grant_type: 'refresh_token', refresh_token: token, ...other });

/** A connected app: its tokens. */
export interface Connected extends Flow {
  readonly access: string;
  readonly refreshToken: string;
}

/** Walks the whole way. */
export async function connected(dealer: Dealership, wanted: Wanted = {}): Promise<Connected> {
  const flow = await approved(dealer, wanted);
  const { status, body } = await exchangeCode(dealer, flow);
  assert.equal(status, 200, JSON.stringify(body));
  return { ...flow, access: body.access_token, refreshToken: body.refresh_token };
}
