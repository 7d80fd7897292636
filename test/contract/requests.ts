import fc from 'fast-check';
import { jpeg, multipart } from '../support/pictures.ts';
import type { Making } from './arbitraries.ts';
import { hostile, values } from './arbitraries.ts';
import type { Described, Document } from './documents.ts';
import { follow } from './documents.ts';
import { wrongWith, wrongWithText } from './judge.ts';
import type { Known } from './known.ts';
import { formOf, withIds } from './known.ts';

// Requests made from the contract: most as a client would send them, some that nobody should.

export interface Made {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly payload: string | Buffer | undefined;
  /** What the contract has against it; null when it is as the contract wants it. */
  readonly wrong: string | null;
}

/** Who asks: a key of all scopes mostly. */
export interface Keys {
  readonly secret: string;
  readonly publishable: string;
}

/** Requests to an operation, mostly about records that are there. */
export const requests = (described: Described, document: Document, keys: Keys, known: Known) =>
  fc.boolean().chain((mixed) => made(described, { document, mixed }, keys, known));

const made = ({ path, operation }: Described, making: Making, keys: Keys, known: Known) =>
  filledPath(path, known).chain((filled) =>
    fc
      .record({
        query: queryOf(operation, making),
        body: bodyOf(operation, making, (field) => known.idsFor(field, filled.slice(0, filled.lastIndexOf('/')))),
        headers: headersOf(operation, keys),
      })
      .map(
        ({ query, body, headers }): Made => ({
          url: query.text ? `${filled}?${query.text}` : filled,
          headers: { ...headers, ...(body.type !== null && { 'content-type': body.type }) },
          payload: body.payload,
          wrong: query.wrong ?? body.wrong,
        }),
      ),
  );

// ---- The path ----

/** Mostly that of a record that is there, the inner with the outer it belongs to. */
function filledPath(path: string, known: Known): fc.Arbitrary<string> {
  const [, named = '', rest = ''] = /^(.*\})?([^}]*)$/.exec(path) ?? [];
  const there = known.at(formOf(named));
  if (there.length === 0) return oddPath(path);
  return fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...there).map((at) => at + rest) }, { weight: 2, arbitrary: oddPath(path) });
}

const oddPath = (path: string): fc.Arbitrary<string> =>
  fc
    .tuple(
      ...path
        .split(/(?<=\/)/)
        .map((step) => (step.startsWith('{') ? oddStep.map((odd) => step.replace(/\{\w+\}/, odd)) : fc.constant(step))),
    )
    .map((steps) => steps.join(''));

const oddStep = fc.oneof(
  fc.uuid(),
  fc.constantFrom(
    ...['0', '%00', '..%2f', '%F0%9F%9A%97', 'a'.repeat(90), "'--", 'null', '-1', '%C3%28'],
    '00000000-0000-0000-0000-000000000000',
  ),
);

// ---- The query ----

interface Query {
  readonly text: string;
  readonly wrong: string | null;
}

function queryOf(operation: Document, making: Making): fc.Arbitrary<Query> {
  const parameters: Document[] = operation.parameters
    .map((one: Document) => follow(one, making.document))
    .filter((one: Document) => one.in === 'query');
  const pair = ({ name, schema }: Document) =>
    (schema.type === 'array' ? fc.array(values(schema.items, making, 3), { minLength: 1, maxLength: 3 }) : values(schema, making, 3)).map(
      (value) => {
        const items = (Array.isArray(value) ? value : [value]).map(
          (item) => (typeof item === 'string' ? item.toWellFormed() : JSON.stringify(item)) ?? '',
        );
        return { name, items, schema };
      },
    );
  const stray = fc.record({
    name: fc.constantFrom('page', 'sort', 'a[b]', '__proto__', 'limit '),
    items: fc.constantFrom(['1'], ['']),
    schema: fc.constant(null),
  });
  return fc
    .constantFrom(0, 1, 1, 2, 4)
    .chain((most) => few(parameters, most))
    .chain((some) => fc.tuple(fc.tuple(...some.map(pair)), seldom(making, fc.constant(null), stray), fc.boolean()))
    .map(([pairs, one, repeated]) => {
      const all = one ? [...pairs, one] : pairs;
      return {
        text: all
          .flatMap(({ name, items }) => texts(items, repeated).map((text) => `${encodeURIComponent(name)}=${encodeURIComponent(text)}`))
          .join('&'),
        wrong:
          all
            .map(({ name, items, schema }) => (schema ? wrongWithParameter(name, items.join(','), schema) : `no parameter ${name}`))
            .find((wrong) => wrong !== null) ?? null,
      };
    });
}

/** A list is one parameter with commas, or one that is repeated. */
const texts = (items: readonly string[], repeated: boolean): readonly string[] =>
  repeated && items.length > 0 ? items : [items.join(',')];

function wrongWithParameter(name: string, text: string, schema: Document): string | null {
  const items = schema.type === 'array' ? text.split(',').map((item) => item.trim()) : [text];
  if (items.some((item) => item.includes('\u0000') || !/[^\p{C}\p{Z}]/u.test(item))) return `${name}: no text that is seen and stored`;
  const wrong = wrongWithText(schema, schema.type === 'array' ? items : text);
  return wrong && `${name}: ${wrong}`;
}

// ---- The body ----

interface Body {
  readonly type: string | null;
  readonly payload: string | Buffer | undefined;
  readonly wrong: string | null;
}

const none: Body = { type: null, payload: undefined, wrong: null };

type IdsFor = (field: string) => readonly string[];

function bodyOf({ requestBody }: Document, making: Making, idsFor: IdsFor): fc.Arbitrary<Body> {
  if (!requestBody) return fc.constant(none);
  const { 'application/json': json, 'multipart/form-data': form } = requestBody.content;
  if (form) return partsOf(follow(form.schema, making.document), making);
  const types = fc.constantFrom(...Object.keys(requestBody.content));
  const asJson = ([value, type]: [unknown, string]): Body => ({
    type,
    payload: JSON.stringify(value),
    wrong: wrongWith(json.schema, value),
  });
  const like = fc.constant(json.example ?? null).chain((example) => changed(example, json.schema, making));
  const broken = fc.constantFrom<Body>(
    { ...none, wrong: requestBody.required ? 'no body' : null },
    { type: 'application/json', payload: '', wrong: requestBody.required ? 'empty' : null },
    { type: 'application/json', payload: '{"a":', wrong: 'cut off' },
    { type: 'application/json', payload: Buffer.from([0x22, 0xff, 0x22]), wrong: 'not UTF-8' },
    { type: 'application/json', payload: '{"a":1e999}', wrong: 'infinite' },
    { type: 'text/plain', payload: '{}', wrong: 'another type' },
    { type: 'application/json; charset=utf-16', payload: '[', wrong: 'cut off' },
    { type: 'multipart/form-data; boundary=x', payload: '--x--', wrong: 'another type' },
  );
  const usual = fc.oneof(values(json.schema, making), like);
  return seldom(making, fc.tuple(naming(usual, idsFor), types).map(asJson), fc.oneof(fc.tuple(hostile, types).map(asJson), broken));
}

/** The example with a few fields made anew, the one that must be unique among them: it passes more rules than what is made from nothing. */
function changed(example: unknown, schema: Document, making: Making): fc.Arbitrary<unknown> {
  const known = follow(schema, making.document);
  if (Array.isArray(example)) return fc.tuple(...example.map((item) => changed(item, known.items, making)));
  if (!(example instanceof Object) || !known?.properties) return fc.constant(example);
  const { properties } = known;
  return fc
    .tuple(few(Object.keys(properties), 3), few(Object.keys(example), making.mixed ? 1 : 0))
    .chain(([anew, gone]) =>
      fc.tuple(
        fc.record(Object.fromEntries(anew.map((name) => [name, values(properties[name], making, 1)]))),
        fc.constant(gone),
        fc.uuid(),
      ),
    )
    .map(([made, gone, unique]) => {
      const kept = Object.entries(example).filter(([name]) => !gone.includes(name) || name in made);
      return { ...Object.fromEntries(kept), ...onlyOnce(example, unique), ...made };
    });
}

/** What no two records may share. */
const onlyOnce = (example: object, unique: string) => ({
  ...('external_id' in example && { external_id: unique }),
  ...('registration' in example && { registration: unique.slice(-8).toUpperCase() }),
});

const few = <T>(items: T[], most: number) => fc.subarray(items, { maxLength: Math.min(items.length, most) });

/** The other once in a while, where requests are mixed. */
const seldom = <T, U>({ mixed }: Making, usual: fc.Arbitrary<T>, other: fc.Arbitrary<U>): fc.Arbitrary<T | U> =>
  mixed ? fc.oneof<fc.WeightedArbitrary<T | U>[]>({ weight: 8, arbitrary: usual }, { weight: 1, arbitrary: other }) : usual;

/** Mostly with the ids of records that are there. */
const naming = (made: fc.Arbitrary<unknown>, idsFor: IdsFor): fc.Arbitrary<unknown> =>
  fc
    .tuple(made, fc.nat(), fc.constantFrom(true, true, true, false))
    .map(([value, nth, named]) => (named ? withIds(value, idsFor, nth) : value));

const picture = await jpeg({ width: 32, height: 24 });

/** A form as the contract wants it, with a picture for a file. */
function formOfParts({ properties, required = [] }: Document, making: Making): fc.Arbitrary<Body> {
  const part = (name: string): fc.Arbitrary<string | Buffer> =>
    'contentMediaType' in properties[name] ? fc.constant(picture) : values(properties[name], { ...making, mixed: false }).map(String);
  const optional = Object.keys(properties).filter((name) => !required.includes(name));
  return fc
    .subarray(optional)
    .chain((some) => fc.record(Object.fromEntries([...required, ...some].map((name: string) => [name, part(name)]))))
    .map((parts) => multipart(parts))
    .map(({ body, headers }) => ({ type: headers['content-type'], payload: body, wrong: null }));
}

/** Half of them as the contract wants it; else files that are none, texts that are files, forms that do not end. A picture's own rules have tests of their own. */
function partsOf(schema: Document, making: Making): fc.Arbitrary<Body> {
  const type = 'multipart/form-data; boundary=edge';
  const part = (name: string) =>
    fc.oneof(
      fc
        .uint8Array({ maxLength: 300 })
        .map(
          (bytes) =>
            [`Content-Disposition: form-data; name="${name}"; filename="a.jpg"\r\nContent-Type: image/jpeg`, Buffer.from(bytes)] as const,
        ),
      values(schema.properties[name], making, 3).map(
        (value) => [`Content-Disposition: form-data; name="${name}"`, Buffer.from(String(JSON.stringify(value)).slice(0, 400))] as const,
      ),
    );
  const form = fc
    .subarray(Object.keys(schema.properties))
    .chain((names) => fc.tuple(...names.map(part)))
    .chain((parts) => fc.record({ parts: fc.constant(parts), end: fc.constantFrom('--edge--\r\n', '--edge--\r\n', '--edge', '') }))
    .map(({ parts, end }) =>
      Buffer.concat([
        ...parts.flatMap(([head, bytes]) => [Buffer.from(`--edge\r\n${head}\r\n\r\n`), bytes, Buffer.from('\r\n')]),
        Buffer.from(end),
      ]),
    );
  const broken = fc.constantFrom<Body>(
    { ...none, wrong: 'no body' },
    { type: 'multipart/form-data', payload: 'x', wrong: 'no boundary' },
    { type: 'application/json', payload: '{}', wrong: 'another type' },
  );
  return fc.oneof(
    { weight: 7, arbitrary: formOfParts(schema, making) },
    { weight: 6, arbitrary: form.map((payload): Body => ({ type, payload, wrong: 'no picture' })) },
    { weight: 1, arbitrary: broken },
  );
}

// ---- The headers ----

function headersOf(operation: Document, { secret, publishable }: Keys): fc.Arbitrary<Record<string, string>> {
  const bearer = (key: string) => fc.constant({ authorization: `Bearer ${key}` });
  const who = fc.oneof<fc.Arbitrary<Record<string, string>>[]>(
    { weight: 24, arbitrary: bearer(secret) } as never,
    { weight: 2, arbitrary: bearer(publishable) } as never,
    {
      weight: 1,
      arbitrary: fc.constantFrom<Record<string, string>>(
        {},
        { authorization: 'Basic eDp5' },
        { authorization: `Bearer ${secret}x` },
        { authorization: 'Bearer' },
      ),
    } as never,
  );
  const repeatable = operation.parameters.some(({ $ref }: Document) => $ref === '#/components/parameters/Idempotency-Key');
  const key = fc.oneof(
    { weight: 20, arbitrary: fc.constant(undefined) },
    { weight: 2, arbitrary: fc.uuid() },
    { weight: 1, arbitrary: fc.constantFrom('again', 'x'.repeat(255), 'x'.repeat(256), ' ', '') },
  );
  return fc
    .tuple(who, repeatable ? key : fc.constant(undefined))
    .map(([asked, once]) => ({ ...asked, ...(once !== undefined && { 'idempotency-key': once }) }));
}
