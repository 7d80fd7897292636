import assert from 'node:assert/strict';
import { test } from 'node:test';
import { corrections } from './corrections.ts';
import type { Document } from './documents.ts';
import { contractOf, follow, operationsOf, releasedContract } from './documents.ts';
import { contract, fileOf, passingFolder, redocly } from './outsiders.ts';

interface Verdict {
  readonly impact: 'major' | 'minor' | 'patch';
  readonly message: string;
  readonly at: string;
}

/** What redocly has to say of the way from one document to another. */
async function verdicts(base: string, revision: string): Promise<Verdict[]> {
  const { out } = await redocly('diff', base, revision, '--format', 'json', '--fail-on', 'none');
  const { changes } = JSON.parse(out.slice(out.indexOf('{'), out.lastIndexOf('\n}') + 2));
  return changes.flatMap(({ path, verdicts }: Document) => verdicts.map((verdict: Document) => ({ ...verdict, at: path })));
}

const breaks = (all: readonly Verdict[]) => all.filter(({ impact }) => impact === 'major').map(({ message, at }) => `${message} ${at}`);

test('the contract only adds to the last release', async (t) => {
  const base = releasedContract();
  const unneeded = Object.entries(corrections).filter(([, correct]) => {
    const before = JSON.stringify(base);
    correct(base);
    return JSON.stringify(base) === before;
  });
  assert.deepEqual(
    unneeded.map(([what]) => what),
    [],
    'nothing is corrected by these',
  );
  assert.deepEqual(breaks(await verdicts(fileOf(passingFolder(t), 'released.json', base), contract)), []);
});

test('no kind of key, no event, no code of a refusal and no default of the last release is taken away', () => {
  assert.deepEqual(takenAway(releasedContract(), contractOf()), []);
});

/** What redocly does not look at, and is there no more. */
function takenAway(base: Document, revision: Document): string[] {
  const now = new Map(
    operationsOf(revision).map(({ path, method, operation }) => [`${method} ${path}`, statementsOf(operation, revision)]),
  );
  return operationsOf(base).flatMap(({ path, method, operation }) => {
    const kept = now.get(`${method} ${path}`);
    const lost = kept ? statementsOf(operation, base).filter((statement) => !kept.includes(statement)) : [];
    return lost.map((statement) => `${operation.operationId}: ${statement}`);
  });
}

function statementsOf(operation: Document, document: Document): string[] {
  const { parameters, requestBody, responses } = operation;
  return [
    ...['x-key-kinds', 'x-events'].flatMap((list) => (operation[list] ?? []).map((one: string) => `${list} ${one}`)),
    ...Object.entries<Document>(responses).flatMap(([status, response]) =>
      (follow(response, document)['x-codes'] ?? []).map((code: string) => `${status} ${code}`),
    ),
    ...parameters
      .map((parameter: Document) => follow(parameter, document))
      .flatMap(({ name, schema }: Document) => defaultsIn(schema, document, name)),
    ...defaultsIn(requestBody, document),
  ];
}

/** Every default in a description, by where it stands. */
function defaultsIn(described: Document, document: Document, at = '', within: readonly Document[] = []): string[] {
  if (!(described instanceof Object) || within.includes(described)) return [];
  return Object.entries<Document>(follow(described, document)).flatMap(([key, inner]) =>
    key === 'default' ? [`default ${JSON.stringify(inner)} at ${at}`] : defaultsIn(inner, document, `${at}/${key}`, [...within, described]),
  );
}

const get = (document: Document) => document.paths['/v1/vehicles'].get;
const parameter = (document: Document, wanted: string) => get(document).parameters.find(({ name }: Document) => name === wanted);
const movedTo200 = ({ responses: { 201: created, ...others } }: Document) => ({ 200: created, ...others });
const body = (document: Document) => document.components.schemas.VehiclesCreateBody;
const shown = (document: Document) => document.components.schemas.Vehicle;

/** Changes that would break a client, each of something else, by what is said of them. */
const breaking: [said: RegExp, change: (document: Document) => unknown][] = [
  [/`\/v1\/me` was removed/, ({ paths }) => delete paths['/v1/me']],
  [/`DELETE \/v1\/vehicles\/\{id\}` was removed/, ({ paths }) => delete paths['/v1/vehicles/{id}'].delete],
  [/`q` query parameter was removed/, (d) => get(d).parameters.splice(get(d).parameters.indexOf(parameter(d, 'q')), 1)],
  [/`has_images` query parameter became required/, (d) => Object.assign(parameter(d, 'has_images'), { required: true })],
  [/Upper bound changed from '<= 100' to '<= 50'/, (d) => Object.assign(parameter(d, 'limit').schema, { maximum: 50 })],
  [/requires new scopes: 'vehicles:write'/, (d) => Object.assign(get(d), { security: [{ apiKey: ['vehicles:write'] }] })],
  [/`colour` of `VehiclesCreateBody` was removed/, (d) => delete body(d).properties.colour],
  [/`VehiclesCreateBody` became required: `make`/, (d) => body(d).required.push('make')],
  [/`maxLength` of `model` changed from '60' to '10'/, (d) => Object.assign(body(d).properties.model, { maxLength: 10 })],
  [/Enum of `status` lost values: 'DISPOSED'/, (d) => body(d).properties.status.enum.pop()],
  [/`colour` of `Vehicle` was removed/, (d) => delete shown(d).properties.colour],
  [/`Vehicle` are no longer required: `colour`/, (d) => shown(d).required.splice(shown(d).required.indexOf('colour'), 1)],
  [/`title` widened from 'string' to 'string \| null'/, (d) => Object.assign(shown(d).properties.title, { type: ['string', 'null'] })],
  [/`stock_number` widened from 'string' to 'integer'/, (d) => Object.assign(shown(d).properties.stock_number, { type: 'integer' })],
  [
    /Response `201` became `200`/,
    ({ paths }) => Object.assign(paths['/v1/vehicles'].post, { responses: movedTo200(paths['/v1/vehicles'].post) }),
  ],
  [/header `Retry-After` was removed/, ({ components }) => delete components.responses.TooManyRequests.headers['Retry-After']],
  [/reference\.get: x-key-kinds publishable/, ({ paths }) => paths['/v1/reference/{list}'].get['x-key-kinds'].splice(1, 1)],
  [/vehicles\.update: x-events vehicle\.updated/, ({ paths }) => delete paths['/v1/vehicles/{id}'].patch['x-events']],
  [/vehicles\.create: 413 body_too_large/, ({ paths }) => paths['/v1/vehicles'].post.responses[413]['x-codes'].fill('entity_too_large')],
  [/branches\.list: 401 missing_api_key/, ({ components }) => components.responses.Unauthorized['x-codes'].shift()],
  [/branches\.list: default 25 at limit/, ({ paths }) => delete paths['/v1/branches'].get.parameters[0].schema.default],
  [
    /vehicles\.create: default "STANDARD" at .*\/features/,
    (d) => delete body(d).properties.features.anyOf[0].items.properties.type.default,
  ],
];

test('a change that would break a client is refused', async (t) => {
  const document = contractOf();
  for (const [, change] of breaking) change(document);
  const revision = fileOf(passingFolder(t), 'changed.json', document);
  const broken = [...breaks(await verdicts(contract, revision)), ...takenAway(contractOf(), document)];
  assert.deepEqual(
    breaking.map(([said]) => said).filter((said) => !broken.some((one) => said.test(one))),
    [],
    broken.join('\n'),
  );
});

test('an addition is let through', async (t) => {
  const document = contractOf();
  document.paths['/v1/more'] = { get: { ...get(document), operationId: 'more.list' } };
  get(document).parameters.push({ name: 'more', in: 'query', required: false, schema: { type: 'string' } });
  body(document).properties.more = { type: 'string' };
  shown(document).properties.more = { type: 'string' };
  shown(document).required.push('more');
  assert.deepEqual(breaks(await verdicts(contract, fileOf(passingFolder(t), 'more.json', document))), []);
  assert.deepEqual(takenAway(contractOf(), document), []);
});
