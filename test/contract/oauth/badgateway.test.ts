import { test } from 'node:test';
import type { OAuth2Token } from '@badgateway/oauth2-client';
import { generateCodeVerifier, OAuth2Client, OAuth2Error, OAuth2HttpError } from '@badgateway/oauth2-client';
import type { PartnerApp } from '../../support/oauth-house.ts';
import { oauthHouse } from '../../support/oauth-house.ts';
import type { Client, Tokens } from './whole-flow.ts';
import { wholeFlow } from './whole-flow.ts';

type ClientSettings = ConstructorParameters<typeof OAuth2Client>[0];

const house = await oauthHouse();

function written({ clientId, clientSecret, redirectUri, baseUrl }: PartnerApp, settings: Partial<ClientSettings>): Client {
  const client = new OAuth2Client({ server: `${baseUrl}/`, clientId, clientSecret, ...settings });
  const kept = (access: string, refresh: string): OAuth2Token => ({ accessToken: access, refreshToken: refresh, expiresAt: null });

  return {
    async authorise(scopes) {
      const codeVerifier = await generateCodeVerifier();
      const once = { redirectUri, state: 'abc', codeVerifier };
      return {
        url: await client.authorizationCode.getAuthorizeUri({ ...once, scope: [...scopes] }),
        complete: async (back) => tokensOf(await client.authorizationCode.getTokenFromCodeRedirect(back, once)),
      };
    },
    refresh: async ({ access, refresh }, scopes) =>
      tokensOf(await client.refreshToken(kept(access, refresh), scopes && { scope: [...scopes] })),
    revoke: (token, kind) => client.revoke(kept(token, token), kind),
    errorOf: (thrown) =>
      thrown instanceof OAuth2Error || thrown instanceof OAuth2HttpError ? (thrown.oauth2Code ?? undefined) : undefined,
  };
}

const tokensOf = ({ accessToken, refreshToken, scope = [] }: OAuth2Token): Tokens => ({
  access: accessToken,
  refresh: refreshToken ?? '',
  scopes: scope,
});

const endpoints = {
  authorizationEndpoint: '/v1/oauth/authorize',
  tokenEndpoint: '/v1/oauth/token',
  revocationEndpoint: '/v1/oauth/revoke',
};

const ways: [string, Partial<ClientSettings>][] = [
  ['discovered', {}],
  ['client_secret_basic', { ...endpoints, authenticationMethod: 'client_secret_basic' }],
  ['client_secret_basic_interop', { ...endpoints, authenticationMethod: 'client_secret_basic_interop' }],
  ['client_secret_post', { ...endpoints, authenticationMethod: 'client_secret_post' }],
];
for (const [name, settings] of ways) {
  test(`@badgateway/oauth2-client goes through the whole flow: ${name}`, () => wholeFlow(house, (app) => written(app, { ...settings })));
}
