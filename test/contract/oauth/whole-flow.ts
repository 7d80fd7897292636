import assert from 'node:assert/strict';
import type { KnownScope } from '#modules/staff/contract.ts';
import { speak } from '../../support/api.ts';
import type { OAuthHouse, PartnerApp } from '../../support/oauth-house.ts';
import { walk } from '../../support/oauth-house.ts';

/** What a partner’s program keeps of a token response. */
export interface Tokens {
  readonly access: string;
  readonly refresh: string;
  readonly scopes: readonly string[];
}

/** A partner’s program, written with one client library. */
export interface Client {
  /** An address to send the browser to, and what to make of the one it comes back with: tokens, or the library's complaint. */
  authorise(scopes: readonly KnownScope[]): Promise<{ url: string; complete(back: string): Promise<Tokens> }>;
  refresh(tokens: Tokens, scopes?: readonly KnownScope[]): Promise<Tokens>;
  revoke(token: string, kind: 'access_token' | 'refresh_token'): Promise<unknown>;
  /** The `error` of what the library threw. */
  errorOf(thrown: unknown): string | undefined;
}

const asked = ['vehicles:read', 'vehicles:write', 'customers:read'] as const;
const car = { condition: 'USED', make: 'Ford', model: 'Fiesta' };

/** Walks a partner’s program through everything the specification promises it, with the app as it is registered and with a wrong secret. */
export async function wholeFlow(house: OAuthHouse, write: (app: PartnerApp) => Client | Promise<Client>): Promise<void> {
  const { app, newApp, member } = house;
  const registered = await newApp({ scopes: asked });
  const partner = await write(registered);
  const api = (token: string) => speak(app, token);
  const refused = (work: Promise<unknown>, error: string) =>
    assert.rejects(work, (thrown) => {
      assert.equal(partner.errorOf(thrown), error, String(thrown));
      return true;
    });
  const connected = async (approved: readonly string[] = asked) => {
    const { url, complete } = await partner.authorise(asked);
    return complete(await walk(house, url, member, { scopes: approved }));
  };

  // Authorise, consent, code, token.
  const first = await connected();
  assert.match(first.access, /^svc_oat_[0-9A-Za-z]{38}$/);
  assert.match(first.refresh, /^svc_ort_[0-9A-Za-z]{38}$/);
  assert.deepEqual(first.scopes, asked);

  // It acts as who approved.
  const me = await api(first.access).get('/v1/me').succeeds();
  assert.deepEqual([me.app.name, me.owner.id, me.dealer_code], [registered.name, member.id, member.dealerCode]);
  const { id } = await api(first.access).post('/v1/vehicles', car).succeeds(201);
  await api(first.access).get(`/v1/vehicles/${id}`).succeeds();
  await api(first.access).get('/v1/enquiries').refuses(403, 'insufficient_scope');

  // A refresh replaces the refresh token and lets the access token live.
  const second = await partner.refresh(first);
  assert.notEqual(second.refresh, first.refresh);
  assert.notEqual(second.access, first.access);
  for (const { access } of [first, second]) await api(access).get('/v1/vehicles').succeeds();

  // A narrower one is for that access token alone; what was never granted is not to be had.
  const narrow = await partner.refresh(second, ['vehicles:read']);
  assert.deepEqual(narrow.scopes, ['vehicles:read']);
  await api(narrow.access).get('/v1/vehicles').succeeds();
  await api(narrow.access).post('/v1/vehicles', car).refuses(403, 'insufficient_scope');
  await refused(partner.refresh(narrow, ['vehicles:read', 'enquiries:read']), 'invalid_scope');
  const full = await partner.refresh(narrow);
  assert.deepEqual(full.scopes, asked);
  await api(full.access).post('/v1/vehicles', car).succeeds(201);

  // An access token is revoked by itself.
  await partner.revoke(second.access, 'access_token');
  await api(second.access).get('/v1/me').refuses(401, 'api_key_revoked');
  await api(full.access).get('/v1/me').succeeds();

  // A refresh token that comes a second time ends everything.
  await refused(partner.refresh(first), 'invalid_grant');
  for (const { access } of [first, narrow, full]) await api(access).get('/v1/me').refuses(401, 'api_key_revoked');
  await refused(partner.refresh(full), 'invalid_grant');

  // So does revoking the refresh token, of an authorisation for less than was asked for.
  const again = await connected(['vehicles:read']);
  assert.deepEqual(again.scopes, ['vehicles:read']);
  await partner.revoke(again.refresh, 'refresh_token');
  await api(again.access).get('/v1/me').refuses(401, 'api_key_revoked');
  await refused(partner.refresh(again), 'invalid_grant');
  await partner.revoke(again.refresh, 'refresh_token');

  // A member who declines, and a program that does not know its secret.
  const declined = await partner.authorise(asked);
  await refused(declined.complete(await walk(house, declined.url, member, { decline: true })), 'access_denied');
  const stranger = await write({ ...registered, clientSecret: `${registered.clientSecret}x` });
  const { url, complete } = await stranger.authorise(asked);
  await refused(complete(await walk(house, url, member)), 'invalid_client');
}
