import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Exchange } from '../../support/traffic.ts';
import { wrongWithAnswer } from '../answers.ts';
import type { Document } from '../documents.ts';
import { contractOf, operationsOf } from '../documents.ts';
import { contract, passingFolder, redocly } from '../outsiders.ts';
import type { Kind } from './recorded.ts';
import { exchanges, trafficFolder } from './recorded.ts';

interface Problem {
  readonly message: string;
  readonly operationId: string;
  readonly target: 'request' | 'response';
  readonly dataPath?: string;
  readonly url: string;
  readonly status: number;
}

interface Report {
  readonly problems: readonly Problem[];
  readonly run: { readonly totalExchanges: number; readonly skippedExchanges: number };
}

/** What redocly has to say of exchanges: of requests where they were accepted, of answers always. */
async function judged(t: { after(undo: () => void): void }, traffic: string, ...options: string[]): Promise<Report> {
  const file = join(passingFolder(t), 'report.json');
  const how = ['--api', contract, '--traffic-format', 'ndjson', '--match-mode', 'basepath', '--format', 'json', '--output', file];
  const { out } = await redocly('drift', traffic, ...how, ...options);
  assert.ok(existsSync(file), out);
  return JSON.parse(readFileSync(file, 'utf8'));
}

/**
 * What failed may have been asked anything, and the MCP endpoint tells within a 200 that it was asked for nothing of its protocol. A batch judges its items one by one, and takes `{"vehicles": […]}` for the array, as its
 * description says.
 */
const isMeant = ({ operationId, target, dataPath = '', message, status }: Problem): boolean =>
  target === 'request' &&
  (status >= 500 ||
    operationId === 'mcp.send' ||
    (operationId === 'vehicles.batch' && (/^\/\d+/.test(dataPath) || message === 'Request field "root" must be array.')));

/** Nothing to say, once redocly looked at every exchange that was written down. */
function assertClean({ problems, run }: Report, kind: Kind): void {
  assert.deepEqual([run.totalExchanges, run.skippedExchanges], [countOf(exchanges(kind)), 0]);
  assert.deepEqual(
    problems.filter((one) => !isMeant(one)).map(({ operationId, status, message, url }) => `${operationId} ${status}: ${message} ${url}`),
    [],
  );
}

function countOf(all: Iterable<Exchange>): number {
  let count = 0;
  for (const _one of all) count++;
  return count;
}

test('what the suite was allowed to ask, and was answered, is what the contract says', async (t) => {
  assertClean(await judged(t, join(trafficFolder(), 'accepted'), '--min-severity', 'warning'), 'accepted');
});

test('what the suite was refused is refused as the contract says', async (t) => {
  const rules = 'undocumented-endpoint,schema-consistency';
  assertClean(await judged(t, join(trafficFolder(), 'refused'), '--rules', rules, '--min-severity', 'error'), 'refused');
});

test('no answer had a status, a header, a body or a code its operation does not name, or was without what it promises', (t) => {
  let count = 0;
  const wrong = new Set<string>();
  for (const exchange of exchanges()) {
    count++;
    for (const one of wrongWithAnswer(operationOf(exchange), exchange.response)) wrong.add(`${titleOf(exchange)}: ${one}`);
  }
  t.diagnostic(`${count} exchanges`);
  assert.deepEqual([...wrong], []);
});

test('it was asked of the server itself, by bytes over a connection, by a client, and by curl as the guides say', () => {
  const agents = new Set([...exchanges()].map(({ request }) => request.headers['user-agent']?.split('/')[0]));
  assert.deepEqual([...agents].sort(), ['curl', 'lightMyRequest', 'node', undefined]);
});

test('an answer was met at every status of a fault, too', () => {
  const statuses = new Set([...exchanges('refused')].map(({ response }) => response.status));
  assert.deepEqual(
    [500, 503].filter((status) => !statuses.has(status)),
    [],
  );
});

test('every operation was asked, and answered with success', () => {
  const unmet = new Set(operations.map(({ operation }) => operation.operationId));
  for (const exchange of exchanges('accepted')) unmet.delete(operationOf(exchange)?.operationId);
  assert.deepEqual([...unmet], []);
});

const operations = operationsOf(contractOf()).map(({ path, method, operation }) => ({
  method: method.toUpperCase(),
  pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  operation,
}));

const pathOf = ({ request }: Exchange) => request.url.split('?')[0] ?? '';
const operationOf = (exchange: Exchange): Document =>
  operations.find(({ method, pattern }) => method === exchange.request.method && pattern.test(pathOf(exchange)))?.operation;
const titleOf = (exchange: Exchange) => `${exchange.request.method} ${pathOf(exchange)} answers ${exchange.response.status}`;

function firstList(): Exchange {
  for (const exchange of exchanges('accepted'))
    if (exchange.request.method === 'GET' && pathOf(exchange) === '/v1/vehicles') return exchange;
  throw new Error('Nobody listed vehicles.');
}

test('an exchange that breaks the contract would be found', async (t) => {
  const folder = join(passingFolder(t), 'broken');
  mkdirSync(folder);
  const list = firstList();
  const body = JSON.parse(list.response.body);
  const broken = [
    { ...list, response: { ...list.response, body: JSON.stringify({ data: body.data }) } },
    { ...list, response: { ...list.response, body: JSON.stringify({ ...body, data: [{ id: 7 }] }) } },
    { ...list, request: { ...list.request, url: '/v1/vehicles?limit=101' } },
    { ...list, request: { ...list.request, url: '/v1/nothing' } },
    { ...list, request: { ...list.request, headers: {} } },
  ];
  for (const [i, exchange] of broken.entries()) {
    writeFileSync(join(folder, 'broken.ndjson'), `${JSON.stringify(exchange)}\n`);
    assert.notDeepEqual((await judged(t, folder)).problems, [], `number ${i}`);
  }
});
