import fc from 'fast-check';
import type { Document } from './documents.ts';
import { follow } from './documents.ts';

// Values made from the schemas of the contract: as it wants them, at its edges, and as nobody should send them.

type Values = fc.Arbitrary<unknown>;

/** The contract the values are for, and whether some fields are to be at the edge or hostile. */
export interface Making {
  readonly document: Document;
  readonly mixed: boolean;
}

/** Values for a schema. */
export function values(schema: Document, making: Making, depth = 0): Values {
  const known = follow(schema, making.document);
  if (!making.mixed) return valid(known, making, depth);
  return fc.oneof(
    { weight: 12, arbitrary: valid(known, making, depth) },
    { weight: 3, arbitrary: edges(known, making, depth) },
    { weight: 1, arbitrary: hostile },
  );
}

/** What a schema allows. */
function valid(schema: Document, making: Making, depth = 0): Values {
  const known = follow(schema, making.document);
  if (known.const !== undefined) return fc.constant(known.const);
  if (known.enum) return fc.constantFrom(...known.enum);
  const choices = known.anyOf ?? known.oneOf;
  if (choices) return fc.oneof(...choices.map((choice: Document) => valid(choice, making, depth)));
  if (Array.isArray(known.type)) return fc.oneof(...known.type.map((type: string) => valid({ ...known, type }, making, depth)));
  return byType[known.type]?.(known, making, depth) ?? fc.jsonValue({ maxDepth: 1 });
}

const byType: Record<string, (schema: Document, making: Making, depth: number) => Values> = {
  null: () => fc.constant(null),
  boolean: () => fc.boolean(),
  integer: ({ minimum = -1_000_000, maximum = 1_000_000 }) => fc.integer({ min: Math.max(minimum, -2e9), max: Math.min(maximum, 2e9) }),
  number: ({ minimum = 0, maximum = 1_000_000, multipleOf }) =>
    multipleOf
      ? fc.integer({ min: 0, max: maximum / multipleOf }).map((n) => Number((n * multipleOf).toFixed(6)))
      : fc.double({ min: minimum, max: maximum, noNaN: true }),
  string: text,
  array: ({ items = {}, minItems = 0, maxItems = 4 }, making, depth) =>
    fc.array(values(items, making, depth + 1), {
      minLength: minItems,
      maxLength: Math.max(minItems, Math.min(maxItems, depth > 2 ? 1 : 4)),
    }),
  object,
};

/** Every required field, those of one alternative where one of several is needed, and a few of the others. */
function object(schema: Document, making: Making, depth: number): Values {
  const { properties = {}, required = [], additionalProperties, propertyNames, allOf = [] } = schema;
  const names = Object.keys(properties);
  if (names.length === 0 && additionalProperties instanceof Object)
    return fc.dictionary(
      propertyNames ? (text(propertyNames) as fc.Arbitrary<string>) : fc.string(),
      values(additionalProperties, making, depth + 1),
      { maxKeys: 4 },
    );
  const optional = names.filter((name) => !required.includes(name));
  const field = (name: string) => values(properties[name], making, depth + 1);
  return fc
    .tuple(
      fc.subarray(optional, { maxLength: Math.min(optional.length, 8) }),
      ...allOf.map(({ anyOf }: Document) => fc.constantFrom(...anyOf.map((alternative: Document) => alternative.required))),
    )
    .chain(([some, ...needed]) =>
      fc.record({
        ...Object.fromEntries([...required, ...some].map((name: string) => [name, field(name)])),
        ...Object.fromEntries((needed.flat() as string[]).map((name) => [name, field(name).filter((value) => value !== null)])),
      }),
    );
}

function text({ format, pattern, minLength = 0, maxLength = 200 }: Document): Values {
  if (format && formats[format]) return formats[format];
  if (pattern) return fc.stringMatching(new RegExp(pattern)).filter((made) => made.length >= minLength && made.length <= maxLength);
  return fc.oneof(
    fc.string({ unit: 'grapheme-ascii', minLength, maxLength: Math.min(maxLength, 40) }),
    fc.string({ unit: 'grapheme', minLength, maxLength: Math.min(maxLength, 12) }).filter((made) => made.length <= maxLength),
    fc
      .constantFrom('AB12 CDE', '+44 20 7946 0000', 'SW1A 1AA', 'Jo', 'https://www.example.com/a.jpg')
      .filter((made) => made.length >= minLength && made.length <= maxLength),
  );
}

const days = { min: new Date('1900-01-01T00:00:00Z'), max: new Date('2100-12-31T00:00:00Z'), noInvalidDate: true };
const formats: Record<string, Values> = {
  date: fc.date(days).map((at) => at.toISOString().slice(0, 10)),
  'date-time': fc.date(days).map((at) => at.toISOString()),
  uuid: fc.uuid(),
  email: fc.constantFrom('a@example.com', 'first.last+tag@sub.example.co.uk'),
  uri: fc.webUrl({ validSchemes: ['https'] }),
};

/** The edges of what a schema allows, from both sides. */
function edges(schema: Document, making: Making, depth: number): Values {
  const { type, minimum, maximum, minLength, maxLength, minItems, maxItems, format, anyOf, items } = schema;
  if (anyOf) return fc.oneof(...anyOf.map((choice: Document) => edges(follow(choice, making.document), making, depth)));
  const found: Values[] = [fc.constant(null)];
  const numbers = [minimum, maximum]
    .filter((bound) => bound !== undefined)
    .flatMap((bound: number) => [bound - 1, bound, bound + 1, bound + 0.5]);
  if (numbers.length > 0) found.push(fc.constantFrom(...numbers, -0));
  if (type === 'string') {
    const lengths = [minLength, maxLength]
      .filter((length) => length !== undefined && length < 20_000)
      .flatMap((n: number) => [n - 1, n, n + 1]);
    found.push(fc.constantFrom('', ...lengths.filter((n) => n >= 0).map((n) => 'x'.repeat(n))));
  }
  if (format === 'date' || format === 'date-time') found.push(fc.constantFrom(...calendar));
  if (type === 'array' && depth < 2) {
    const lengths = [minItems, maxItems]
      .filter((length) => length !== undefined && length <= 500)
      .flatMap((n: number) => [n - 1, n, n + 1]);
    if (lengths.length > 0)
      found.push(
        fc
          .constantFrom(...lengths.filter((n) => n >= 0))
          .chain((n) => valid(items, making, 3).map((one) => Array.from({ length: n }, () => one))),
      );
  }
  return fc.oneof(...found);
}

const calendar = [
  ...['2024-02-29', '2023-02-29', '0000-01-01', '0001-01-01', '9999-12-31', '2026-13-01', '2026-04-31', '+12026-01-01', '26-1-1'],
  ...['2026-01-31T08:00:00Z', '2026-01-31T24:00:00Z', '2026-01-31T23:59:60Z', '2026-01-31T08:00:00+14:00', '2026-01-31T08:00:00-23:59'],
  ...[
    '0001-01-01T00:00:00+14:00',
    '9999-12-31T23:59:59.999999999Z',
    '2026-01-31T08:00:00.1234567890123Z',
    '2026-01-31 08:00:00',
    '2026-01-31T08:00',
  ],
];

const nested = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);

/** What no field wants. */
export const hostile: Values = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    -1,
    0,
    1e21,
    -1e-7,
    2 ** 53,
    1.5,
    '',
    ' ',
    '\u0000',
    'a\u0000b',
    '\ud800',
    '\u202e\u200b',
    '🚗'.repeat(40),
  ),
  fc.constantFrom<unknown>([], {}, [[]], [null], { $ref: '#' }, { toString: 1 }, { length: -1 }, nested(50), nested(150)),
  fc.constantFrom<unknown>(
    "' or 1=1 --",
    '"; drop table vehicle; --',
    '%s%n',
    '../../etc/passwd',
    '{{7*7}}',
    '<script>alert(1)</script>',
    '\\x00',
    'NaN',
    'null',
  ),
  fc.constantFrom<unknown>(JSON.parse('{"__proto__": {"admin": true}}'), { constructor: { prototype: 1 } }, { hasOwnProperty: 1 }),
  fc.integer({ min: 1, max: 5 }).map((thousands) => 'y'.repeat(thousands * 4000)),
  fc.jsonValue({ maxDepth: 3 }),
);
