import { rm } from 'node:fs/promises';
import { after } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { createBranch, createDealer, operatorContext, setDealer } from '#modules/dealers/index.ts';
import { changeKey, issueKey, revokeKey, rollKey } from '#modules/keys/index.ts';
import type { Role } from '#modules/staff/contract.ts';
import { createUser, setUser } from '#modules/staff/index.ts';
import type { Context } from '#platform/context.ts';
import type { FilesPlace } from '#platform/files/store.ts';
import type { Route } from '#platform/http/answer.ts';
import type { LookupSettings } from '#platform/lookup/lookup.ts';
import { randomText } from '#platform/secrets.ts';
import type { Service } from '#platform/service.ts';
import { buildApi } from '../../src/app/api.ts';
import { makeSandbox } from '../../src/app/prepare.ts';
import { closeService, openService } from '../../src/app/service.ts';
import type { Api } from './api.ts';
import { speak } from './api.ts';
import type { Clock } from './clock.ts';
import { testClock } from './clock.ts';
import { testDatabase } from './database.ts';
import {
  addressesInTests,
  imageAllowAddresses,
  limits,
  masterKeys,
  ownFiles,
  ownOutbox,
  silentLog,
  webhookAllowAddresses,
} from './fixtures.ts';
import { nameServer } from './name-server.ts';
import { recordTraffic } from './traffic.ts';

/** What a file of tests runs against: a database of its own, a service and an API on it. */
export interface House {
  readonly databaseUrl: string;
  readonly service: Service;
  readonly app: FastifyInstance;
  /** Where its files are kept. */
  readonly files: FilesPlace & { kind: 'folder' };
  /** Where its mail goes. */
  readonly outbox: string;
  readonly clock: Clock;
}

const extra: Route[] = [];
let built: Promise<House> | undefined;

/** Adds operations that only this file's API has. Call it before the first `dealership`. */
export const alsoServe = (...more: Route[]): void => void extra.push(...more);

let lookup: LookupSettings = { dvla: null, dvsa: null };

/** Lets this file's API ask these providers. Call it before the first `dealership`. */
export const lookUpWith = (settings: LookupSettings): void => {
  lookup = settings;
};

/** The house of this file, built when it is first asked for. */
export const house = (): Promise<House> => {
  built ??= build();
  return built;
};

const undo: (() => Promise<void>)[] = [];
after(async () => {
  for (const step of undo.reverse()) await step();
});

/** Has this done before the house is torn down. */
export const undoneFirst = (step: () => Promise<void>): void => void undo.push(step);

async function build(): Promise<House> {
  const databaseUrl = await testDatabase({ after: (step) => void undo.push(step) });
  const clock = testClock();
  const files = ownFiles();
  const mail = ownOutbox();
  const names = await nameServer({ after: (close) => void undo.push(async () => close()) }, addressesInTests);
  const opened = await openService({
    log: silentLog,
    databaseUrl,
    masterKeys,
    limits,
    files,
    mail,
    imageAllowAddresses,
    webhookAllowAddresses,
    lookup,
    clock: clock.read,
  });
  const service = { ...opened, webhooksTo: { ...opened.webhooksTo, names } };
  const app = recordTraffic(
    buildApi({
      service,
      baseUrl: 'http://127.0.0.1:4000',
      trustedProxies: ['10.0.0.0/8'],
      // Tests ask often: the limit has a test of its own.
      oauthCallsPerMinute: 1_000_000,
      bodyTimeoutMs: 500,
      more: extra,
    }),
  );
  undo.push(
    () => rm(files.folder, { recursive: true, force: true }),
    () => rm(mail.folder, { recursive: true, force: true }),
    () => closeService(service),
    () => app.close() as unknown as Promise<void>,
  );
  await makeSandbox(service);
  return { databaseUrl, service, app, files, outbox: mail.folder, clock };
}

type KeyOptions = Partial<Parameters<typeof issueKey>[1]>;
type UserOptions = { role?: Role; branches?: 'all' | string[]; without?: string[] };

/** A dealership with an administrator, a secret key of all scopes and an API that speaks with it. */
export interface Dealership extends House {
  readonly id: string;
  readonly code: string;
  readonly branch: { id: string; name: string };
  readonly ctx: Context;
  readonly owner: { id: string; email: string };
  readonly keyId: string;
  readonly api: Api;
  newBranch(published?: boolean): Promise<{ id: string }>;
  newUser(options?: UserOptions): Promise<{ id: string; email: string }>;
  newKey(options?: KeyOptions): Promise<{ id: string; key: string }>;
  /** The API with a new key. */
  apiWith(options?: KeyOptions): Promise<Api>;
  setPlan(plan: 'FREE' | 'STANDARD' | 'PROFESSIONAL'): Promise<void>;
  readonly keys: { change: typeof changeKey; roll: typeof rollKey; revoke: typeof revokeKey };
}

type DealerOptions = { plan?: 'FREE' | 'STANDARD' | 'PROFESSIONAL'; timeZone?: string };

export async function dealership({ plan = 'PROFESSIONAL', timeZone = 'Europe/London' }: DealerOptions = {}): Promise<Dealership> {
  const home = await house();
  const { service, app } = home;
  const code = `t-${randomText(10).toLowerCase()}`;
  const dealer = await createDealer(service, { name: 'Test Motors', code, plan, timeZone });
  const ctx = await operatorContext(service, dealer.id);
  const newUser = async ({ role = 'ADMINISTRATOR', branches = 'all', without }: UserOptions = {}) => {
    const email = `${randomText(8).toLowerCase()}@${code}.example`;
    const { id } = await createUser(ctx, { email, name: 'A Member', role, password: 'correct horse', branches });
    if (without) await setUser(ctx, email, { without: without as never });
    return { id, email };
  };
  const owner = await newUser();
  const newKey = (key: KeyOptions = {}) =>
    issueKey(ctx, {
      name: 'A key',
      ownerId: owner.id,
      kind: 'secret',
      environment: 'live',
      ...(key.kind === 'publishable' && { origins: ['https://www.example.com'] }),
      ...key,
    });
  // Tests ask often: the limit has tests of its own.
  const first = await newKey({ rateLimit: 1_000_000 });
  return {
    ...home,
    id: dealer.id,
    code,
    branch: dealer.branches[0]!,
    ctx,
    owner,
    keyId: first.id,
    api: speak(app, first.key),
    newBranch: (published = true) => createBranch(ctx, { name: `Branch ${randomText(4)}`, published }),
    newUser,
    newKey,
    apiWith: async (key) => speak(app, (await newKey({ rateLimit: 1_000_000, ...key })).key),
    setPlan: async (plan) => void (await setDealer(ctx, { plan })),
    keys: { change: changeKey, roll: rollKey, revoke: revokeKey },
  };
}
