import type { Operation } from '#platform/contract.ts';
import { envelope } from '#platform/http/serve.ts';
import { routes } from './catalogue.ts';
import type { JsonSchema, SchemaDeriver } from './json-schema.ts';
import { schemaDeriver } from './json-schema.ts';
import type { Content, OpenApiDocument, OperationObject, Parameter, ResponseObject } from './openapi-document.ts';
import { headers, headersNamed, idempotencyKey, rateLimits } from './openapi-headers.ts';
import { parametersOf } from './openapi-parameters.ts';
import { errorSchema, examples, refusals, sharedRefusals } from './openapi-refusals.ts';

/** The OpenAPI 3.1 document of every operation, derived from their declarations. */
export function openApi(baseUrl: string): OpenApiDocument {
  const deriver = schemaDeriver();
  const operations = routes.map(({ operation }) => operation);
  const paths: OpenApiDocument['paths'] = {};
  for (const operation of operations) {
    paths[operation.path] = { ...paths[operation.path], [operation.method.toLowerCase()]: operationObject(operation, deriver) };
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
    tags: [...new Set(operations.map(({ tag }) => tag))].map((name) => ({ name })),
    security: [{ apiKey: [] }],
    paths,
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key or OAuth access token: `Authorization: Bearer <key>`.' },
      },
      schemas: { ...deriver.components(), Error: errorSchema },
      headers,
      parameters: { [idempotencyKey.name]: idempotencyKey },
      responses: sharedRefusals(),
      examples: examples(operations, baseUrl),
    },
  };
}

/** The same as text, made once per address. */
export function openApiText(baseUrl: string): string {
  const known = texts.get(baseUrl);
  if (known !== undefined) return known;
  const text = `${JSON.stringify(openApi(baseUrl), null, 2)}\n`;
  texts.set(baseUrl, text);
  return text;
}

const texts = new Map<string, string>();

const conventions = [
  'One host serves every dealership; the key names it.',
  'Lists are ordered by `updated_at`, then `id`, and paged by cursor: `meta.next_cursor` leads to the next page, and `meta.resume_cursor` goes on later from where the list ended.',
  'A request is refused for what it does not know: unknown fields and unknown parameters answer 422. A response may gain fields at any time.',
  'Money goes in as an integer of minor units and comes out as `{amount, currency}`. Times are UTC to the second.',
  'In a change an absent field is left, `null` clears it, an array is replaced whole.',
  'A repeated POST with the same `Idempotency-Key` answers as it did the first time, for 24 hours.',
  'An unknown path answers 404 `not_found`, a method the path does not take 405 `method_not_allowed` with `Allow`, and bytes that are not HTTP 400 `bad_request`.',
].join('\n\n');

// ---- One operation ----

function operationObject(operation: Operation, deriver: SchemaDeriver): OperationObject {
  const { id, tag, summary, description, access, emits, method, body } = operation;
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description && { description }),
    // Alternatives: any one of the scopes is enough.
    security: access.scopes.length > 0 ? access.scopes.map((scope) => ({ apiKey: [scope] })) : [{ apiKey: [] }],
    'x-key-kinds': access.kinds,
    ...(emits.length > 0 && { 'x-events': emits }),
    parameters: [
      ...parametersOf(operation, deriver),
      ...(method === 'POST' ? [{ $ref: '#/components/parameters/Idempotency-Key' } as unknown as Parameter] : []),
    ],
    ...(body.type !== 'undefined' && { requestBody: requestBody(operation, deriver) }),
    responses: { ...successes(operation, deriver), ...refusals(operation) },
  };
}

function requestBody({ id, method, body }: Operation, deriver: SchemaDeriver) {
  const media = { schema: deriver.request(body.meta()?.id ? body : body.meta({ ...body.meta(), id: bodyName(id) })) };
  return {
    required: !body.safeParse(undefined).success,
    content: { 'application/json': media, ...(method === 'PATCH' && { 'application/merge-patch+json': media }) },
  };
}

/** `vehicles.create` → `VehiclesCreateBody`. */
const bodyName = (operationId: string) =>
  `${operationId.replaceAll(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase())}Body`;

function successes({ success, method }: Operation, deriver: SchemaDeriver): Record<string, ResponseObject> {
  const { status, data, shape, publishable, location, or } = success;
  const full = deriver.response(envelope(data, shape));
  const narrow = publishable && deriver.response(envelope(publishable, shape));
  const replayable = method === 'POST' ? (['Idempotent-Replayed'] as const) : [];
  const responses: Record<string, ResponseObject> = {};
  responses[status] = {
    description: narrow ? 'Success; publishable keys are shown the narrower form.' : 'Success.',
    headers: headersNamed('X-Request-Id', ...rateLimits, ...replayable, ...(location ? (['Location'] as const) : [])),
    content: json(narrow ? { anyOf: [full, narrow] } : full),
  };
  if (!or) return responses;
  const other = {
    description: or.description,
    headers: headersNamed('X-Request-Id', ...rateLimits, ...replayable),
    content: json(deriver.response(envelope(or.data))),
  };
  return { [or.status]: other, ...responses };
}

const json = (schema: JsonSchema): Content => ({ 'application/json': { schema } });
