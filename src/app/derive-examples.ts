import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { crc32, deflateSync } from 'node:zlib';
import { z } from 'zod';
import { findDealer, operatorOf } from '#modules/dealers/index.ts';
import type { Event } from '#modules/events/contract.ts';
import { listEventTypes } from '#modules/events/contract.ts';
import { emit, eventTypes } from '#modules/events/index.ts';
import type { EventType, Example, Operation } from '#platform/contract.ts';
import { fromMillis } from '#platform/dates.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { work } from '#platform/jobs/work.ts';
import { createLog } from '#platform/log.ts';
import type { Names, Vetting } from '#platform/net/public-address.ts';
import type { Service } from '#platform/service.ts';
import { buildApi } from './api.ts';
import { handlers, operations } from './catalogue.ts';
import { readConfig } from './config.ts';
import { eventTypesShown, exampleOf } from './event-types.ts';
import type { Examples, Shown } from './examples.ts';
import { createDemo, makeSandbox } from './prepare.ts';
import { closeService, openService } from './service.ts';
import { alike } from './stand-ins.ts';
import { contextOf } from './worker.ts';

type App = ReturnType<typeof buildApi>;

/** Asks the demo dealer, made in a prepared database, for an example of every operation. The same on every machine and day. */
export async function deriveExamples(databaseUrl: string): Promise<Examples> {
  let now: number = times[0];
  const log = createLog({ level: 'silent' });
  const { limits, baseUrl } = readConfig({});
  const clock = () => fromMillis(now);
  const folder = mkdtempSync(join(tmpdir(), 'forecourt-examples-'));
  const files = { kind: 'folder', folder, addresses: `${baseUrl}/files` } as const;
  const opened = await openService({ log, databaseUrl, masterKeys: [Buffer.alloc(32)], limits, files, clock, connections: 4 });
  const service = { ...opened, webhooksTo: nowhere };
  const app = buildApi({ service, baseUrl, trustedProxies: [] });
  const working = await work({ databaseUrl, service, handlers, schedules: [], contextOf });
  try {
    await makeSandbox(service);
    const { secret_key: key } = await createDemo(service, demoVehicles);
    const asked = new Map<string, Shown>();
    const ids = new Map<string, string>();
    const isShown = async (operation: Operation) => {
      now = Math.max(now, times[turnOf(operation)]);
      const { example = {} } = operation;
      const shown = await show(app, key, operation, example, ids);
      if (shown) asked.set(operation.id, shown);
      const other = example.or && (await show(app, key, operation, { ...example, query: example.or }, ids));
      if (other) asked.set(`${operation.id}.or`, other);
      return shown !== null;
    };
    // What needs something that a later one makes is asked once more before all is deleted.
    const lacking: Operation[] = [];
    for (const operation of inOrder().filter((one) => one !== listEventTypes)) {
      if (turnOf(operation) === 2) for (const late of lacking.splice(0)) await isShown(late);
      if (!(await isShown(operation))) lacking.push(operation);
    }
    for (const type of eventTypes) asked.set(exampleOf(type), await showEvent(app, key, service, type));
    const shown = alike(asked, key);
    return new Map([...shown, [listEventTypes.id, eventTypesShown(shown)]]);
  } finally {
    await working.close();
    await app.close();
    await closeService(service);
    rmSync(folder, { recursive: true });
  }
}

const demoVehicles = 12;

/** Where examples are delivered: every name is known, and nobody is there. */
const nowhere: Vetting = {
  names: { resolve4: async () => ['255.255.255.255'], resolve6: async () => [] } as unknown as Names,
  allow: ['255.255.255.255/32'],
  ownHosts: [],
};

/** What creates comes first, so that there is something to show, and what deletes comes last, the inner before the outer. */
const inOrder = (): Operation[] =>
  [...operations].sort((a, b) => turnOf(a) - turnOf(b) || (turnOf(a) === 2 ? b.path.length - a.path.length : 0));

const turnOf = ({ method, success }: Operation): 0 | 1 | 2 => (method === 'DELETE' ? 2 : success.status > 200 ? 0 : 1);

/** When each of the three turns is. */
const times = [Date.UTC(2026, 0, 31, 9, 30), Date.UTC(2026, 0, 31, 10, 15), Date.UTC(2026, 0, 31, 16, 45)] as const;

/** Null when the operation needs what no example has made, or a body and has none to show. */
async function show(app: App, key: string, operation: Operation, example: Example, ids: Map<string, string>): Promise<Shown | null> {
  const { method, body } = operation;
  if (body.type !== 'undefined' && example.body === undefined) return null;
  const path = await pathOf(app, key, operation, example, ids);
  if (path === null) return null;
  const content = withIds(example.body, ids);
  const sent = content !== undefined && operation.multipart ? formOf(operation, content as Record<string, string>) : jsonOf(content);
  const { status, headers, body: answer } = await ask(app, key, method, path, sent);
  if (status >= 400) throw new Error(`The example of ${operation.id} is refused: ${JSON.stringify(answer)}`);
  const { location } = headers;
  if (status > 200)
    for (const list of [location?.slice(0, location.lastIndexOf('/')), path, operation.path]) if (list) ids.set(list, idIn(answer));
  if (location && status === 202) await untilDone(app, key, location);
  return {
    request: { method, path, ...(content !== undefined && { body: content }) },
    response: { status, headers: location ? { Location: location } : {}, body: answer },
  };
}

/** The latest event of a type, one a key caused if there is one. */
async function showEvent(app: App, key: string, service: Service, type: EventType): Promise<Shown> {
  if (type.example) await tellDemo(service, type);
  const path = `/v1/events?type=${type.type}&limit=100`;
  const { status, body } = await ask(app, key, 'GET', path);
  const { data, meta } = body as { data: Event[]; meta: object };
  const found = data.findLast(({ actor }) => actor.kind === 'key') ?? data.at(-1);
  if (!found) throw new Error(`The demo dealer has no event of the type ${type.type}: give the type an example.`);
  return { request: { method: 'GET', path }, response: { status, headers: {}, body: { data: [found], meta } } };
}

async function tellDemo(service: Service, type: EventType): Promise<void> {
  const found = await findDealer(service, { code: 'demo' });
  if (!found) throw new Error('There is no demo dealer.');
  const about = { resourceId: (type.example as { id: string }).id, branchId: null };
  await inTransaction(operatorOf(service, found.dealer, found.now), async (tx) => emit(tx, type, type.example, about));
}

/** The path with its parameters and its query. An id no example says is that of what was made, or is found, in the list it stands under. */
async function pathOf(app: App, key: string, { path, success }: Operation, { params, query }: Example, ids: Map<string, string>) {
  let filled = '';
  for (const step of path.split('/').slice(1)) {
    const name = /^\{(\w+)\}$/.exec(step)?.[1];
    const value = name === undefined ? step : (withIds(params?.[name], ids) ?? ids.get(filled) ?? (await firstOf(app, key, filled)));
    if (value === undefined) return null;
    filled += `/${value}`;
  }
  const asked = new URLSearchParams(query ?? (success.shape === 'page' ? { limit: '2' } : {}));
  return asked.size > 0 ? `${filled}?${asked}` : filled;
}

const idIn = (answer: unknown): string => (answer as { data: { id: string } }).data.id;

async function firstOf(app: App, key: string, list: string): Promise<string | undefined> {
  const { status, body } = await ask(app, key, 'GET', `${list}?limit=1`);
  return status === 200 ? (body as { data: { id: string }[] }).data[0]?.id : undefined;
}

/** What goes on in the background is shown when it is done. */
async function untilDone(app: App, key: string, location: string): Promise<void> {
  // No more often than the key's allowance lets it: the clock stands still.
  for (let looks = 0; looks < 60; looks++) {
    const { body } = await ask(app, key, 'GET', location);
    if ((body as { data: { status?: string } }).data.status !== 'processing') return;
    await delay(300);
  }
  throw new Error(`${location} does not end.`);
}

interface Sent {
  readonly type: string;
  readonly payload: string | Buffer;
}

const jsonOf = (content: unknown): Sent | undefined =>
  content === undefined ? undefined : { type: 'application/json', payload: JSON.stringify(content) };

/** As multipart/form-data: what the contract takes for a file is a picture of that name. */
function formOf({ body }: Operation, content: Record<string, string>): Sent {
  const { properties = {} } = z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' });
  const parts = Object.entries(content).flatMap(([name, value]) => {
    const isFile = Object.hasOwn(Object(properties[name]), 'contentMediaType');
    const head = `--part\r\nContent-Disposition: form-data; name="${name}"`;
    return [
      Buffer.from(isFile ? `${head}; filename="${value}"\r\n\r\n` : `${head}\r\n\r\n`),
      isFile ? picture() : Buffer.from(value),
      Buffer.from('\r\n'),
    ];
  });
  return { type: 'multipart/form-data; boundary=part', payload: Buffer.concat([...parts, Buffer.from('--part--\r\n')]) };
}

async function ask(app: App, key: string, method: string, path: string, sent?: Sent) {
  const answer = await app.inject({
    method: method as 'GET',
    url: path,
    headers: { authorization: `Bearer ${key}`, ...(sent && { 'content-type': sent.type }) },
    ...(sent && { payload: sent.payload }),
  });
  return { status: answer.statusCode, headers: answer.headers as Record<string, string>, body: JSON.parse(answer.payload) as unknown };
}

/** A grey PNG of 1600 × 1200. */
function picture(): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const named = Buffer.concat([Buffer.from(type), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(named));
    return Buffer.concat([length, named, sum]);
  };
  const header = Buffer.from([0, 0, 0x06, 0x40, 0, 0, 0x04, 0xb0, 8, 0, 0, 0, 0]);
  const rows = deflateSync(Buffer.alloc(1200 * 1601, Buffer.concat([Buffer.from([0]), Buffer.alloc(1600, 0x80)])));
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    chunk('IDAT', rows),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** `{/v1/vehicles}` becomes the id of what was made there, `{/v1/vehicles/{id}/images}` likewise. */
function withIds<T>(value: T, ids: ReadonlyMap<string, string>): T {
  if (value === undefined) return value;
  return JSON.parse(JSON.stringify(value).replaceAll(/\{(\/v1\/(?:[a-z/-]|\{\w+\})+)\}/g, (whole, list: string) => ids.get(list) ?? whole));
}
