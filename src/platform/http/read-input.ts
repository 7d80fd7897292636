import type { z } from 'zod';
import type { Operation } from '../contract.ts';
import type { FieldErrors } from '../errors.ts';
import { invalidFields, Refusal } from '../errors.ts';
import { fieldErrors } from '../field-errors.ts';
import type { Input } from './answer.ts';

/** The request as it came, before any check of its shape. */
export interface RawInput {
  readonly params: Record<string, string>;
  readonly query: string;
  readonly body: unknown;
}

/** Checks the shape of a request, once, when it is first asked for: 422 with all that is wrong with query and body, by field. */
export function readOnce(operation: Operation, raw: RawInput): () => Input<unknown, unknown, unknown> {
  let input: Input<unknown, unknown, unknown> | undefined;
  return () => {
    input ??= readInput(operation, raw);
    return input;
  };
}

function readInput(operation: Operation, raw: RawInput): Input<unknown, unknown, unknown> {
  const { values, unstorable } = queryValues(raw.query);
  const query = operation.query.safeParse(values);
  const body = operation.body.safeParse(raw.body);
  const wrong: FieldErrors = {
    ...unstorable,
    ...(query.success ? {} : byParameter(fieldErrors(query.error, operation.query, 'query'))),
    ...(body.success ? {} : fieldErrors(body.error, operation.body, 'body', operation.success.data)),
  };
  if (Object.keys(wrong).length > 0) throw invalidFields(wrong);
  return { params: readParams(operation.params, raw.params), query: query.data, body: body.data };
}

/** A parameter is one text on the wire: what is wrong with a value of its list is wrong with the parameter. */
const byParameter = (errors: FieldErrors): FieldErrors => {
  const merged = new Map<string, string[]>();
  for (const [field, messages] of Object.entries(errors)) {
    const name = field.replace(/\.\d+$/, '');
    merged.set(name, [...new Set([...(merged.get(name) ?? []), ...messages])]);
  }
  return Object.fromEntries(merged);
};

const nil = '00000000-0000-0000-0000-000000000000';

/** A malformed id is an id nobody has: it goes the same way as a missing one, to the same 404. */
function readParams(schema: z.ZodType, params: Record<string, string>): unknown {
  const read = schema.safeParse(Object.keys(params).length > 0 ? params : undefined);
  if (read.success) return read.data;
  const missing = schema.safeParse(Object.fromEntries(Object.keys(params).map((name) => [name, nil])));
  if (!missing.success) throw new Refusal('not_found');
  return missing.data;
}

/** The parameters of a query string; one that is repeated becomes a comma list. */
function queryValues(query: string): { values: Record<string, string>; unstorable: FieldErrors } {
  const values = new Map<string, string>();
  const unstorable: FieldErrors = Object.create(null);
  for (const [name, value] of new URLSearchParams(query)) {
    if (value.includes('\u0000') || name.includes('\u0000')) unstorable[name] = ['Contains U+0000.'];
    const before = values.get(name);
    values.set(name, before === undefined ? value : `${before},${value}`);
  }
  return { values: Object.fromEntries(values), unstorable };
}
