import { OAuthRefusal } from '../errors.ts';

/** The parameters an OAuth endpoint knows, as they were sent. */
export interface Sent<N extends string = string> {
  /** An empty one was not sent, and of one sent twice nobody knows which is meant. */
  readonly parameters: Readonly<Partial<Record<N, string>>>;
  /** What is wrong with how they were sent. */
  readonly problem: string | null;
}

/** Reads a query, or a form: the others are ignored, as clients send more than an endpoint knows. */
export function parametersOf<N extends string>(text: string, names: readonly N[]): Sent<N> {
  const given = new URLSearchParams(text);
  return sentOf(names, (name) => given.getAll(name));
}

/** Reads a JSON object of texts likewise. */
export function parametersOfJson<N extends string>(text: string, names: readonly N[]): Sent<N> {
  const given = parsed(text);
  return sentOf(names, (name) => {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    return value === undefined || value === null ? [] : [value];
  });
}

function sentOf<N extends string>(names: readonly N[], valuesOf: (name: N) => unknown[]): Sent<N> {
  const parameters: Partial<Record<N, string>> = {};
  let problem: string | null = null;
  for (const name of names) {
    const [value, ...more] = valuesOf(name).filter((value) => value !== '');
    if (more.length > 0) problem ??= `The parameter ${name} is given more than once.`;
    else if (value !== undefined && !isText(value)) problem ??= `The parameter ${name} is not a text.`;
    else if (value !== undefined) parameters[name] = value;
  }
  return { parameters, problem };
}

/** PostgreSQL keeps neither U+0000 nor half a surrogate pair. */
const isText = (value: unknown): value is string => typeof value === 'string' && !value.includes('\u0000') && value.isWellFormed();

function parsed(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new OAuthRefusal('invalid_request', 'The body is not valid JSON.');
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw new OAuthRefusal('invalid_request', 'The body is not a JSON object.');
  return value as Record<string, unknown>;
}
