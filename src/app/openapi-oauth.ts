import type { z } from 'zod';
import { oauthFailure, revokeRequest, tokenRequest, tokenResponse } from '#modules/oauth/contract.ts';
import type { SchemaDeriver } from '#platform/json-schema.ts';
import type { Content, OpenApiDocument, OperationObject, Parameter, ResponseObject } from './openapi-document.ts';
import { headersNamed } from './openapi-headers.ts';

/** What apps ask without a key, beside the operations. */
export const oauthPaths = (deriver: SchemaDeriver): OpenApiDocument['paths'] => ({
  '/v1/oauth/authorize': { get: authorize(deriver) },
  '/v1/oauth/token': { post: token(deriver) },
  '/v1/oauth/revoke': { post: revoke(deriver) },
});

export const oauthTag = {
  name: 'OAuth',
  description: 'How partner apps come to access tokens: the authorisation code flow of RFC 6749 with PKCE (S256), and RFC 7009.',
};

/** How an app authenticates itself where it does not in the body. */
export const clientScheme = { type: 'http', scheme: 'basic', description: 'The `client_id` and `client_secret` of a registered app.' };

const authorize = (deriver: SchemaDeriver): OperationObject => ({
  operationId: 'oauth.authorize',
  tags: [oauthTag.name],
  summary: 'Ask a member of staff for an authorisation',
  description: [
    'Opened in a browser. It leads to the DMS, where a member of staff signs in and approves or declines, and from there back to `redirect_uri` with `code`, `state` and `iss`.',
    'What is wrong is told to `redirect_uri` with `error`, `error_description`, `state` and `iss`: `invalid_request`, `invalid_scope`, `unsupported_response_type`, or `access_denied` when it was declined, nobody may approve it, or the plan has no apps.',
    'Parameters that are not listed are ignored; one that is sent twice is an `invalid_request`.',
  ].join('\n\n'),
  security: [],
  parameters: [
    query('response_type', { type: 'string', const: 'code' }),
    query('client_id', text),
    query('redirect_uri', text, 'Letter by letter one of those the app is registered with.'),
    query('scope', text, 'Scopes the app is registered for, separated by spaces; all of them unless given.', false),
    query('state', { ...text, maxLength: 2048 }, 'Comes back as it was sent.', false),
    query(
      'code_challenge',
      { ...text, pattern: '^[A-Za-z0-9_-]{43}$' },
      'The SHA-256 of a verifier of 43 to 128 characters, in base64url.',
    ),
    query('code_challenge_method', { type: 'string', const: 'S256' }),
  ],
  responses: {
    302: { description: 'To the consent of the dealership, or back to the app.', headers: headersNamed('X-Request-Id', 'Location') },
    400: {
      description: 'A page for whoever sits before the browser: the client is unknown, or the address is none of its.',
      headers: headersNamed('X-Request-Id'),
      content: { 'text/html': { schema: text } },
    },
    ...tooMany(deriver),
  },
});

const token = (deriver: SchemaDeriver): OperationObject => ({
  operationId: 'oauth.token',
  tags: [oauthTag.name],
  summary: 'Exchange a code or a refresh token for tokens',
  description: [
    'Each code and refresh token is accepted once. One that is presented a second time ends the authorisation and every token it issued, so two parts of an app must not refresh at the same time.',
    'On the free plan, and while who approved is not active, a refresh is an `invalid_grant` and does not use the token up.',
  ].join('\n\n'),
  security: [{ client: [] }, {}],
  parameters: [],
  requestBody: body(deriver, tokenRequest, { grant_type: 'refresh_token', refresh_token: `svc_ort_${shown}` }),
  responses: {
    200: success(deriver, tokenResponse, {
      access_token: `svc_oat_${shown}`,
      token_type: 'Bearer',
      expires_in: 3600,
      refresh_token: `svc_ort_${shown}`,
      scope: 'vehicles:read vehicles:write',
    }),
    400: failure(deriver, '`invalid_request`, `invalid_grant`, `invalid_scope` or `unsupported_grant_type`.', 'invalid_grant'),
    ...refusedClients(deriver),
  },
});

const revoke = (deriver: SchemaDeriver): OperationObject => ({
  operationId: 'oauth.revoke',
  tags: [oauthTag.name],
  summary: 'Revoke a token',
  description:
    'An access token ends alone; with a refresh token the authorisation ends, and every token it issued. The answer does not tell whether there was such a token.',
  security: [{ client: [] }, {}],
  parameters: [],
  requestBody: body(deriver, revokeRequest, { token: `svc_ort_${shown}` }),
  responses: {
    200: {
      description: 'Success.',
      headers: headersNamed('X-Request-Id'),
      content: { 'application/json': { schema: { type: 'object', maxProperties: 0 }, example: {} } },
    },
    400: failure(deriver, '`invalid_request`.', 'invalid_request'),
    ...refusedClients(deriver),
  },
});

const shown = '…';
const text = { type: 'string' } as const;

const query = (name: string, schema: Parameter['schema'], description?: string, required = true): Parameter => ({
  ...{ name, in: 'query', required, schema },
  ...(description && { description }),
});

function body(deriver: SchemaDeriver, schema: z.ZodType, example: object) {
  const media = { schema: deriver.request(schema), example };
  const content: Content = { 'application/x-www-form-urlencoded': media, 'application/json': media };
  return { required: true, content };
}

const success = (deriver: SchemaDeriver, schema: z.ZodType, example: object): ResponseObject => ({
  description: 'Success.',
  headers: headersNamed('X-Request-Id'),
  content: { 'application/json': { schema: deriver.response(schema), example } },
});

const failure = (deriver: SchemaDeriver, description: string, error: string): ResponseObject => ({
  description,
  headers: headersNamed('X-Request-Id'),
  content: {
    'application/json': { schema: deriver.response(oauthFailure), example: { error, error_description: 'What is wrong, in words.' } },
  },
});

const refusedClients = (deriver: SchemaDeriver): Record<string, ResponseObject> => ({
  401: {
    ...failure(deriver, '`invalid_client`.', 'invalid_client'),
    headers: headersNamed('X-Request-Id', 'WWW-Authenticate'),
  },
  ...tooMany(deriver),
});

/** Of both forms at once. */
const tooMany = (deriver: SchemaDeriver): Record<string, ResponseObject> => ({
  429: {
    ...failure(
      deriver,
      'More than 60 calls a minute from one address. The members of a standard refusal are there, too: `code` is `rate_limited`.',
      'temporarily_unavailable',
    ),
    headers: headersNamed('X-Request-Id', 'Retry-After'),
  },
});
