import { z } from 'zod';
import type { Operation } from '#platform/contract.ts';
import type { JsonSchema, SchemaDeriver } from '#platform/json-schema.ts';
import type { Parameter } from './openapi-document.ts';

/** The parameters of an operation's path and query. */
export const parametersOf = ({ params, query }: Operation, deriver: SchemaDeriver): Parameter[] => [
  ...parameters(params, 'path', deriver),
  ...parameters(query, 'query', deriver),
];

function parameters(schema: z.ZodType, place: 'path' | 'query', deriver: SchemaDeriver): Parameter[] {
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries(schema.shape as Record<string, z.ZodType>).map(([name, field]) => {
    const list = listOf(field);
    const derived = deriver.request(list ?? field);
    const { description, ...one } = (list ? derived.items : derived) as JsonSchema;
    const about = field.description ?? description;
    const preset = defaultOf(field);
    return {
      name,
      in: place,
      required: place === 'path' || !field.safeParse(undefined).success,
      ...(typeof about === 'string' && { description: about }),
      ...(list && { style: 'form', explode: false }),
      schema: { ...(list ? { ...derived, items: one } : one), ...(preset !== undefined && { default: preset }) },
    };
  });
}

/** The array a comma list is read as; nothing for a single value. */
function listOf(field: z.ZodType): z.ZodType | undefined {
  const inner = bare(field);
  const read = inner instanceof z.ZodPipe ? inner.out : undefined;
  return read instanceof z.ZodArray ? read : undefined;
}

const bare = (field: z.ZodType): z.ZodType =>
  field instanceof z.ZodOptional || field instanceof z.ZodDefault ? bare(field.unwrap() as z.ZodType) : field;

const defaultOf = (field: z.ZodType): unknown => (field instanceof z.ZodDefault ? field.def.defaultValue : undefined);
