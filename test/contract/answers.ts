import type { Document } from './documents.ts';
import { contractOf, follow } from './documents.ts';
import { wrongWith, wrongWithText } from './judge.ts';

/** An answer as it came. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** All that is wrong with an answer to an operation: its status, its headers, its type, its body, its code. */
export function wrongWithAnswer(operation: Document, { status, headers, body: text }: Answer): string[] {
  const response = follow(operation?.responses[status], document);
  if (!response) return ['an undocumented status'];
  const body = parsed(text);
  return [
    ...wrongWithHeaders(response.headers, headers, status, body?.code),
    ...wrongWithBody(response, String(headers['content-type']), body),
  ];
}

const document = contractOf();

function parsed(text: string): Document {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function* wrongWithHeaders(documented: Document, headers: Answer['headers'], status: number, code: string | undefined): Iterable<string> {
  for (const [name, header] of Object.entries<Document>(documented)) {
    const value = headers[name.toLowerCase()];
    if (value === undefined && !mayLack(name, status, code)) yield `without ${name}`;
    const wrong = value === undefined ? null : wrongWithText(follow(header, document).schema, String(value));
    if (wrong) yield `${name}: ${wrong}`;
  }
  const known = new Set([...Object.keys(documented).map((name) => name.toLowerCase()), ...ofHttp]);
  for (const name of Object.keys(headers)) if (!known.has(name)) yield `an undocumented header ${name}`;
}

/** A first answer is no replay, a fault may come before it is known who asks, and at 409 only a busy stock asks to wait; so may a tool within a 200. */
const mayLack = (name: string, status: number, code: string | undefined): boolean =>
  name === 'Idempotent-Replayed' ||
  (name.startsWith('X-RateLimit-') && status >= 500) ||
  (name === 'Retry-After' && (status === 200 || (status === 409 && code !== 'stock_busy')));

/** What HTTP and browsers say among themselves. */
const ofHttp = [
  ...['connection', 'content-length', 'content-type', 'date', 'keep-alive', 'transfer-encoding', 'vary', 'x-content-type-options'],
  ...['access-control-allow-origin', 'access-control-expose-headers'],
];

function* wrongWithBody(response: Document, type: string, body: Document): Iterable<string> {
  if (!response.content) return body === undefined ? undefined : yield 'a body';
  if (!/^application\/json(?:;|$)/.test(type)) yield `not JSON but ${type}`;
  if (body === undefined) return yield 'no JSON body';
  const wrong = wrongWith(response.content['application/json'].schema, body);
  if (wrong) yield `outside its schema, ${wrong}`;
  const codes = response['x-codes'];
  if (codes && !codes.includes(body.code)) yield `an undocumented code ${body.code}`;
}
