import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import express from 'express';
import { Passport } from 'passport';
import { Strategy } from 'passport-oauth2';
import type { PartnerApp } from '../../support/oauth-house.ts';
import { oauthHouse } from '../../support/oauth-house.ts';
import type { Client, Tokens } from './whole-flow.ts';
import { wholeFlow } from './whole-flow.ts';

const house = await oauthHouse();

/** A web application of a partner: `/connect` leads to the dealer's consent, `/callback` ends with the tokens. It keeps one visitor's session. */
async function written({ clientId, clientSecret, redirectUri, baseUrl }: PartnerApp): Promise<Client> {
  const where = { authorizationURL: `${baseUrl}/v1/oauth/authorize`, tokenURL: `${baseUrl}/v1/oauth/token`, callbackURL: redirectUri };
  const settings = { clientID: clientId, clientSecret, ...where, pkce: true, state: true };
  const strategy = new Strategy(settings, (access: string, refresh: string, { scope }: Granted, _profile: unknown, done: Done) =>
    done(null, { access, refresh, scopes: scope.split(' ') }),
  );
  const passport = new Passport().use(strategy);
  const session = {};
  const app = express()
    .use((request, _response, next) => {
      Object.assign(request, { session });
      next();
    })
    .get('/connect', (request, ...rest) =>
      passport.authenticate('oauth2', { session: false, scope: String(request.query.scope) })(request, ...rest),
    )
    .get('/callback', passport.authenticate('oauth2', { session: false }), (request, response) => void response.json(request.user))
    .use(
      (error: Thrown, _request: express.Request, response: express.Response, _next: unknown) =>
        void response.status(500).json({ error: error.code }),
    );
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => server.close());
  const own = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const library = (strategy as unknown as { _oauth2: Library })._oauth2;
  return {
    async authorise(scopes) {
      const sent = await fetch(`${own}/connect?${new URLSearchParams({ scope: scopes.join(' ') })}`, { redirect: 'manual' });
      return {
        url: sent.headers.get('location') ?? '',
        async complete(back) {
          const answer = await fetch(`${own}/callback${new URL(back).search}`);
          if (answer.status === 401) throw { error: 'access_denied' };
          const told = (await answer.json()) as Tokens;
          if (!answer.ok) throw told;
          return told;
        },
      };
    },
    refresh: ({ refresh }, scopes) =>
      new Promise((done, failed) => {
        const params = { grant_type: 'refresh_token', ...(scopes && { scope: scopes.join(' ') }) };
        library.getOAuthAccessToken(refresh, params, (error, access, next, { scope } = { scope: '' }) =>
          error ? failed(JSON.parse(error.data)) : done({ access, refresh: next, scopes: scope.split(' ') }),
        );
      }),
    // The library has no word for it.
    revoke: (token) =>
      fetch(`${baseUrl}/v1/oauth/revoke`, {
        method: 'POST',
        body: new URLSearchParams({ token, client_id: clientId, client_secret: clientSecret }),
      }),
    errorOf: (thrown) => (thrown as { error?: string }).error,
  };
}

type Granted = { scope: string };
type Done = (error: null, user: Tokens) => void;
type Thrown = Error & { code?: string };
type Heard = (error: { data: string } | null, access: string, refresh: string, results?: Granted) => void;
type Library = { getOAuthAccessToken(token: string, params: object, heard: Heard): void };

test('passport-oauth2 with express, PKCE and state goes through the whole flow', () => wholeFlow(house, written));
