import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import type { KnownScope } from '#modules/staff/contract.ts';
import type { Answer, Member, OAuthHouse, PartnerApp } from './oauth-house.ts';
import { walk } from './oauth-house.ts';

/** A token response as it came. */
export interface Answered {
  readonly status: number;
  readonly body: Record<string, string>;
}

/** An app that one member of staff has approved, and what it asks of the OAuth endpoints without any library. */
export interface Connection {
  readonly app: PartnerApp;
  readonly access: string;
  readonly refreshToken: string;
  readonly scope: string;
  /** The code it came from. */
  readonly code: string;
  /** Presents that code once more. */
  exchange(): Promise<Answered>;
  refresh(token: string, scope?: string): Promise<Answered>;
  revoke(token: string): Promise<Answered>;
}

/** Registers an app, has it approved and exchanges the code. */
export async function connect(
  house: OAuthHouse,
  scopes: readonly KnownScope[],
  member: Member = house.member,
  answer: Answer = {},
): Promise<Connection> {
  const app = await house.newApp({ name: `App ${randomBytes(4).toString('hex')}`, scopes });
  const verifier = randomBytes(48).toString('base64url');
  const code =
    new URL(await walk(house, authoriseAddress(app, verifier), member, answer)).searchParams.get('code') ?? assert.fail('No code came.');
  const exchange = () =>
    ask(app, 'token', { grant_type: 'authorization_code', code, redirect_uri: app.redirectUri, code_verifier: verifier });
  const { status, body } = await exchange();
  assert.equal(status, 200, JSON.stringify(body));
  const { access_token: access = '', refresh_token: refreshToken = '', scope = '' } = body;
  return {
    ...{ app, access, refreshToken, scope, code, exchange },
    refresh: (token, narrower) =>
      ask(app, 'token', { grant_type: 'refresh_token', refresh_token: token, ...(narrower && { scope: narrower }) }),
    revoke: (token) => ask(app, 'revoke', { token }),
  };
}

/** Where an app sends the browser: it asks for all its scopes. */
export function authoriseAddress({ clientId, redirectUri, baseUrl }: PartnerApp, verifier: string): string {
  const url = new URL('/v1/oauth/authorize', baseUrl);
  url.search = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    state: 'abc',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  }).toString();
  return url.href;
}

/** Asks an OAuth endpoint as the app. */
export async function ask({ baseUrl, clientId, clientSecret }: PartnerApp, path: string, body: Record<string, string>): Promise<Answered> {
  const authorization = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
  const response = await fetch(`${baseUrl}/v1/oauth/${path}`, {
    method: 'POST',
    headers: { authorization },
    body: new URLSearchParams(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, string> };
}
