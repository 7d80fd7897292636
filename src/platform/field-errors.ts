import { z } from 'zod';
import type { FieldErrors } from './errors.ts';
import { invalidFields } from './errors.ts';

/** The input as its schema reads it, or a 422 by field: for commands that come through no HTTP. `root` names it as a whole. */
export function checked<S extends z.ZodType>(schema: S, input: unknown, root?: string): z.output<S> {
  const read = schema.safeParse(input);
  if (!read.success) throw invalidFields(fieldErrors(read.error, schema, root));
  return read.data;
}

/** What is wrong, by field. `root` names what has no field of its own: a body of the wrong type. `shown`: what answers, with more fields. */
export function fieldErrors(error: z.ZodError, schema: z.ZodType, root = 'body', shown?: z.ZodType): FieldErrors {
  const fields: Record<string, string[]> = Object.create(null);
  let count = 0;
  const note = (name: string, message: string) => {
    const field = legible(name);
    if (!(field in fields) && ++count > mostFields) return;
    fields[field] ??= [];
    if (!fields[field].includes(message)) fields[field].push(message);
  };
  for (const issue of error.issues) {
    if (count > mostFields) break;
    const path = issue.path.map(String);
    if (issue.code === 'unrecognized_keys') {
      const known = keysAt(schema, path);
      const readable = shown ? keysAt(shown, path) : [];
      for (const key of issue.keys.slice(0, mostFields)) {
        const hint = readable.includes(key) ? 'Cannot be written: leave it out.' : unknownField(key, count < mostHints ? known : []);
        note([...path, key].join('.'), hint);
      }
    } else if (issue.code === 'invalid_key') {
      note(path.join('.'), issue.issues[0]?.message ?? issue.message);
    } else {
      note(path.join('.') || root, sentence(issue.message));
    }
  }
  return { ...fields };
}

// A body of a million unknown fields is answered with the first of them, not with minutes of comparing names.
const mostFields = 100;
const mostHints = 20;

/** A name as it was sent, as far as it can be shown and kept: it may be anything a caller thinks of. */
const legible = (name: string) => (name.length > 200 ? `${name.slice(0, 200)}…` : name).toWellFormed().replaceAll('\u0000', '\ufffd');

/** zod's own wording, shortened to what helps. */
const sentence = (message: string) =>
  message === 'Invalid input: expected nonoptional, received undefined' || /received undefined$/.test(message)
    ? 'Required.'
    : message.replace(/^Invalid input: e/, 'E').replace(/([^.])$/, '$1.');

function unknownField(key: string, known: readonly string[]): string {
  const others = known.filter((name) => name !== key); // It may be a field of another form of the same object.
  const near = nearest(key, others);
  return near === undefined ? 'Unknown field.' : `Unknown field. Did you mean "${near}"?`;
}

/** What somebody may have meant by a name: the known one that differs least from it, if it differs little. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const [near] = known.map((one) => ({ one, far: distance(name.toLowerCase(), one) })).sort((a, b) => a.far - b.far);
  const most = Math.min(Math.max(2, name.length / 3), name.length / 2);
  return near && near.far <= most ? near.one : undefined;
}

/** The fields a schema takes at a path. */
function keysAt(schema: z.ZodType, path: readonly string[]): string[] {
  let current: unknown = schema;
  for (const step of path) {
    const inner = unwrap(current);
    if (inner instanceof z.ZodObject) current = inner.shape[step];
    else if (inner instanceof z.ZodArray) current = inner.element;
    else return [];
  }
  const found = unwrap(current);
  return found instanceof z.ZodObject ? Object.keys(found.shape) : [];
}

function unwrap(schema: unknown): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault) return unwrap(schema.unwrap());
  if (schema instanceof z.ZodPipe) return unwrap(schema.in);
  if (schema instanceof z.ZodUnion) return schema.options.map(unwrap).find((option) => option instanceof z.ZodObject);
  return schema;
}

/** Levenshtein's distance, for short names. */
function distance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 4 || a.length > 60) return 99;
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(next[j - 1]! + 1, row[j]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1));
    }
    row = next;
  }
  return row[b.length]!;
}
