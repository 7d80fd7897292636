import type { KnownScope } from '#modules/staff/contract.ts';
import type { Instant } from '#platform/dates.ts';
import { OAuthRefusal } from '#platform/errors.ts';
import type { tokenParameters } from './contract.ts';

// What the OAuth endpoints do not allow. Pure: what was sent and what is kept is given.

// ---- Asking for an authorisation ----

/** What `GET /v1/oauth/authorize` was sent, once the client and the address that leads back to it are known. */
export interface Asking {
  readonly response_type?: string;
  readonly scope?: string;
  readonly state?: string;
  readonly code_challenge?: string;
  readonly code_challenge_method?: string;
}

/** It goes to the DMS and back within addresses, so what counts is how long it is there. */
const longestState = 2048;

/** Whether a state can be told back to its app. */
export const isState = (state: string): boolean =>
  !/\p{Cc}/u.test(state) && String(new URLSearchParams({ '': state })).length - 1 <= longestState;

/** Everything that is wrong is told to the app, the first first. Returns the scopes that are asked for: all of the app's when none is named. */
export function scopesAskedFor(asking: Asking, problem: string | null, registered: readonly KnownScope[]): KnownScope[] {
  checkSent(problem);
  checkResponseType(asking);
  checkChallenge(asking);
  checkState(asking);
  return scopesAmong(asking.scope, registered, 'The app is not registered for one of the scopes.');
}

function checkResponseType({ response_type: type }: Asking): void {
  if (type === undefined) throw missing('response_type');
  if (type !== 'code') throw new OAuthRefusal('unsupported_response_type', 'The response_type is always code.');
}

function checkChallenge({ code_challenge: challenge, code_challenge_method: method }: Asking): void {
  if (challenge === undefined) throw missing('code_challenge');
  // Without a method it would be "plain".
  if (method !== 'S256') throw new OAuthRefusal('invalid_request', 'The code_challenge_method is always S256.');
  if (!/^[A-Za-z0-9_-]{43}$/.test(challenge))
    throw new OAuthRefusal('invalid_request', 'The code_challenge is not the base64url SHA-256 of a verifier.');
}

function checkState({ state = '' }: Asking): void {
  if (!isState(state))
    throw new OAuthRefusal(
      'invalid_request',
      `The state is longer than ${longestState} bytes as it stands in an address, or has control characters.`,
    );
}

/** Each once, in the order in which they were named; all there are when none is. */
export function scopesAmong(asked: string | undefined, allowed: readonly KnownScope[], otherwise: string): KnownScope[] {
  const named = namedIn(asked);
  if (named.length === 0) return [...allowed];
  const scopes = named.flatMap((name) => allowed.find((scope) => scope === name) ?? []);
  if (scopes.length < named.length) throw new OAuthRefusal('invalid_scope', otherwise);
  return scopes;
}

/** The scopes a text names. */
export const namedIn = (scope = ''): string[] => [...new Set(scope.split(' ').filter((name) => name !== ''))];

const missing = (parameter: string) => new OAuthRefusal('invalid_request', `The parameter ${parameter} is missing.`);

/** Where the browser goes on to: the address as it was registered, and what the app is told. */
export function addressWith(redirectUri: string, told: Readonly<Record<string, string | null>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(told)) if (value !== null) query.set(name, value);
  const joint = !redirectUri.includes('?') ? '?' : /[?&]$/.test(redirectUri) ? '' : '&';
  return `${redirectUri}${joint}${query}`;
}

// ---- Who calls ----

/** Parameters that are sent twice, or are no texts, are none of anybody's. */
export function checkSent(problem: string | null): void {
  if (problem !== null) throw new OAuthRefusal('invalid_request', problem);
}

/** How a client says who it is. */
export interface Credentials {
  readonly clientId: string;
  readonly secret: string;
}

interface Claimed {
  readonly authorization: string | null;
  readonly client_id?: string | undefined;
  readonly client_secret?: string | undefined;
}

/** By HTTP Basic or in the body, and not by both. Every client has a secret. */
export function credentialsIn({ authorization, client_id: clientId, client_secret: secret }: Claimed): Credentials {
  if (authorization === null) {
    if (clientId === undefined || secret === undefined) throw unknownClient();
    return { clientId, secret };
  }
  const basic = basicCredentials(authorization);
  if (!basic) throw unknownClient();
  if (secret !== undefined) throw new OAuthRefusal('invalid_request', 'The client authenticates itself in two ways.');
  if (clientId !== undefined && clientId !== basic.clientId)
    throw new OAuthRefusal('invalid_request', 'The client_id is not that of the Authorization header.');
  return basic;
}

export const unknownClient = () => new OAuthRefusal('invalid_client', 'The client is unknown, or its secret is wrong or missing.');

/** Both halves are form-encoded (RFC 6749, 2.3.1), which not every client does: what cannot be decoded is taken as it is. */
function basicCredentials(authorization: string): Credentials | null {
  const [, encoded] = /^basic +([A-Za-z0-9+/_-]+={0,2}) *$/i.exec(authorization) ?? [];
  if (encoded === undefined) return null;
  const text = Buffer.from(encoded, 'base64').toString();
  const colon = text.indexOf(':');
  return colon < 0 ? null : { clientId: formDecoded(text.slice(0, colon)), secret: formDecoded(text.slice(colon + 1)) };
}

function formDecoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

// ---- Exchanging ----

/** The parameters of a request for tokens, by what it presents. */
export type Presented =
  | { readonly kind: 'code'; readonly code: string; readonly redirectUri: string; readonly verifier: string }
  | { readonly kind: 'refresh'; readonly token: string; readonly scopes: readonly string[] | null };

type TokenParameter = (typeof tokenParameters)[number];

/** Reads what is presented: what is missing or malformed is told before anything is looked up. */
export function presentedIn(sent: Readonly<Partial<Record<TokenParameter, string>>>): Presented {
  const needed = (name: TokenParameter): string => {
    const value = sent[name];
    if (value === undefined) throw missing(name);
    return value;
  };
  const grantType = needed('grant_type');
  if (grantType === 'refresh_token') {
    const scopes = namedIn(sent.scope);
    return { kind: 'refresh', token: needed('refresh_token'), scopes: scopes.length > 0 ? scopes : null };
  }
  if (grantType !== 'authorization_code')
    throw new OAuthRefusal('unsupported_grant_type', 'The grant_type is authorization_code or refresh_token.');
  const presented = { code: needed('code'), redirectUri: needed('redirect_uri'), verifier: needed('code_verifier') };
  if (!/^[A-Za-z0-9._~-]{43,128}$/.test(presented.verifier))
    throw new OAuthRefusal('invalid_request', 'The code_verifier is not 43 to 128 letters, digits or one of - . _ ~.');
  return { kind: 'code', ...presented };
}

/** The token that is to be revoked. */
export function tokenIn({ token }: { readonly token?: string }): string {
  if (token === undefined) throw missing('token');
  return token;
}

/** Why a code or refresh token is no longer good, as it is kept. Of another app it is unknown. */
export interface Kept {
  readonly appId: string;
  readonly usedAt: Instant | null;
  readonly expired: boolean;
  readonly revoked: boolean;
}

/** A second use ends the authorisation, whatever else is wrong, and after the code or token has expired, too. */
export const isReuse = (kept: Kept | undefined, appId: string): kept is Kept =>
  kept !== undefined && kept.appId === appId && kept.usedAt !== null;

/** What is told of a refresh token that was not taken. Only a scope beyond the granted ones is told apart: the token can be used still. */
export function refusedRefresh(
  kept: (Kept & { readonly scopes: readonly string[] }) | undefined,
  appId: string,
  asked: readonly string[] | null,
) {
  const isAlive = kept !== undefined && kept.appId === appId && kept.usedAt === null && !kept.expired && !kept.revoked;
  if (isAlive && asked?.some((scope) => !kept.scopes.includes(scope)))
    return new OAuthRefusal('invalid_scope', 'One of the scopes was not granted.');
  return new OAuthRefusal(
    'invalid_grant',
    'The refresh token is unknown, expired, used or revoked, or the dealership may not use apps now.',
  );
}

export const refusedCode = () =>
  new OAuthRefusal('invalid_grant', 'The code is unknown, expired or used, or was issued for another redirect_uri or code_challenge.');
