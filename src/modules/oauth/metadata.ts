import type { Service } from '#platform/service.ts';

/** By what the answers of this server are known: its address, without a path. */
export const issuerOf = ({ baseUrl }: Service): string => new URL(baseUrl).origin;

/** What clients read to find out how to ask here (RFC 8414). Scopes are not listed: clients take a list for what to ask for. */
export function authorisationServer(service: Service): object {
  const { baseUrl } = service;
  const methods = ['client_secret_basic', 'client_secret_post'];
  return {
    issuer: issuerOf(service),
    authorization_endpoint: `${baseUrl}/v1/oauth/authorize`,
    token_endpoint: `${baseUrl}/v1/oauth/token`,
    revocation_endpoint: `${baseUrl}/v1/oauth/revoke`,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: methods,
    revocation_endpoint_auth_methods_supported: methods,
    authorization_response_iss_parameter_supported: true,
    service_documentation: `${baseUrl}/docs`,
  };
}
