import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { publishableScopes } from '#modules/keys/contract.ts';
import { scopeCatalogue } from '#modules/staff/contract.ts';
import type { EventType, Operation } from '#platform/contract.ts';
import { listQuery } from '#platform/contract.ts';
import type { Code } from '#platform/errors.ts';
import { catalogue } from '#platform/errors.ts';
import type { Tool } from '#platform/mcp/tool.ts';
import { handlers, routes, schedules, tools } from '../../src/app/catalogue.ts';
import { openApi } from '../../src/app/openapi.ts';
import { eventTypes } from '../../src/modules/events/lists.ts';
import { filesLike } from './source.ts';

const operations: readonly Operation[] = routes.map(({ operation }) => operation);
const contracts: readonly Record<string, unknown>[] = await Promise.all(
  filesLike('src/modules/*/contract.ts').map((path) => import(`../../${path}`)),
);
const declared = contracts.flatMap((contract) => Object.values(contract));
const writes = operations.filter(({ method }) => method !== 'GET');
const pages = operations.filter(({ success }) => success.shape === 'page');

/** Holds for every one, and names those for which it does not. */
const allOf = <T>(items: readonly T[], name: (item: T) => string, holds: (item: T) => boolean) => {
  assert.ok(items.length > 0, 'nothing was looked at');
  assert.deepEqual(items.filter((item) => !holds(item)).map(name), []);
};

const twice = (names: readonly string[]) => names.filter((name, i) => names.indexOf(name) !== i);
const idOf = ({ id }: Operation) => id;
const fieldsOf = (schema: z.ZodType): string[] => (schema instanceof z.ZodObject ? Object.keys(schema.shape) : []);

test('every operation is answered by exactly one route', () => {
  allOf(declared.filter(isOperation), idOf, (operation) => operations.filter((one) => one === operation).length === 1);
  allOf(operations, idOf, (operation) => declared.includes(operation));
});

test('operations differ in their id, and in method and path', () => {
  assert.deepEqual(twice(operations.map(idOf)), []);
  assert.deepEqual(twice(operations.map(({ method, path }) => `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`)), []);
  allOf(operations, idOf, ({ id }) => /^[a-z_]+\.[a-z_]+$/.test(id));
});

test('every refusal is in the catalogue, once', () => {
  allOf(operations, idOf, ({ refusals }) => refusals.every((code) => code in catalogue) && twice(refusals).length === 0);
});

test('every scope exists, and needs a permission that exists', () => {
  allOf(operations, idOf, ({ access }) => access.scopes.every((scope) => scope in scopeCatalogue));
  allOf(
    eventTypes,
    ({ type }) => type,
    ({ scopes }) => scopes.every((scope) => scope in scopeCatalogue),
  );
});

test('an operation open to publishable keys needs no scope they cannot have', () => {
  const open = operations.filter(({ access }) => access.kinds.includes('publishable'));
  allOf(
    open,
    idOf,
    ({ access }) => access.scopes.length === 0 || access.scopes.some((scope) => publishableScopes.some((one) => one === scope)),
  );
});

test('every paged list takes the parameters of a list', () => {
  const common = fieldsOf(listQuery({}));
  allOf(pages, idOf, ({ query }) => common.every((name) => fieldsOf(query).includes(name)));
});

test('every paged list tells in which order it goes on: its records have `id` and `updated_at`, events `created_at` and `sequence`', () => {
  const order = ({ id }: Operation) => (id === 'events.list' ? ['created_at', 'sequence'] : ['id', 'updated_at']);
  allOf(pages, idOf, (operation) => order(operation).every((name) => fieldsOf(operation.success.data).includes(name)));
});

test('an unknown query parameter is refused everywhere', () => {
  allOf(operations, idOf, ({ query }) => !query.safeParse({ no_such_parameter: '1' }).success);
});

test('every write emits events that exist, or says why it is silent', () => {
  const types = eventTypes.map(({ type }) => type);
  allOf(
    writes,
    idOf,
    ({ emits, silent }) => (emits.length > 0 ? silent === undefined : Boolean(silent)) && emits.every((type) => types.includes(type)),
  );
  allOf(operations, idOf, ({ method, emits }) => method !== 'GET' || emits.length === 0);
});

test('every type of event is emitted by an operation or waits for theme builds, and none is listed twice', () => {
  const waits = (type: string) => type.startsWith('theme_generation.') && !operations.some(({ path }) => path === '/v1/theme-generations');
  allOf(
    eventTypes,
    ({ type }) => type,
    ({ type }) => operations.some(({ emits }) => emits.includes(type)) || waits(type),
  );
  assert.deepEqual(twice(eventTypes.map(({ type }) => type)), []);
  allOf(
    declared.filter(isEventType),
    ({ type }) => type,
    (declared) => eventTypes.includes(declared),
  );
});

test('an operation that takes an id can answer that there is no such thing', () => {
  allOf(operations, idOf, ({ path, params, refusals }) => {
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    return named.length === 0 ? params.type === 'undefined' : named.join() === fieldsOf(params).join() && refusals.includes('not_found');
  });
});

test('only writes take a body, and a creation says where it put what it made', () => {
  allOf(operations, idOf, ({ method, body }) => body.type === 'undefined' || ['POST', 'PATCH', 'PUT'].includes(method));
  allOf(
    operations.filter(({ success }) => success.status === 201),
    idOf,
    // What is read with the record it belongs to has no address of its own.
    ({ path, success }) => success.location === (path.includes('{') ? undefined : `${path}/{id}`),
  );
});

test('tools differ in their names, and need a scope that exists', () => {
  const nameOf = ({ name }: Tool) => name;
  assert.deepEqual(twice(tools.map(nameOf)), []);
  allOf(tools, nameOf, ({ name, scope }) => /^[a-z]+(_[a-z]+)+$/.test(name) && scope !== null && scope in scopeCatalogue);
});

test('a tool reads with a scope that reads, and says what to do about refusals of its own alone', () => {
  const nameOf = ({ name }: Tool) => name;
  allOf(tools, nameOf, ({ scope, hints }) => hints.readOnlyHint === scope?.endsWith(':read'));
  const known = new Set(operations.flatMap(({ refusals }) => refusals));
  allOf(tools, nameOf, ({ refusals }) => Object.keys(refusals).every((code) => known.has(code as Code) && code !== 'validation_failed'));
});

test('jobs and schedules differ in their names', () => {
  assert.deepEqual(twice([...handlers.map(({ job }) => job.name), ...schedules.map(({ name }) => name)]), []);
});

test('the document describes every operation, with what it can answer', () => {
  const { paths } = openApi('http://127.0.0.1:4000');
  allOf(operations, idOf, ({ id, path, method, success, refusals }) => {
    const described = paths[path]?.[method.toLowerCase()];
    const answers = Object.keys(described?.responses ?? {});
    const needed = [success.status, 401, 403, 422, 429, 500, 503, ...refusals.map((code) => catalogue[code].status)];
    return described?.operationId === id && needed.every((status) => answers.includes(String(status)));
  });
});

test('a response forbids no field, so that one can be added; a request body forbids what it does not know', () => {
  const { paths, components } = openApi('http://127.0.0.1:4000');
  for (const { path, method, body, id } of operations) {
    const { responses, requestBody } = paths[path]![method.toLowerCase()]!;
    assert.ok(!JSON.stringify(follow(responses, components.schemas)).includes('"additionalProperties":false'), id);
    if (body.type !== 'undefined')
      assert.ok(JSON.stringify(follow(requestBody, components.schemas)).includes('"additionalProperties":false'), id);
  }
});

/** Something with its references replaced by what they name. */
function follow(value: unknown, schemas: Record<string, unknown>): unknown {
  if (Array.isArray(value)) return value.map((one) => follow(one, schemas));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const name = key === '$ref' ? /^#\/components\/schemas\/(\w+)$/.exec(String(inner))?.[1] : undefined;
      return [key, name === undefined ? follow(inner, schemas) : follow(schemas[name], schemas)];
    }),
  );
}

function isOperation(value: unknown): value is Operation {
  return value instanceof Object && 'method' in value && 'path' in value && 'access' in value;
}

function isEventType(value: unknown): value is EventType {
  return value instanceof Object && 'type' in value && 'object' in value && 'scopes' in value;
}
