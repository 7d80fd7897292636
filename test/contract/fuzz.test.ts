import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import fc from 'fast-check';
import { findDealer, operatorContext } from '#modules/dealers/index.ts';
import { issueKey } from '#modules/keys/index.ts';
import { createUser } from '#modules/staff/index.ts';
import { createDemo } from '../../src/app/prepare.ts';
import { house } from '../support/dealership.ts';
import { follow } from './arbitraries.ts';
import type { Document } from './documents.ts';
import { contractOf, operationsOf } from './documents.ts';
import { wrongWith } from './judge.ts';
import type { Described, Keys, Made } from './requests.ts';
import { requests } from './requests.ts';

const seed = Number(process.env.FUZZ_SEED ?? 20_260_131);
const runs = Number(process.env.FUZZ_RUNS ?? 80);
/** For all operations together. */
const budgetMs = 45_000;

const document = contractOf();
const operations = operationsOf(document);
/** Ids of records, by the list they stand in. */
const known = new Map<string, string[]>();
let keys: Keys;

before(async () => {
  // The demo dealer, whose records the requests name.
  const { service, app } = await house();
  await createDemo(service, 8);
  const dealer = await findDealer(service, { code: 'demo' });
  const ctx = await operatorContext(service, dealer!.dealer.id);
  const { id: ownerId } = await createUser(ctx, {
    email: 'fuzz@demo.example',
    name: 'Fuzz',
    role: 'ADMINISTRATOR',
    password: 'correct horse',
    branches: 'all',
  });
  const issue = async (kind: 'secret' | 'publishable') =>
    (
      await issueKey(ctx, {
        name: kind,
        ownerId,
        kind,
        environment: 'live',
        rateLimit: 1_000_000,
        ...(kind === 'publishable' && { origins: ['https://www.example.com'] }),
      })
    ).key;
  keys = { secret: await issue('secret'), publishable: await issue('publishable') };

  for (const { path } of operations.filter(({ path, method }) => method === 'get' && !path.includes('{'))) {
    const { payload } = await app.inject({ url: path, headers: { authorization: `Bearer ${keys.secret}` } });
    const { data } = JSON.parse(payload);
    if (Array.isArray(data))
      known.set(
        path,
        data.flatMap(({ id, name }) => id ?? name ?? []),
      );
  }
});

describe(`with seed ${seed}, whatever the contract lets one ask`, () => {
  for (const described of [...operations].sort((a, b) => Number(a.method === 'delete') - Number(b.method === 'delete'))) {
    test(`${described.operation.operationId} answers as the contract says`, async (t) => {
      const statuses = new Map<number, number>();
      const { app } = await house();
      const property = fc.asyncProperty(requests(described, document, keys, known), async (made) => {
        const answer = await app.inject({
          method: described.method.toUpperCase() as 'GET',
          url: made.url,
          headers: made.headers,
          ...(made.payload !== undefined && { payload: made.payload }),
        });
        statuses.set(answer.statusCode, (statuses.get(answer.statusCode) ?? 0) + 1);
        remember(answer.headers.location);
        assert.equal(fault(described, made, answer.statusCode, answer.headers, answer.payload), null);
      });
      await fc.assert(property, {
        seed,
        numRuns: runs,
        interruptAfterTimeLimit: budgetMs / operations.length,
        markInterruptAsFailure: false,
      });
      const total = [...statuses.values()].reduce((a, b) => a + b, 0);
      t.diagnostic(
        `${total} requests: ${[...statuses]
          .sort()
          .map(([status, count]) => `${count} × ${status}`)
          .join(', ')}`,
      );
      assert.ok(total >= 5, 'too slow to say anything');
    });
  }
});

/** What was created is asked for by the operations that follow. */
function remember(location: unknown): void {
  if (typeof location !== 'string') return;
  const at = location.lastIndexOf('/');
  known.set(location.slice(0, at), [...(known.get(location.slice(0, at)) ?? []), location.slice(at + 1)]);
}

/** What is wrong with an answer, null when nothing is. */
function fault({ operation }: Described, made: Made, status: number, headers: Record<string, unknown>, payload: string): string | null {
  const said = `${status} ${payload.slice(0, 500)}`;
  if (status >= 500) return `failed: ${said}`;
  const response = follow(operation.responses[status], document);
  if (!response) return `an undocumented status: ${said}`;
  if (!headers['x-request-id']) return `no X-Request-Id: ${said}`;
  const missing = Object.keys(response.headers ?? {}).filter((name) => always.includes(name) && headers[name.toLowerCase()] === undefined);
  if (missing.length > 0) return `without ${missing}: ${said}`;
  if (!/^application\/json\b/.test(String(headers['content-type']))) return `not JSON: ${said}`;
  const body: Document = JSON.parse(payload);
  const wrong = wrongWith(response.content['application/json'].schema, body);
  if (wrong) return `outside its schema, ${wrong}: ${said}`;
  if (status >= 400) return response['x-codes'].includes(body.code) ? null : `an undocumented code: ${said}`;
  return made.wrong !== null && !isJudgedByItem(operation) ? `accepted, though ${made.wrong}: ${said}` : null;
}

const always = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'WWW-Authenticate', 'Location'];

/** A batch is accepted whatever its items hold: each is answered for itself. */
const isJudgedByItem = ({ operationId }: Document) => operationId === 'vehicles.batch';

test('an answer the contract does not know would be found', async () => {
  const { app } = await house();
  const listed = operations.find(({ operation }) => operation.operationId === 'vehicles.list')!;
  const { statusCode, headers, payload } = await app.inject({
    url: '/v1/vehicles?limit=2',
    headers: { authorization: `Bearer ${keys.secret}` },
  });
  const asked: Made = { url: '/v1/vehicles', headers: {}, payload: undefined, wrong: null };
  const judge = (status: number, body: Document, made = asked, told: Record<string, unknown> = headers) =>
    fault(listed, made, status, told, JSON.stringify(body));
  const body: Document = JSON.parse(payload);
  const { updated_at: _gone, ...vehicle } = body.data[0];
  assert.equal(judge(statusCode, body), null);
  assert.match(judge(200, { ...body, data: [vehicle] }) ?? '', /outside its schema/);
  assert.match(judge(200, { ...body, meta: null }) ?? '', /outside its schema/);
  assert.match(judge(200, body, { ...asked, wrong: 'limit' }) ?? '', /accepted, though limit/);
  assert.match(judge(200, body, asked, { ...headers, 'x-ratelimit-limit': undefined }) ?? '', /without X-RateLimit-Limit/);
  assert.match(judge(500, body) ?? '', /failed/);
  assert.match(judge(409, body) ?? '', /undocumented status/);
  assert.match(judge(422, { success: false, message: '', request_id: '', code: 'deal_closed' }) ?? '', /undocumented code/);
});
