import type { JsonSchema } from '#platform/json-schema.ts';

/** The fields of an object as a table. Objects without a name of their own are written out, `outer.inner`. */
export function fieldTable(schema: JsonSchema): string {
  const rows = fieldsOf(schema);
  if (rows.length === 0) return '';
  return `| Field | Type | |\n|---|---|---|\n${rows.map(({ name, type, about }) => `| \`${name}\` | ${type} | ${cell(about)} |`).join('\n')}`;
}

/** What a schema takes, in words. A named object is a link to where it is described on the same page. */
export function typeOf(schema: JsonSchema): string {
  const { $ref, anyOf, enum: codes, const: only, type, format } = schema;
  if ($ref) return linkTo(nameOf(String($ref)));
  if (Array.isArray(anyOf)) return anyOf.map(typeOf).join(' or ');
  if (Array.isArray(codes)) return codes.map((code) => `\`${String(code)}\``).join(', ');
  if (only !== undefined) return `\`${String(only)}\``;
  if (Array.isArray(type)) return type.map((one) => typeOf({ ...schema, type: one })).join(' or ');
  if (type === 'array') return `list of ${typeOf(schema.items as JsonSchema)}`;
  if (type === 'integer' || type === 'number') return `${type}${span(schema.minimum, schema.maximum)}`;
  if (type === 'object' && schema.additionalProperties instanceof Object)
    return `map to ${typeOf(schema.additionalProperties as JsonSchema)}`;
  if (type === 'string') return `${format ? String(format) : 'string'}${schema.maxLength ? ` of at most ${String(schema.maxLength)}` : ''}`;
  return type ? String(type) : 'any';
}

/** Text in a cell of a table. */
export const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ');

export const linkTo = (name: string): string => `[${name}](#${name.toLowerCase()})`;

type Row = { name: string; type: string; about: string };

function fieldsOf(schema: JsonSchema, within = ''): Row[] {
  const { properties, required } = schema as { properties?: Record<string, JsonSchema>; required?: string[] };
  const optional = schema.additionalProperties === false; // Of a request: a response always has all its fields.
  return Object.entries(properties ?? {}).flatMap(([field, described]) => {
    const name = within + field;
    const must = optional && required?.includes(field) ? ['Required.'] : [];
    const preset = described.default === undefined ? [] : [`Default \`${JSON.stringify(described.default)}\`.`];
    const about = [...must, ...aboutOf(described), ...preset].join(' ');
    return [{ name, type: typeOf(described), about }, ...insideOf(described, name)];
  });
}

/** What is said of a field: of one that may be null, what is said of its value. A named object is described where it stands. */
function aboutOf({ description, anyOf }: JsonSchema): string[] {
  if (description) return [String(description)];
  const values: JsonSchema[] = Array.isArray(anyOf) ? anyOf.filter(({ type }: JsonSchema) => type !== 'null') : [];
  return values.length === 1 && values[0]!.description && !values[0]!.$ref ? [String(values[0]!.description)] : [];
}

function insideOf(schema: JsonSchema, name: string): Row[] {
  if (schema.properties) return fieldsOf(schema, `${name}.`);
  if (schema.type === 'array') return insideOf(schema.items as JsonSchema, `${name}[]`);
  return Array.isArray(schema.anyOf) ? schema.anyOf.flatMap((one: JsonSchema) => insideOf(one, name)) : [];
}

const nameOf = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1);

function span(minimum: unknown, maximum: unknown): string {
  if (minimum !== undefined && maximum !== undefined) return ` ${String(minimum)} to ${String(maximum)}`;
  if (minimum !== undefined) return ` of at least ${String(minimum)}`;
  return maximum === undefined ? '' : ` of at most ${String(maximum)}`;
}
