import { z } from 'zod';
import type { Code } from './errors.ts';
import { plainUrl } from './web-address.ts';

/** What a credential may be allowed, `resource:verb`. The list of them belongs to `modules/keys`. */
export type Scope = `${string}:${string}`;

export type KeyKind = 'secret' | 'publishable' | 'oauth';
export const everyKey = ['secret', 'publishable', 'oauth'] as const;
export const privateKeys = ['secret', 'oauth'] as const;
export const secretKeys = ['secret'] as const;

/** Who may call an operation. `scopes`: any one of them is enough, none means that every key may. */
export interface Access {
  readonly scopes: readonly Scope[];
  readonly kinds: readonly KeyKind[];
  /** Not of the sandbox. */
  readonly liveOnly?: true;
  /** From a page with an OAuth token only where the operator has listed its origin. */
  readonly listedPages?: true;
}

/** What an operation answers when it succeeds: one object under `data`, or a list with `meta`. */
export interface Success {
  readonly status: 200 | 201 | 202;
  readonly data: z.ZodType;
  /** `page`: a list paged by cursor. `list`: a short list, whole. `bare`: the body itself. Otherwise one object. */
  readonly shape?: 'page' | 'list' | 'bare';
  /** The narrower object a publishable key is shown. */
  readonly publishable?: z.ZodType;
  /** The address of what was created, with `{id}` taken from the data. */
  readonly location?: string;
  /** Another success the operation may choose. */
  readonly or?: { readonly status: 200; readonly data: z.ZodType; readonly description: string };
}

/**
 * A request that shows the operation: it is asked of the demo dealer when the documents are derived, and its answer is their example.
 * `{/v1/vehicles}` in a text stands for the id of what the examples created, or else found, at that path.
 */
export interface Example {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** The query that leads to `success.or`. */
  readonly or?: Readonly<Record<string, string>>;
}

/** One operation of the API: everything else about it (route, checks, serialiser, OpenAPI, reference) is derived from this. */
export interface Operation<P extends z.ZodType = z.ZodType, Q extends z.ZodType = z.ZodType, B extends z.ZodType = z.ZodType> {
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  readonly path: `/v1/${string}`;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly access: Access;
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  /** The body comes as multipart/form-data: texts and files by their names. */
  readonly multipart: boolean;
  /** The largest JSON body in bytes; 10 MiB unless said. */
  readonly bodyLimit: number;
  readonly success: Success;
  readonly refusals: readonly Code[];
  /** The event types it may emit; a write without any says why in `silent`. */
  readonly emits: readonly string[];
  readonly silent?: string;
  readonly example?: Example;
}

type Nothing = z.ZodUndefined;
type NoQuery = z.ZodObject<Record<never, never>, z.core.$strict>;

type Declared<P, Q, B> = Pick<Operation, 'id' | 'method' | 'path' | 'tag' | 'summary' | 'access' | 'success' | 'refusals'> &
  Partial<Pick<Operation, 'description' | 'multipart' | 'bodyLimit' | 'emits' | 'silent' | 'example'>> & {
    params?: P;
    query?: Q;
    body?: B;
  };

const mebibyte = 1024 * 1024;

/** Declares an operation. A missing `query` takes no parameter, a missing `body` none. */
export const operation = <P extends z.ZodType = Nothing, Q extends z.ZodType = NoQuery, B extends z.ZodType = Nothing>(
  declared: Declared<P, Q, B>,
): Operation<P, Q, B> =>
  ({
    params: z.undefined(),
    query: z.strictObject({}),
    body: z.undefined(),
    multipart: false,
    bodyLimit: 10 * mebibyte,
    emits: [],
    ...declared,
  }) as Operation<P, Q, B>;

export const limits = { json: 10 * mebibyte, batch: 32 * mebibyte, file: 25 * mebibyte } as const;

// ---- Shapes in requests ----

/** PostgreSQL keeps neither U+0000 nor half a surrogate pair; text that holds one is refused rather than altered. */
const storable = (value: string) => !value.includes('\u0000') && value.isWellFormed();

/** A text of nothing but invisible characters (U+200B and the like) passes for something that is not there. */
const isSeen = (value: string) => value === '' || /[^\p{C}\p{Z}]/u.test(value);

/** A text of 1 to `max` characters, trimmed. `instead`: what to do who has none. */
export const text = (max: number, instead = 'Send null to clear it.') =>
  z
    .string()
    .refine(storable, { error: 'Contains a character that cannot be stored (U+0000 or half a surrogate pair).' })
    .trim()
    .min(1, { error: `Must not be empty. ${instead}` })
    .max(max, { error: `At most ${max} characters.` })
    .refine(isSeen, { error: `Nothing in it can be seen. ${instead}` });

/** An address that is called: http or https, plainly written. What the operation takes of the two is its own rule. */
export const webAddress = text(2048).transform((given, ctx) => {
  const url = plainUrl(given);
  if (url) return url.href;
  ctx.addIssue({ code: 'custom', message: 'An https address of at most 2048 characters, such as https://www.example.com/a.jpg.' });
  return z.NEVER;
});

/** A file of a multipart body. */
export interface Upload {
  readonly bytes: Buffer;
  /** As the sender calls it. */
  readonly contentType: string;
}

export const upload = z
  .custom<Upload>((part) => part instanceof Object && 'bytes' in part, {
    error: (issue) => (issue.input === undefined ? 'Required.' : 'Send it as a file, with a filename.'),
  })
  .meta({ type: 'string', contentMediaType: 'application/octet-stream' });

/** A UUID, in lower case. */
export const id = z.guid({ error: 'Not a UUID.' }).toLowerCase();

/** JSON can say -0, which is kept as 0 and would differ from it. */
const withoutSign = (value: number): number => (value === 0 ? 0 : value);

/** No amount is more than this. */
export const mostAmount = 9_999_999_999;

/** An amount in minor units of the dealer's currency. */
export const minorUnits = z
  .int({ error: 'A whole number of minor units, such as 1299500 for 12,995.00.' })
  .min(0, { error: 'Must not be negative.' })
  .max(mostAmount, { error: `At most ${mostAmount}.` })
  .overwrite(withoutSign);

export const whole = (min: number, max: number) =>
  z
    .int({ error: 'A whole number.' })
    .min(min, { error: `At least ${min}.` })
    .max(max, { error: `At most ${max}.` })
    .overwrite(withoutSign);

/** The calendar has no year 0, nor has PostgreSQL. */
const hasYear = (value: string) => !value.startsWith('0000');

/** A calendar date, `YYYY-MM-DD`. */
export const date = z.iso.date({ error: 'A date, such as 2026-01-31.' }).refine(hasYear, { error: 'The calendar has no year 0.' });

/** An ISO 8601 date-time with its offset. */
export const moment = z.iso
  .datetime({ offset: true, error: 'An ISO 8601 date-time, such as 2026-01-31T08:00:00Z.', abort: true })
  .refine((value) => hasYear(value) && isWithin(Date.parse(value)), { error: 'Not a moment of the calendar.' });

/** A date, which is a day in the dealership's time zone, or a date-time. */
export const dateOrMoment = z.union([date, moment], {
  error: 'A date, such as 2026-01-31, or an ISO 8601 date-time, such as 2026-01-31T08:00:00Z.',
});

/** From year 1 to year 9999 in UTC, whatever the offset made of it. */
const isWithin = (millis: number) => millis >= Date.parse('0001-01-01T00:00:00Z') && millis < Date.parse('+010000-01-01T00:00:00Z');

/** One code of a closed reference list. */
export const codeOf = <const C extends readonly [string, ...string[]]>(list: string, codes: C) =>
  z.enum(codes, { error: `Not a code of the reference list "${list}".` });

/** A code of a list to which dealers may add their own; whether one of these was added is a rule. */
export const openCodeOf = (list: string, codes: readonly string[]) =>
  z
    .string()
    .regex(new RegExp(`^(?:${codes.join('|')}|X_[A-Z0-9_]{1,38})$`), { error: `Not a code of the reference list "${list}".` })
    .describe(ofOpenList(list, codes));

/** The same in a response. */
export const shownOpenCode = (list: string, codes: readonly string[]) => z.string().describe(ofOpenList(list, codes));

const ofOpenList = (list: string, codes: readonly string[]) =>
  `A code of the reference list "${list}": ${codes.join(', ')}, or one of the dealer’s own.`;

/** The caller's own key-value store on a record: at most 50 keys of 40 characters, values of 500. */
export const metadata = z
  .record(
    z.string().regex(/^[A-Za-z0-9_.-]{1,40}$/, { error: 'Keys take 1 to 40 characters of A-Z a-z 0-9 _ . -' }),
    z.string().max(500, { error: 'At most 500 characters.' }).refine(storable, { error: 'Contains a character that cannot be stored.' }),
  )
  .refine((value) => Object.keys(value).length <= 50, { error: 'At most 50 keys.' });

/** A change of metadata: a key given as null is removed. What it makes of the whole is a rule. */
export const metadataChanges = z
  .record(metadata.keyType, metadata.valueType.nullable())
  .nullable()
  .describe('At most 50 keys. A key given as null is removed, a key not given is left.');

/** The caller's own reference of a record. */
export const externalId = text(191);
export const externalIdField = externalId.nullable().describe('Your own reference: at most 191 characters, unique in the dealership.');

export const byId = z.strictObject({ id });

/** Lets a schema say what its body is checked for besides: of each group, all fields of one alternative must be given. */
export const needing = (...groups: readonly (readonly string[])[][]) => ({
  allOf: groups.map((alternatives) => ({ anyOf: alternatives.map(given) })),
});

const given = (fields: readonly string[]) => ({
  required: fields,
  properties: Object.fromEntries(fields.map((field) => [field, { not: { type: 'null' } }])),
});

/** The types a JSON body comes as: what it leaves out is left, or as if never given. */
export const jsonTypes = ['application/json', 'application/merge-patch+json'] as const;

// ---- Shapes in queries (text on the wire) ----

const asNumber = (value: string) => (/^-?\d{1,15}$/.test(value) ? Number(value) : Number.NaN);

/** A whole number in a query. */
export const wholeParameter = (min: number, max: number) =>
  z
    .string()
    .transform(asNumber)
    .pipe(
      z
        .int({ error: 'A whole number.' })
        .min(min, { error: `At least ${min}.` })
        .max(max, { error: `At most ${max}.` }),
    )
    .meta({ type: 'integer', minimum: min, maximum: max });

/** `true` or `false` in a query; nothing else passes for either. */
export const flag = z
  .stringbool({ truthy: ['true'], falsy: ['false'], case: 'sensitive', error: 'Either true or false.' })
  .meta({ type: 'boolean' });

/** A comma list in a query: any of them. */
export const anyOf = <T extends z.ZodType<unknown, string>>(item: T, max = 100) =>
  z
    .string()
    .transform((value) => value.split(',').map((part) => part.trim()))
    .pipe(
      z
        .array(item)
        .min(1)
        .max(max, { error: `At most ${max} values.` }),
    );

const pageParameters = {
  limit: wholeParameter(1, 100).default(25).describe('Items per page, 1 to 100.'),
  cursor: z.string().optional().describe('`meta.next_cursor` or `meta.resume_cursor` of an earlier page.'),
  updated_since: moment.optional().describe('Only items whose `updated_at` is at or after this moment.'),
  updated_before: moment.optional().describe('Only items whose `updated_at` is before this moment.'),
  created_since: moment.optional().describe('Only items created at or after this moment.'),
  created_before: moment.optional().describe('Only items created before this moment.'),
  ids: anyOf(id).optional().describe('Only these ids, at most 100, comma-separated.'),
};

const referenceParameter = { external_id: anyOf(externalId).optional() };
const deletedParameter = { include_deleted: flag.optional().describe('`true` adds deleted items as tombstones, in the same order.') };
const branchParameter = { branch_id: anyOf(id).optional().describe('Only of these branches; repeatable or comma-separated.') };

/** The parameters of a list, beside its own filters. */
export const listQuery = <F extends z.ZodRawShape>(filters: F) => z.strictObject({ ...pageParameters, ...filters });

/** The parameters of a list of what lies at a branch. */
export const branchListQuery = <F extends z.ZodRawShape>(filters: F) =>
  z.strictObject({ ...pageParameters, ...branchParameter, ...filters });

/** The parameters of a list of records that lie at a branch and can be deleted. */
export const recordListQuery = <F extends z.ZodRawShape>(filters: F) =>
  z.strictObject({ ...pageParameters, ...branchParameter, ...referenceParameter, ...deletedParameter, ...filters });

export type PageQuery = z.output<ReturnType<typeof listQuery<Record<never, never>>>> & { include_deleted?: boolean | undefined };

// ---- Shapes in responses ----

export const dateTime = z.string().meta({ format: 'date-time', description: 'UTC, to the second.' });
export const money = z
  .object({ amount: z.int(), currency: z.string() })
  .meta({ id: 'Money', description: 'Minor units and their currency.' });

export const tombstone = z
  .object({ id: z.string().meta({ format: 'uuid' }), deleted: z.literal(true), deleted_at: dateTime })
  .meta({ id: 'Tombstone', description: 'What is left of a deleted record.' });

export type Tombstone = z.output<typeof tombstone>;

/** Where a page ends. `resume_cursor` goes on from there even when nothing follows yet. */
export const pageMeta = z
  .object({ next_cursor: z.string().nullable(), has_more: z.boolean(), resume_cursor: z.string() })
  .meta({ id: 'PageMeta' });

export const wholeListMeta = z.object({ next_cursor: z.null(), has_more: z.literal(false) }).meta({ id: 'WholeListMeta' });

export interface Page<T> {
  readonly data: readonly T[];
  readonly meta: z.output<typeof pageMeta>;
}

// ---- Events ----

/** A type of event: its object is the resource as the API returns it, and who may see it. */
export interface EventType {
  readonly type: string;
  readonly summary: string;
  readonly object: z.ZodType;
  /** Any one of these scopes lets a key see it. */
  readonly scopes: readonly Scope[];
  /** Its object, where nothing the demo dealer does is of this type. */
  readonly example?: unknown;
}

export const eventType = (declared: EventType): EventType => declared;
