import type { Endpoint } from '#platform/http/oauth.ts';
import { endpoint } from '#platform/http/oauth.ts';
import { authorise } from './authorise.ts';
import { authorizeParameters, revokeParameters, tokenParameters } from './contract.ts';
import { strangerPage } from './page.ts';
import { revoke } from './revoke.ts';
import { exchange } from './token.ts';

export const oauthEndpoints: readonly Endpoint[] = [
  endpoint({
    id: 'oauth.authorize',
    method: 'GET',
    path: '/v1/oauth/authorize',
    parameters: authorizeParameters,
    async answer(service, call) {
      const leadsTo = await authorise(service, call);
      return leadsTo === null ? { status: 400, page: strangerPage } : { leadsTo };
    },
  }),
  endpoint({
    id: 'oauth.token',
    method: 'POST',
    path: '/v1/oauth/token',
    parameters: tokenParameters,
    answer: async (service, call) => ({ json: await exchange(service, call) }),
  }),
  endpoint({
    id: 'oauth.revoke',
    method: 'POST',
    path: '/v1/oauth/revoke',
    parameters: revokeParameters,
    answer: async (service, call) => ({ json: await revoke(service, call) }),
  }),
];
