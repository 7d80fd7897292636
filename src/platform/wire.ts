import fastJson from 'fast-json-stringify';
import { z } from 'zod';

type JsonSchema = { [key: string]: unknown };

/**
 * The one way out: writes a value as JSON by its contract, which makes the contract an allow-list. Compiled once per schema.
 * Answers, events and tools all go through it.
 */
export function writer(schema: z.ZodType): (value: unknown) => string {
  const known = writers.get(schema);
  if (known) return known;
  const compiled = fastJson(forWriting(z.toJSONSchema(schema, { io: 'output', reused: 'inline' })) as fastJson.Schema, {
    largeArrayMechanism: 'json-stringify',
  });
  const write = (value: unknown) => (value instanceof Written ? value.json : compiled(value));
  writers.set(schema, write);
  return write;
}

/** What a writer wrote before and is to go out byte by byte as it was: a stored event. */
export class Written {
  readonly json: string;
  constructor(json: string) {
    this.json = json;
  }
}

const writers = new WeakMap<z.ZodType, (value: unknown) => string>();

/** What the serialiser needs of a schema: shape and nullability. Formats and codes were checked on the way in. */
function forWriting(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(forWriting);
  if (schema === null || typeof schema !== 'object') return schema;
  const { $schema: _dialect, id: _id, format: _format, pattern: _pattern, enum: codes, const: only, ...rest } = schema as JsonSchema;
  const plain = Object.fromEntries(
    Object.entries(rest).map(([key, value]) => [key, key === 'properties' ? ofEach(value as JsonSchema) : forWriting(value)]),
  );
  if (codes !== undefined || only !== undefined) return { type: plain.type ?? 'string' };
  const choices = plain.anyOf;
  if (!Array.isArray(choices)) return plain;
  const real = choices.filter((choice: JsonSchema) => choice.type !== 'null');
  const [choice] = real as JsonSchema[];
  if (real.length === choices.length || real.length !== 1 || choice?.type === undefined) return plain;
  return { ...choice, nullable: true };
}

const ofEach = (properties: JsonSchema): JsonSchema =>
  Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, forWriting(schema)]));
