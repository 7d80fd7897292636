import type { Operation } from '#platform/contract.ts';
import type { Code } from '#platform/errors.ts';
import { catalogue } from '#platform/errors.ts';
import type { JsonSchema } from '#platform/json-schema.ts';
import type { ResponseObject } from './openapi-document.ts';
import { headersNamed, rateLimits } from './openapi-headers.ts';
import { codes, everyRequest, refusalsOf } from './refusals.ts';

/** The refusals of an operation as responses, each with its codes. */
export function refusals(operation: Operation): Record<string, ResponseObject> {
  const responses: Record<string, ResponseObject> = {};
  for (const [status, met] of refusalsOf(operation)) {
    const name = shared.get(status);
    const asEverywhere = name && met.join() === everyRequestAt(status).join();
    responses[status] = asEverywhere ? { $ref: `#/components/responses/${name}` } : refused(status, met, operation.method === 'POST');
  }
  return responses;
}

/** The responses that operations refer to. */
export const sharedRefusals = (): Record<string, ResponseObject> =>
  Object.fromEntries([...shared].map(([status, name]) => [name, refused(status, everyRequestAt(status))]));

/** An example of every refusal the operations know. */
export function examples(operations: readonly Operation[], baseUrl: string): Record<string, unknown> {
  const met = new Set([...everyRequest, ...operations.flatMap((operation) => [...refusalsOf(operation).values()].flat())]);
  return Object.fromEntries(codes.filter((code) => met.has(code)).map((code) => [code, exampleOf(code, baseUrl)]));
}

/** The statuses at which most operations answer the same. */
const shared = new Map([
  [401, 'Unauthorized'],
  [429, 'TooManyRequests'],
  [500, 'InternalError'],
  [503, 'ServiceUnavailable'],
]);

const everyRequestAt = (status: number): Code[] => everyRequest.filter((code) => catalogue[code].status === status);

function refused(status: number, codes: readonly Code[], replayable = false): ResponseObject {
  const waits = status === 429 || status === 503 || codes.includes('stock_busy');
  const replayed = replayable && [403, 404, 409, 422].includes(status);
  return {
    description: codes.map((code) => `\`${code}\`: ${catalogue[code].message.replaceAll('<', '\\<')}`).join('\n\n'),
    'x-codes': codes,
    headers: headersNamed(
      'X-Request-Id',
      ...rateLimits,
      ...(status === 401 ? (['WWW-Authenticate'] as const) : []),
      ...(waits ? (['Retry-After'] as const) : []),
      ...(replayed ? (['Idempotent-Replayed'] as const) : []),
    ),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
      },
    },
  };
}

const exampleOf = (code: Code, baseUrl: string) => ({
  summary: catalogue[code].message,
  value: {
    success: false,
    message: catalogue[code].message,
    code,
    ...(code === 'validation_failed' && { errors: { asking_price: ['Must not be negative.'] } }),
    ...(code === 'insufficient_scope' && { required: { scope: 'vehicles:write' } }),
    doc_url: `${baseUrl}/docs/errors#${code}`,
    request_id: 'req_0198f3a2b7c14d5e8f60718293a4b5c6',
  },
});

/** The standard body of every refusal. */
export const errorSchema: JsonSchema = {
  type: 'object',
  properties: {
    success: { type: 'boolean', const: false },
    message: { type: 'string', description: 'For people; may change.' },
    code: { type: 'string', description: 'Stable: branch on this. More codes may come.' },
    request_id: { type: 'string', description: 'The same as `X-Request-Id`.' },
    errors: {
      type: 'object',
      additionalProperties: { type: 'array', items: { type: 'string' } },
      description: 'On 422: what is wrong, by field.',
    },
    required: {
      type: 'object',
      properties: Object.fromEntries(['scope', 'permission', 'plan', 'restriction'].map((name) => [name, { type: 'string' }])),
      description: 'On 403: what is missing.',
    },
    doc_url: { type: 'string', format: 'uri' },
  },
  required: ['success', 'message', 'code', 'request_id'],
};
