/** The headers of responses. */
export const headers = {
  'X-Request-Id': word('Names this request.'),
  'X-RateLimit-Limit': whole('Requests a minute.'),
  'X-RateLimit-Remaining': whole('What is left of them.'),
  'X-RateLimit-Reset': whole('Seconds until they are all there again.'),
  'Retry-After': whole('Seconds to wait before the next attempt.'),
  'Idempotent-Replayed': word('`true` when this is the stored answer to an earlier request with the same `Idempotency-Key`.'),
  Location: word('The path of what was created.'),
  'WWW-Authenticate': word('The challenge, as RFC 6750 has it.'),
};

export type HeaderName = keyof typeof headers;

export const rateLimits = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'] as const;

export const headersNamed = (...names: readonly HeaderName[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** The one header parameter, of every POST. */
export const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'Makes the request safe to repeat: 1 to 255 printable ASCII characters.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[ -~]*$' },
};

function whole(description: string) {
  return { description, schema: { type: 'integer' } };
}

function word(description: string) {
  return { description, schema: { type: 'string' } };
}
