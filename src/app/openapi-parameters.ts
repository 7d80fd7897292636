import { z } from 'zod';
import type { Operation } from '#platform/contract.ts';
import type { SchemaDeriver } from './json-schema.ts';
import type { Parameter } from './openapi-document.ts';

/** The parameters of an operation's path and query. */
export const parametersOf = ({ params, query }: Operation, deriver: SchemaDeriver): Parameter[] => [
  ...parameters(params, 'path', deriver),
  ...parameters(query, 'query', deriver),
];

function parameters(schema: z.ZodType, place: 'path' | 'query', deriver: SchemaDeriver): Parameter[] {
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries(schema.shape as Record<string, z.ZodType>).map(([name, field]) => {
    const item = itemOf(field);
    const { description, ...derived } = deriver.request(item ?? field);
    const about = field.description ?? description;
    const preset = defaultOf(field);
    return {
      name,
      in: place,
      required: place === 'path' || !field.safeParse(undefined).success,
      ...(typeof about === 'string' && { description: about }),
      ...(item && { style: 'form', explode: false }),
      schema: { ...(item ? { type: 'array', items: derived } : derived), ...(preset !== undefined && { default: preset }) },
    };
  });
}

/** What a comma list lists; nothing for a single value. A list is a text that becomes an array. */
function itemOf(field: z.ZodType): z.ZodType | undefined {
  const inner = bare(field);
  const read = inner instanceof z.ZodPipe ? inner.out : undefined;
  return read instanceof z.ZodArray ? (read.element as z.ZodType) : undefined;
}

const bare = (field: z.ZodType): z.ZodType =>
  field instanceof z.ZodOptional || field instanceof z.ZodDefault ? bare(field.unwrap() as z.ZodType) : field;

const defaultOf = (field: z.ZodType): unknown => (field instanceof z.ZodDefault ? field.def.defaultValue : undefined);
