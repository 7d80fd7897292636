import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Document } from './documents.ts';
import { contractOf, operationsOf, releasedContract } from './documents.ts';
import { contract, fileOf, passingFolder, redocly, released } from './outsiders.ts';

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

/** Where the last release's document was wrong about what the API does. A line goes with the next release. */
const corrections: readonly RegExp[] = [
  // Values such as 2.3 are no multiple of 0.1 to a validator, and were answered all the same.
  /^`multipleOf` was removed\. .*\/badge_engine_size_litres\//,
];

test('the contract only adds to the last release', async () => {
  const broken = breaks(await verdicts(released, contract));
  assert.deepEqual(
    broken.filter((one) => !corrections.some((correction) => correction.test(one))),
    [],
  );
  assert.deepEqual(
    corrections.filter((correction) => !broken.some((one) => correction.test(one))),
    [],
    'nothing is corrected by these',
  );
});

test('no kind of key, no event and no default of the last release is taken away', () => {
  const now = new Map(operationsOf(contractOf()).map(({ path, method, operation }) => [`${method} ${path}`, operation]));
  for (const { path, method, operation } of operationsOf(releasedContract())) {
    const at = now.get(`${method} ${path}`);
    for (const list of ['x-key-kinds', 'x-events'])
      assert.deepEqual(
        (operation[list] ?? []).filter((one: string) => !at?.[list]?.includes(one)),
        [],
        `${list} of ${operation.operationId}`,
      );
    assert.deepEqual(defaultsOf(at), { ...defaultsOf(at), ...defaultsOf(operation) }, operation.operationId);
  }
});

const defaultsOf = (operation: Document): Record<string, unknown> =>
  Object.fromEntries(
    operation.parameters.flatMap(({ name, schema }: Document) => (schema?.default === undefined ? [] : [[name, schema.default]])),
  );

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
];

test('a change that would break a client is refused', async (t) => {
  const document = contractOf();
  for (const [, change] of breaking) change(document);
  const broken = breaks(await verdicts(contract, fileOf(passingFolder(t), 'changed.json', document)));
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
});
