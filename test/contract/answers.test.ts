import assert from 'node:assert/strict';
import { test } from 'node:test';
import { speak } from '../support/api.ts';
import { dealership } from '../support/dealership.ts';
import type { Answer } from './answers.ts';
import { wrongWithAnswer } from './answers.ts';
import type { Document } from './documents.ts';
import { contractOf, operationsOf } from './documents.ts';

const operations = new Map<string, Document>(operationsOf(contractOf()).map(({ operation }) => [operation.operationId, operation]));

const { api, app, newKey } = await dealership();
const told = async (asking: Promise<{ status: number; headers: Record<string, string>; body: unknown }>): Promise<Answer> => {
  const { status, headers, body } = await asking;
  return { status, headers, body: JSON.stringify(body) };
};
const created = await told(api.post('/v1/vehicles', { condition: 'USED', make: 'Ford', model: 'Fiesta' }));
const listed = await told(api.get('/v1/vehicles?limit=2'));
const unknown = await told(api.as('nobody').get('/v1/vehicles'));
const hurried = await limited();

async function limited(): Promise<Answer> {
  const { key } = await newKey({ rateLimit: 1 });
  const hasty = speak(app, key);
  await hasty.get('/v1/vehicles').succeeds();
  return told(hasty.get('/v1/vehicles'));
}

const without = (answer: Answer, name: string): Answer => {
  const { [name]: _gone, ...headers } = answer.headers;
  return { ...answer, headers };
};
const withHeader = (answer: Answer, name: string, value: string): Answer => ({ ...answer, headers: { ...answer.headers, [name]: value } });
const withBody = (answer: Answer, change: (body: Document) => unknown): Answer => {
  const body = JSON.parse(answer.body);
  change(body);
  return { ...answer, body: JSON.stringify(body) };
};

test('answers of the API are what the contract says', () => {
  assert.deepEqual([created.status, listed.status, unknown.status, hurried.status], [201, 200, 401, 429]);
  assert.deepEqual(wrongWithAnswer(operations.get('vehicles.create'), created), []);
  for (const answer of [listed, unknown, hurried]) assert.deepEqual(wrongWithAnswer(operations.get('vehicles.list'), answer), []);
});

for (const [what, operationId, answer, said] of [
  ['a status it does not name', 'vehicles.list', { ...listed, status: 409 }, /undocumented status/],
  ['no id of the request', 'vehicles.list', without(listed, 'x-request-id'), /without X-Request-Id/],
  ['no limit', 'vehicles.list', without(listed, 'x-ratelimit-limit'), /without X-RateLimit-Limit/],
  ['nothing on when the allowance is whole again', 'vehicles.list', without(listed, 'x-ratelimit-reset'), /without X-RateLimit-Reset/],
  ['a limit that is no number', 'vehicles.list', withHeader(listed, 'x-ratelimit-limit', 'many'), /X-RateLimit-Limit: /],
  ['a creation without its place', 'vehicles.create', without(created, 'location'), /without Location/],
  ['no challenge', 'vehicles.list', without(unknown, 'www-authenticate'), /without WWW-Authenticate/],
  ['no time to wait', 'vehicles.list', without(hurried, 'retry-after'), /without Retry-After/],
  ['a header it does not name', 'vehicles.list', withHeader(listed, 'x-powered-by', 'x'), /undocumented header x-powered-by/],
  ['another type', 'vehicles.list', withHeader(listed, 'content-type', 'text/html'), /not JSON but text\/html/],
  ['no body', 'vehicles.list', { ...listed, body: '' }, /no JSON body/],
  ['a body that ends early', 'vehicles.list', { ...listed, body: listed.body.slice(0, -1) }, /no JSON body/],
  ['a record without a field', 'vehicles.list', withBody(listed, ({ data }) => delete data[0].updated_at), /outside its schema/],
  ['a page without its end', 'vehicles.list', withBody(listed, (body) => delete body.meta), /outside its schema/],
  [
    'a code it does not name',
    'vehicles.list',
    withBody(unknown, (body) => Object.assign(body, { code: 'deal_closed' })),
    /undocumented code/,
  ],
  ['a refusal without a code', 'vehicles.list', withBody(unknown, (body) => delete body.code), /outside its schema/],
] as const) {
  test(`would be found: ${what}`, () => {
    assert.match(wrongWithAnswer(operations.get(operationId), answer).join(), said);
  });
}
