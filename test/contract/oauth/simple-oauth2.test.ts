import { createHash, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import type { AccessToken, ModuleOptions } from 'simple-oauth2';
import { AuthorizationCode } from 'simple-oauth2';
import type { PartnerApp } from '../../support/oauth-house.ts';
import { oauthHouse } from '../../support/oauth-house.ts';
import type { Client, Tokens } from './whole-flow.ts';
import { wholeFlow } from './whole-flow.ts';

type Mode = NonNullable<ModuleOptions['options']>;

const house = await oauthHouse();

/** The library knows neither PKCE nor `iss`: a program adds the parameters of the one and reads its own redirect. */
function written({ clientId, clientSecret, redirectUri, baseUrl }: PartnerApp, options: Mode): Client {
  const library = new AuthorizationCode({
    client: { id: clientId, secret: clientSecret },
    auth: { tokenHost: baseUrl, authorizePath: '/v1/oauth/authorize', tokenPath: '/v1/oauth/token', revokePath: '/v1/oauth/revoke' },
    options,
  });
  const kept = ({ access, refresh }: Partial<Tokens>) => library.createToken({ access_token: access, refresh_token: refresh });

  return {
    async authorise(scopes) {
      const verifier = randomBytes(48).toString('base64url');
      const challenge = createHash('sha256').update(verifier).digest('base64url');
      const proof = { code_challenge: challenge, code_challenge_method: 'S256' };
      const url = library.authorizeURL({ redirect_uri: redirectUri, scope: [...scopes], state: 'abc', ...proof });
      return {
        url,
        async complete(back) {
          const { error, code = '' } = Object.fromEntries(new URL(back).searchParams);
          if (error) throw Object.assign(new Error(error), { data: { payload: { error } } });
          const params = { code, redirect_uri: redirectUri, code_verifier: verifier };
          return tokensOf(await library.getToken(params));
        },
      };
    },
    refresh: async (tokens, scopes) => tokensOf(await kept(tokens).refresh(scopes && { scope: [...scopes] })),
    revoke: (token, kind) => kept({ access: token, refresh: token }).revoke(kind),
    errorOf: (thrown) => (thrown as { data?: { payload?: { error?: string } } }).data?.payload?.error,
  };
}

const tokensOf = ({ token }: AccessToken): Tokens => {
  const { access_token: access, refresh_token: refresh, scope } = token as Record<string, string>;
  return { access: access ?? '', refresh: refresh ?? '', scopes: scope?.split(' ') ?? [] };
};

for (const authorizationMethod of ['header', 'body'] as const) {
  for (const bodyFormat of ['form', 'json'] as const) {
    for (const credentialsEncodingMode of ['strict', 'loose'] as const) {
      const mode = { authorizationMethod, bodyFormat, credentialsEncodingMode };
      test(`simple-oauth2 goes through the whole flow: ${Object.values(mode).join(', ')}`, () =>
        wholeFlow(house, (app) => written(app, mode)));
    }
  }
}
