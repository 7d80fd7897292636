import { z } from 'zod';

export type JsonSchema = { [key: string]: unknown };

/** Derives JSON Schemas for one document; what has a name (`.meta({ id })`) becomes a component, once, and is referred to by its place. */
export function schemaDeriver(place = '#/components/schemas/') {
  const components = new Map<string, JsonSchema>();
  const derive = (schema: z.ZodType, io: 'input' | 'output'): JsonSchema => {
    // Inside another schema, a named one is a reference even where it is the whole.
    const derived = z.toJSONSchema(z.object({ whole: schema }), { io, reused: 'inline', unrepresentable: 'any' }) as unknown as Derived;
    const tidy = tidied(io, place);
    for (const [name, named] of Object.entries(derived.$defs ?? {})) keep(name, tidy(named) as JsonSchema);
    return tidy(derived.properties.whole) as JsonSchema;
  };
  const keep = (name: string, schema: JsonSchema) => {
    const known = components.get(name);
    if (known && JSON.stringify(known) !== JSON.stringify(schema)) throw new Error(`Two schemas are named ${name}.`);
    components.set(name, schema);
  };
  return {
    /** What a request may hold: unknown fields are refused. */
    request: (schema: z.ZodType) => derive(schema, 'input'),
    /** What a response holds: clients must take unknown fields as normal, so none are forbidden. */
    response: (schema: z.ZodType) => derive(schema, 'output'),
    components: (): Record<string, JsonSchema> => Object.fromEntries([...components].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

/** The JSON Schema of a response that stands alone, with all it refers to. */
export function wholeSchema(schema: z.ZodType): JsonSchema {
  const place = '#/$defs/';
  const deriver = schemaDeriver(place);
  const root = deriver.response(schema);
  const { [String(root.$ref).slice(place.length)]: named, ...others } = deriver.components();
  const dialect = { $schema: 'https://json-schema.org/draft/2020-12/schema' };
  return { ...dialect, ...(named ?? root), ...(Object.keys(others).length > 0 && { $defs: others }) };
}

/** The JSON Schema of an object with nothing referred to and no alternatives at its root, which readers of tools do not follow. */
export function plainSchema(schema: z.ZodType, io: 'request' | 'response'): JsonSchema {
  const deriver = schemaDeriver(inPlace);
  const root = deriver[io](schema);
  const { allOf: _allOf, anyOf: _anyOf, oneOf: _oneOf, ...plain } = inlined(root, deriver.components()) as JsonSchema;
  return plain;
}

const inPlace = '#/$defs/';

function inlined(value: unknown, named: Readonly<Record<string, JsonSchema>>): unknown {
  if (Array.isArray(value)) return value.map((one) => inlined(one, named));
  if (value === null || typeof value !== 'object') return value;
  const { $ref, ...rest } = value as JsonSchema;
  if (typeof $ref !== 'string') return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, inlined(inner, named)]));
  return { ...(inlined(named[$ref.slice(inPlace.length)], named) as JsonSchema), ...rest };
}

export type SchemaDeriver = ReturnType<typeof schemaDeriver>;

type Derived = { properties: { whole: JsonSchema }; $defs?: Record<string, JsonSchema> };

/** Formats that say all their pattern says. */
const formats: readonly unknown[] = ['date', 'date-time', 'uuid'];

const tidied = (io: 'input' | 'output', place: string) => {
  const tidy = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(tidy);
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(
      Object.entries(value)
        .filter(([key, inner]) => !isNoise(key, inner, value as JsonSchema))
        .map(([key, inner]) => [key, keyed(key, inner)]),
    );
  };
  // The names in `properties` are those of fields, never keywords.
  const keyed = (key: string, inner: unknown): unknown => {
    if (key === '$ref') return String(inner).replace('#/$defs/', place);
    if (key === 'properties') return Object.fromEntries(Object.entries(inner as JsonSchema).map(([name, field]) => [name, tidy(field)]));
    return tidy(inner);
  };
  const isNoise = (key: string, inner: unknown, { format, type }: JsonSchema): boolean =>
    key === '$schema' ||
    (key === 'id' && typeof inner === 'string') ||
    (key === 'pattern' && formats.includes(format)) ||
    (key === 'additionalProperties' && inner === false && io === 'output') ||
    // A tenth is none in binary: validators take 2.3 for no multiple of 0.1.
    (key === 'multipleOf' && !Number.isInteger(inner)) ||
    (type === 'integer' && (inner === Number.MAX_SAFE_INTEGER || inner === Number.MIN_SAFE_INTEGER));
  return tidy;
};
