import type { Operation } from '#platform/contract.ts';
import { jsonTypes } from '#platform/contract.ts';
import { envelope } from '#platform/http/serve.ts';
import type { JsonSchema, SchemaDeriver } from '#platform/json-schema.ts';
import { schemaDeriver } from '#platform/json-schema.ts';
import { sendMessage } from '#platform/mcp/operation.ts';
import { operations } from './catalogue.ts';
import type { Examples, Shown } from './examples.ts';
import { readExamples } from './examples.ts';
import type { Content, OpenApiDocument, OperationObject, Parameter, ResponseObject } from './openapi-document.ts';
import { headers, headersNamed, idempotencyKey, rateLimits } from './openapi-headers.ts';
import { mcpResponses } from './openapi-mcp.ts';
import { clientScheme, oauthPaths, oauthTag } from './openapi-oauth.ts';
import { parametersOf } from './openapi-parameters.ts';
import { errorSchema, examples, refusals, sharedRefusals } from './openapi-refusals.ts';

/** The OpenAPI 3.1 document of every operation, derived from their declarations, with what the demo dealer answered as examples. */
export function openApi(baseUrl: string, shown: Examples = readExamples(baseUrl)): OpenApiDocument {
  const deriver = schemaDeriver();
  const paths: OpenApiDocument['paths'] = {};
  for (const operation of operations) {
    paths[operation.path] = { ...paths[operation.path], [operation.method.toLowerCase()]: operationObject(operation, deriver, shown) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Forecourt API',
      version: '1',
      description: conventions,
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl }],
    tags: [...tagsOf(operations), oauthTag],
    security: [{ apiKey: [] }],
    paths: { ...paths, ...oauthPaths(deriver) },
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key or OAuth access token: `Authorization: Bearer <key>`.' },
        client: clientScheme,
      },
      schemas: { ...deriver.components(), Error: errorSchema },
      headers,
      parameters: { [idempotencyKey.name]: idempotencyKey },
      responses: sharedRefusals(),
      examples: examples(operations, baseUrl),
    },
  };
}

/** The document as text. */
export const textOf = (document: OpenApiDocument): string => `${JSON.stringify(document, null, 2)}\n`;

/** The text as it is served, made once per address. */
export function openApiText(baseUrl: string): string {
  const known = texts.get(baseUrl);
  if (known !== undefined) return known;
  const text = textOf(openApi(baseUrl));
  texts.set(baseUrl, text);
  return text;
}

const texts = new Map<string, string>();

const conventions = [
  'One host serves every dealership; the key names it.',
  'A secret key belongs on a server: with an `Origin` header, which browsers send with every write, it is refused. From a page, the reference included, a secret key can read alone.',
  'Lists are ordered by `updated_at`, then `id` – events by `created_at`, then `sequence` – and paged by cursor: `meta.next_cursor` leads to the next page, and `meta.resume_cursor` goes on later from where the list ended.',
  'A request is refused for what it does not know: unknown fields and unknown parameters answer 422. A response may gain fields at any time.',
  'Text is trimmed. One in which nothing can be seen, or that holds what cannot be stored (U+0000, half a surrogate pair), answers 422.',
  'Money goes in as an integer of minor units and comes out as `{amount, currency}`. Times are UTC to the second.',
  'In a change an absent field is left, `null` clears it, an array is replaced whole.',
  'A repeated POST with the same `Idempotency-Key` answers as it did the first time, for 24 hours.',
  'An unknown path answers 404 `not_found`, a method the path does not take 405 `method_not_allowed` with `Allow`, and what is not HTTP 400 `bad_request`, a request line or headers beyond 16 KiB the same with 431.',
].join('\n\n');

/** A tag says what its operations do. */
const tagsOf = (operations: readonly Operation[]) =>
  [...new Set(operations.map(({ tag }) => tag))].map((name) => ({
    name,
    description: operations.flatMap(({ tag, summary }) => (tag === name ? [`${summary}.`] : [])).join(' '),
  }));

// ---- One operation ----

function operationObject(operation: Operation, deriver: SchemaDeriver, shown: Examples): OperationObject {
  const { id, tag, summary, access, emits, method, body } = operation;
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: describe(operation),
    // Alternatives: any one of the scopes is enough.
    security: access.scopes.length > 0 ? access.scopes.map((scope) => ({ apiKey: [scope] })) : [{ apiKey: [] }],
    'x-key-kinds': access.kinds,
    ...(emits.length > 0 && { 'x-events': emits }),
    parameters: [
      ...parametersOf(operation, deriver),
      ...(method === 'POST' ? [{ $ref: '#/components/parameters/Idempotency-Key' } as unknown as Parameter] : []),
    ],
    ...(body.type !== 'undefined' && { requestBody: requestBody(operation, deriver, shown.get(id)) }),
    responses: { ...successes(operation, deriver, shown), ...(operation === sendMessage && mcpResponses(deriver)), ...refusals(operation) },
  };
}

/** What it does, and who may ask it. */
function describe({ description, access: { scopes, kinds } }: Operation): string {
  const needed = scopes.length > 0 ? `Scope: ${scopes.map((scope) => `\`${scope}\``).join(' or ')}.` : 'Any scopes.';
  const asked = `${needed} Keys: ${kinds.join(', ')}.`;
  return description ? `${description}\n\n${asked}` : asked;
}

function requestBody({ id, body, multipart }: Operation, deriver: SchemaDeriver, shown: Shown | undefined) {
  const schema = deriver.request(body.meta()?.id ? body : body.meta({ ...body.meta(), id: bodyName(id) }));
  const media = { schema, ...(shown && { example: shown.request.body }) };
  const types = multipart ? ['multipart/form-data'] : jsonTypes;
  const content: Content = Object.fromEntries(types.map((type) => [type, media]));
  return { required: !body.safeParse(undefined).success, content };
}

/** `vehicles.create` → `VehiclesCreateBody`. */
const bodyName = (operationId: string) =>
  `${operationId.replaceAll(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase())}Body`;

function successes({ id, success, method }: Operation, deriver: SchemaDeriver, shown: Examples): Record<string, ResponseObject> {
  const { status, data, shape, publishable, location, or } = success;
  const full = deriver.response(envelope(data, shape));
  const narrow = publishable && deriver.response(envelope(publishable, shape));
  const replayable = method === 'POST' ? (['Idempotent-Replayed'] as const) : [];
  // A refusal is a success of the protocol that carries it, and may end by itself.
  const told = location ? (['Location'] as const) : shape === 'bare' ? (['Retry-After'] as const) : [];
  const responses: Record<string, ResponseObject> = {};
  responses[status] = {
    description: narrow ? 'Success; publishable keys are shown the narrower form.' : 'Success.',
    headers: headersNamed('X-Request-Id', ...rateLimits, ...replayable, ...told),
    content: json(narrow ? { anyOf: [full, narrow] } : full, shown.get(id)?.response.body),
  };
  if (!or) return responses;
  const other = {
    description: or.description,
    headers: headersNamed('X-Request-Id', ...rateLimits, ...replayable),
    content: json(deriver.response(envelope(or.data)), shown.get(`${id}.or`)?.response.body),
  };
  return { [or.status]: other, ...responses };
}

const json = (schema: JsonSchema, example?: unknown): Content => ({
  'application/json': { schema, ...(example !== undefined && { example }) },
});
