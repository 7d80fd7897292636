import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import fc from 'fast-check';
import { findDealer, operatorContext } from '#modules/dealers/index.ts';
import { issueKey } from '#modules/keys/index.ts';
import { createUser } from '#modules/staff/index.ts';
import { createDemo } from '../../src/app/prepare.ts';
import { house } from '../support/dealership.ts';
import type { Answer } from './answers.ts';
import { wrongWithAnswer } from './answers.ts';
import type { Described, Document } from './documents.ts';
import { contractOf, operationsOf } from './documents.ts';
import { nothingKnown } from './known.ts';
import type { Keys, Made } from './requests.ts';
import { requests } from './requests.ts';

const seed = Number(process.env.FUZZ_SEED ?? 20_260_131);
const runs = Number(process.env.FUZZ_RUNS ?? 80);

const document = contractOf();
/** What creates comes first, so that there is something to ask for, and what deletes comes last, the inner before the outer. */
const operations = operationsOf(document).sort((a, b) => turnOf(a) - turnOf(b) || (turnOf(a) === 2 ? b.path.length - a.path.length : 0));
const known = nothingKnown();
let keys: Keys;

before(async () => {
  // The demo dealer, whose records the requests name.
  const { service, clock } = await house();
  // The day of the examples, some of which name it.
  clock.set('2026-01-31T09:30:00Z');
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
    const { data } = JSON.parse((await ask('get', plainly(path))).body);
    if (Array.isArray(data)) for (const { id, name } of data) known.add(`${path}/{}`, `${path}/${id ?? name}`);
  }
  await haveDelivery();
});

/** An attempt to deliver, which nothing that is created brings with it. */
async function haveDelivery(): Promise<void> {
  const endpoints = '/v1/webhook-endpoints';
  const body = { url: 'https://hooks.dealer.example:1/in', events: ['*'] };
  const made = await ask('post', { ...plainly(endpoints), payload: JSON.stringify(body), ...asJson() });
  const path = made.headers.location as string;
  known.add(`${endpoints}/{}`, path);
  const sent = await ask('post', plainly(`${path}/test`));
  known.add(`${endpoints}/{}/deliveries/{}`, `${path}/deliveries/${JSON.parse(sent.body).data.id}`);
}

function turnOf({ method, operation }: Described): 0 | 1 | 2 {
  if (method === 'delete') return 2;
  return operation.responses[200] ? 1 : 0;
}

describe(`with seed ${seed}, whatever the contract lets one ask`, () => {
  for (const described of operations) {
    test(`${described.operation.operationId} answers as the contract says, and sometimes with success`, async (t) => {
      const statuses = new Map<number, number>();
      const property = fc.asyncProperty(requests(described, document, keys, known), async (made) => {
        for (let next: Made | null = made; next; ) {
          const answer: Answer = await ask(described.method, next);
          statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
          assert.equal(fault(described, next, answer), null);
          if (answer.status < 300) remember(described, next, answer);
          next = next === made ? followed(made, answer) : null;
        }
      });
      await fc.assert(property, { seed, numRuns: runs });
      const counts = [...statuses].sort().map(([status, count]) => `${count} × ${status}`);
      t.diagnostic(counts.join(', '));
      assert.ok(
        [...statuses.keys()].some((status) => status < 300),
        `never a success: ${counts}`,
      );
    });
  }
});

const plainly = (url: string): Made => ({
  url,
  headers: { authorization: `Bearer ${keys.secret}` },
  payload: undefined,
  wrong: null,
});

const asJson = () => ({ headers: { ...plainly('').headers, 'content-type': 'application/json' } });

async function ask(method: string, { url, headers, payload }: Made): Promise<Answer> {
  const { app } = await house();
  const answer = await app.inject({ method: method.toUpperCase() as 'GET', url, headers, ...(payload !== undefined && { payload }) });
  return { status: answer.statusCode, headers: answer.headers, body: answer.payload };
}

/** What was created is named by the operations that follow. */
function remember({ path }: Described, { url }: Made, { status, headers: { location }, body }: Answer): void {
  if (typeof location === 'string') known.add(location.replace(/[^/]+$/, '{}'), location);
  else if (status === 201) known.add(`${path}/{}`, `${url.split('?')[0]}/${JSON.parse(body).data.id}`);
}

/** The request for the next page. */
function followed(made: Made, { status, body }: Answer): Made | null {
  const cursor = status === 200 ? JSON.parse(body).meta?.next_cursor : null;
  if (!cursor) return null;
  const url = new URL(made.url, 'http://api.example');
  url.searchParams.set('cursor', cursor);
  return { ...made, url: url.pathname + url.search };
}

/** What is wrong with an answer, null when nothing is. */
function fault({ method, operation }: Described, made: Made, answer: Answer): string | null {
  const { status, body } = answer;
  const [wrong] = status >= 500 ? ['failed'] : wrongWithAnswer(operation, answer);
  if (wrong) return `${wrong}: ${status} ${body.slice(0, 500)}`;
  if (status < 300 && made.wrong !== null && !tellsWithin(operation))
    return `accepted, though ${made.wrong}: ${status} ${body.slice(0, 500)}`;
  return method === 'get' && status === 422 && made.wrong === null && isRefusedUnsaid(operation, made, JSON.parse(body).errors)
    ? `refused, though the contract has nothing against it: ${body}`
    : null;
}

/** A batch is accepted whatever its items hold, each answered for itself; and what is no message of MCP is told so within a 200. */
const tellsWithin = ({ operationId }: Document) => ['vehicles.batch', 'mcp.send'].includes(operationId);

/** Whether a secret key's query was refused for more than what the contract says in words alone. */
function isRefusedUnsaid({ parameters }: Document, { url, headers }: Made, errors: object): boolean {
  const sent = new URL(url, 'http://api.example').searchParams;
  const isSaid = ({ name, schema }: Document) => saidInWords.has(name) || hasOwnCodes(schema) || isOddMoment(schema, sent.get(name) ?? '');
  return headers.authorization === `Bearer ${keys.secret}` && !parameters.some((one: Document) => one.name in errors && isSaid(one));
}

/** A cursor belongs to its list, which numbers there are the dealership's country decides, and a name begins with a letter or digit. */
const saidInWords = new Set(['cursor', 'phone', 'q']);
/** Which codes the dealership added to a list is nothing a schema knows. */
const hasOwnCodes = ({ items }: Document): boolean => items?.pattern?.includes('|X_') ?? false;
/** A format knows leap seconds, the year 0 and what others may write besides. */
const isOddMoment = ({ format = '' }: Document, text: string): boolean =>
  format.startsWith('date') && (!/^\d{4}-\d\d-\d\d(T\d\d:\d\d:[0-5]\d(\.\d{3})?Z)?$/.test(text) || text.startsWith('0000'));

test('an answer the contract does not know would be found', async () => {
  const listed = operations.find(({ operation }) => operation.operationId === 'vehicles.list')!;
  const asked = plainly('/v1/vehicles?limit=2');
  const answer = await ask('get', asked);
  const judge = (change: Partial<Answer>, made = asked) => fault(listed, made, { ...answer, ...change }) ?? '';
  assert.equal(judge({}), '');
  assert.match(judge({ status: 500 }), /failed/);
  assert.match(judge({ status: 409 }), /undocumented status/);
  assert.match(judge({}, { ...asked, wrong: 'limit' }), /accepted, though limit/);
  const refused = { success: false, message: '', request_id: '', code: 'validation_failed', errors: { make: ['No.'] } };
  assert.match(judge({ status: 422, body: JSON.stringify(refused) }), /refused, though/);
});
