import { test } from 'node:test';
import * as oauth from 'oauth4webapi';
import type { PartnerApp } from '../../support/oauth-house.ts';
import { oauthHouse } from '../../support/oauth-house.ts';
import type { Client, Tokens } from './whole-flow.ts';
import { wholeFlow } from './whole-flow.ts';

const local = { [oauth.allowInsecureRequests]: true };
const house = await oauthHouse();

/** Discovers the server by RFC 8414, sends PKCE and checks `iss` and the challenge of a refused client. */
async function written({ clientId, redirectUri, baseUrl }: PartnerApp, clientAuth: oauth.ClientAuth): Promise<Client> {
  const issuer = new URL(baseUrl);
  const server = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, { ...local, algorithm: 'oauth2' }));
  const client = { client_id: clientId };

  return {
    async authorise(scopes) {
      const verifier = oauth.generateRandomCodeVerifier();
      const state = oauth.generateRandomState();
      const url = new URL(server.authorization_endpoint!);
      url.search = new URLSearchParams({
        response_type: 'code',
        client_id: clientId,
        redirect_uri: redirectUri,
        scope: scopes.join(' '),
        state,
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      }).toString();
      return {
        url: url.href,
        async complete(back) {
          const params = oauth.validateAuthResponse(server, client, new URL(back), state);
          const answer = await oauth.authorizationCodeGrantRequest(server, client, clientAuth, params, redirectUri, verifier, local);
          return tokensOf(await oauth.processAuthorizationCodeResponse(server, client, answer));
        },
      };
    },
    async refresh({ refresh }, scopes) {
      const more = scopes && { additionalParameters: { scope: scopes.join(' ') } };
      const answer = await oauth.refreshTokenGrantRequest(server, client, clientAuth, refresh, { ...local, ...more });
      return tokensOf(await oauth.processRefreshTokenResponse(server, client, answer));
    },
    async revoke(token, kind) {
      const more = { additionalParameters: { token_type_hint: kind } };
      await oauth.processRevocationResponse(await oauth.revocationRequest(server, client, clientAuth, token, { ...local, ...more }));
    },
    errorOf(thrown) {
      if (thrown instanceof oauth.AuthorizationResponseError || thrown instanceof oauth.ResponseBodyError) return thrown.error;
      const [challenge] = thrown instanceof oauth.WWWAuthenticateChallengeError ? thrown.cause : [];
      return challenge?.scheme === 'basic' ? 'invalid_client' : undefined;
    },
  };
}

const tokensOf = ({ access_token, refresh_token = '', scope = '' }: oauth.TokenEndpointResponse): Tokens => ({
  access: access_token,
  refresh: refresh_token,
  scopes: scope.split(' '),
});

test('oauth4webapi with HTTP Basic goes through the whole flow', () =>
  wholeFlow(house, (app) => written(app, oauth.ClientSecretBasic(app.clientSecret))));

test('oauth4webapi with the secret in the body goes through the whole flow', () =>
  wholeFlow(house, (app) => written(app, oauth.ClientSecretPost(app.clientSecret))));
