import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Exchange } from '../../support/traffic.ts';
import type { Document } from '../documents.ts';
import { contractOf, operationsOf } from '../documents.ts';
import { contract, passingFolder, redocly } from '../outsiders.ts';
import { exchanges, trafficFolder } from './recorded.ts';

interface Problem {
  readonly message: string;
  readonly operationId: string;
  readonly target: 'request' | 'response';
  readonly dataPath?: string;
  readonly url: string;
  readonly status: number;
}

/** What redocly has to say of exchanges: of requests where they were accepted, of answers always. */
async function problemsOf(t: { after(undo: () => void): void }, traffic: string, ...options: string[]): Promise<Problem[]> {
  const report = join(passingFolder(t), 'report.json');
  const judged = ['--api', contract, '--traffic-format', 'ndjson', '--match-mode', 'basepath', '--format', 'json', '--output', report];
  const { out } = await redocly('drift', traffic, ...judged, ...options);
  assert.ok(existsSync(report), out);
  return JSON.parse(readFileSync(report, 'utf8')).problems.filter((one: Problem) => !isMeant(one));
}

/** A batch judges its items one by one, and takes `{"vehicles": […]}` for the array, as its description says. */
const isMeant = ({ operationId, target, dataPath = '', message }: Problem): boolean =>
  operationId === 'vehicles.batch' &&
  target === 'request' &&
  (/^\/\d+/.test(dataPath) || message === 'Request field "root" must be array.');

const told = (problems: readonly Problem[]) =>
  problems.map(({ operationId, status, message, url }) => `${operationId} ${status}: ${message} ${url}`);

test('what the suite was allowed to ask, and was answered, is what the contract says', async (t) => {
  assert.deepEqual(told(await problemsOf(t, join(trafficFolder(), 'accepted'), '--min-severity', 'warning')), []);
});

test('what the suite was refused is refused as the contract says', async (t) => {
  const rules = 'undocumented-endpoint,schema-consistency';
  assert.deepEqual(told(await problemsOf(t, join(trafficFolder(), 'refused'), '--rules', rules, '--min-severity', 'error')), []);
});

test('no answer had a status or a code its operation does not name, and each carried its id and what is left of the allowance', (t) => {
  let count = 0;
  const wrong = new Set<string>();
  for (const exchange of exchanges()) {
    count++;
    for (const statement of statements(exchange)) wrong.add(statement);
  }
  t.diagnostic(`${count} exchanges`);
  assert.ok(count > 0);
  assert.deepEqual([...wrong], []);
});

test('every operation was asked, and answered with success', () => {
  const unmet = new Set(described.map(({ operation }) => operation.operationId));
  for (const exchange of exchanges()) if (exchange.response.status < 400) unmet.delete(operationOf(exchange)?.operationId);
  assert.deepEqual([...unmet], []);
});

const { components } = contractOf();
const described = operationsOf(contractOf()).map(({ path, method, operation }) => ({
  method: method.toUpperCase(),
  pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  operation,
}));

function firstList(): Exchange {
  for (const exchange of exchanges()) if (exchange.response.status === 200 && pathOf(exchange) === '/v1/vehicles') return exchange;
  throw new Error('Nobody listed vehicles.');
}

const pathOf = ({ request }: Exchange) => request.url.split('?')[0] ?? '';
const operationOf = (exchange: Exchange): Document =>
  described.find(({ method, pattern }) => method === exchange.request.method && pattern.test(pathOf(exchange)))?.operation;

/** What is wrong with an exchange that a schema does not say. */
function statements(exchange: Exchange): string[] {
  const { status, headers, body } = exchange.response;
  const named = operationOf(exchange)?.responses[status];
  const codes = (named?.$ref ? components.responses[named.$ref.split('/').at(-1)] : named)?.['x-codes'];
  const code = status < 400 ? undefined : JSON.parse(body).code;
  const missing = ['x-request-id', 'x-ratelimit-limit', 'x-ratelimit-remaining'].filter((name) => headers[name] === undefined);
  const at = `${exchange.request.method} ${pathOf(exchange)} answers ${status}`;
  return [
    ...(named ? [] : [at]),
    ...(code === undefined || codes?.includes(code) ? [] : [`${at} ${code}`]),
    ...missing.map((name) => `${at} without ${name}`),
  ];
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
    assert.notDeepEqual(await problemsOf(t, folder), [], `number ${i}`);
  }
});
