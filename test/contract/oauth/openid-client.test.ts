import { test } from 'node:test';
import * as client from 'openid-client';
import type { PartnerApp } from '../../support/oauth-house.ts';
import { oauthHouse } from '../../support/oauth-house.ts';
import type { Client, Tokens } from './whole-flow.ts';
import { wholeFlow } from './whole-flow.ts';

const house = await oauthHouse();

async function written(
  { clientId, clientSecret, redirectUri, baseUrl }: PartnerApp,
  authenticate: typeof client.ClientSecretBasic,
): Promise<Client> {
  const config = await client.discovery(new URL(baseUrl), clientId, undefined, authenticate(clientSecret), {
    algorithm: 'oauth2',
    execute: [client.allowInsecureRequests],
  });

  return {
    async authorise(scopes) {
      const pkceCodeVerifier = client.randomPKCECodeVerifier();
      const expectedState = client.randomState();
      const url = client.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: scopes.join(' '),
        code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
        code_challenge_method: 'S256',
        state: expectedState,
      });
      return {
        url: url.href,
        complete: async (back) => tokensOf(await client.authorizationCodeGrant(config, new URL(back), { pkceCodeVerifier, expectedState })),
      };
    },
    refresh: async ({ refresh }, scopes) =>
      tokensOf(await client.refreshTokenGrant(config, refresh, scopes && { scope: scopes.join(' ') })),
    revoke: (token, kind) => client.tokenRevocation(config, token, { token_type_hint: kind }),
    errorOf(thrown) {
      if (thrown instanceof client.AuthorizationResponseError || thrown instanceof client.ResponseBodyError) return thrown.error;
      return thrown instanceof client.WWWAuthenticateChallengeError && thrown.status === 401 ? 'invalid_client' : undefined;
    },
  };
}

const tokensOf = ({ access_token, refresh_token = '', scope = '' }: client.TokenEndpointResponse): Tokens => ({
  access: access_token,
  refresh: refresh_token,
  scopes: scope.split(' '),
});

test('openid-client with HTTP Basic goes through the whole flow', () => wholeFlow(house, (app) => written(app, client.ClientSecretBasic)));

test('openid-client with the secret in the body goes through the whole flow', () =>
  wholeFlow(house, (app) => written(app, client.ClientSecretPost)));
