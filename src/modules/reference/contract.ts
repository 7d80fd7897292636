import { z } from 'zod';
import { everyKey, operation, privateKeys, text } from '#platform/contract.ts';

/** A code with the dealer's own name, as the API shows it. */
export const referenceCode = z
  .object({
    code: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    is_active: z.boolean().describe('`false`: hidden by the dealer; records may still hold it.'),
    is_default: z.boolean(),
    is_final: z.boolean().nullable().describe('Lists of statuses only: the API moves a record no further from here.'),
    group: z.string().nullable().describe('`body-types` only: the vehicle type the code belongs to.'),
  })
  .meta({ id: 'ReferenceCode' });

export const referenceList = z
  .object({
    name: z.string().describe('Names the list in `GET /v1/reference/{list}`.'),
    title: z.string(),
    description: z.string().nullable(),
  })
  .meta({ id: 'ReferenceList' });

export type ReferenceCode = z.output<typeof referenceCode>;

export const listReferenceLists = operation({
  id: 'reference.list',
  method: 'GET',
  path: '/v1/reference',
  tag: 'Reference',
  summary: 'List the reference lists',
  access: { scopes: [], kinds: privateKeys },
  success: { status: 200, data: referenceList, shape: 'list' },
  refusals: [],
});

export const getReferenceList = operation({
  id: 'reference.get',
  method: 'GET',
  path: '/v1/reference/{list}',
  tag: 'Reference',
  summary: 'Read a reference list',
  description:
    'The codes of one list with the dealer’s names, in the dealer’s order. Not paged. `snake_case` spellings of the name are accepted.',
  access: { scopes: [], kinds: everyKey },
  params: z.strictObject({ list: z.string() }),
  success: { status: 200, data: referenceCode, shape: 'list' },
  refusals: ['not_found'],
  example: { params: { list: 'fuel-types' } },
});

/** A whole list as the dealer wants it: order by position, names and hiding by entry. What an entry leaves out stays. */
export const arrangement = z
  .array(
    z.strictObject({
      code: z.string().regex(/^(?!X_$)[A-Z0-9_]{1,40}$/, { error: 'Codes take 1 to 40 characters of A-Z 0-9 _' }),
      name: text(80).optional(),
      description: text(500).nullable().optional(),
      is_active: z.boolean().optional(),
    }),
  )
  .max(200, { error: 'At most 200 codes.' });

export type Arrangement = z.output<typeof arrangement>;
