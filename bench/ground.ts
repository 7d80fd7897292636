import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import { startEmbedded } from '#platform/db/embedded.ts';
import { createLog } from '#platform/log.ts';
import type { Service } from '#platform/service.ts';
import { buildApi } from '../src/app/api.ts';
import { readConfig } from '../src/app/config.ts';
import { prepareDatabase } from '../src/app/database.ts';
import { closeService, openService } from '../src/app/service.ts';
import type { Authority } from '../test/support/certificates.ts';
import { authority } from '../test/support/certificates.ts';
import type { BareOrder } from './bare.ts';
import { end, freePort, own, withDatabase } from './child.ts';
import { serverLog } from './server-log.ts';

/** What a measurement stands on: a PostgreSQL of its own, prepared like a production one, and processes on it. */
export interface Ground {
  readonly databaseUrl: string;
  /** Of the superuser, who sees all rows. */
  readonly adminUrl: string;
  readonly service: Service;
  /** The API inside this process: to look at what a request does, not to be measured. */
  readonly inside: FastifyInstance;
  /** What PostgreSQL says it ran while the work was done, statement by statement. */
  ranDuring(work: () => Promise<unknown>): Promise<string[]>;
  /** Starts the API as the process production runs. Returns its address. */
  startApi(): Promise<string>;
  /** Starts a worker likewise. Returns the id of its process. */
  startWorker(): Promise<number>;
  /** Starts the server that photos come from, and says how large they are. */
  startPictures(): Promise<{ url: string; megabytes: number }>;
  /** Starts the server to compare with. Returns its address. */
  startBare(order: Omit<BareOrder, 'databaseUrl'>): Promise<string>;
  /** Starts a courier as production does; it can be asked what it costs. */
  startCourier(): Promise<ChildProcess>;
  /** Starts a script of this folder, and tells it what it is to do. Returns the first that it says. */
  start<T>(file: string, order?: object): Promise<{ child: ChildProcess; said: T }>;
  /** Whom the processes trust. */
  readonly trusted: Authority;
}

/** Does the work on a ground of its own, of which nothing is left. */
export async function onGround<T>(work: (ground: Ground) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'forecourt-bench-'));
  const undo: (() => Promise<unknown>)[] = [async () => rmSync(folder, { recursive: true, force: true })];
  const finish = async () => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  const interrupted = () => void finish().finally(() => process.exit(130));
  const failed = (fault: unknown) => {
    console.error(fault);
    void finish().finally(() => process.exit(1));
  };
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted).once('uncaughtException', failed);
  try {
    const log = serverLog();
    const embedded = await startEmbedded(folder, { log: log.line });
    undo.push(() => embedded.stop());
    const databaseUrl = embedded.url;
    await prepareDatabase(databaseUrl);

    const { limits, files } = readConfig({ DATA_DIR: folder });
    const masterKey = randomBytes(32);
    const errors = createLog({ level: 'error' });
    const service = await openService({
      ...{ log: errors, databaseUrl, masterKeys: [masterKey], limits, files, connections: 16 },
      webhookAllowAddresses: [loopback],
    });
    undo.push(() => closeService(service));
    const inside = buildApi({ service, baseUrl: 'http://127.0.0.1', trustedProxies: [], oauthCallsPerMinute: manyCalls });
    undo.push(async () => inside.close());

    const trusted = authority();
    const authorityFile = join(folder, 'authority.pem');
    writeFileSync(authorityFile, trusted.certificate);

    const start = async <T>(file: string, order?: object, env: Record<string, string> = {}): Promise<{ child: ChildProcess; said: T }> => {
      const child = fork(fileURLToPath(new URL(file, import.meta.url)), {
        env: { ...own(), NODE_EXTRA_CA_CERTS: authorityFile, ...env },
        execArgv: ['--import', new URL('observe.ts', import.meta.url).href],
        stdio: ['ignore', ...logTo(folder), 'ipc'],
      });
      undo.push(() => end(child));
      if (order) child.send(order);
      const [said] = await Promise.race([once(child, 'message'), once(child, 'exit').then(() => [null])]);
      if (said === null || said.type === 'failed')
        throw new Error(`${file} did not start: ${said?.reason ?? readFileSync(join(folder, 'log'), 'utf8')}`);
      return { child, said };
    };
    const startProcess = async (kind: string) => {
      const port = await freePort();
      const { child } = await start('../src/bin/role.ts', undefined, {
        FORECOURT_PROCESS: kind,
        DATABASE_URL: databaseUrl,
        DATA_DIR: folder,
        MASTER_KEY: masterKey.toString('base64'),
        API_PORT: `${port}`,
        IMAGE_ALLOW_ADDRESSES: loopback,
        WEBHOOK_ALLOW_ADDRESSES: loopback,
        OAUTH_CALLS_PER_MINUTE: `${manyCalls}`,
        // As the supervisor gives it to its processes.
        MALLOC_ARENA_MAX: '2',
      });
      return { url: `http://127.0.0.1:${port}`, child };
    };
    const adminUrl = withDatabase(embedded.adminUrl, databaseUrl);
    return await work({
      databaseUrl,
      adminUrl,
      service,
      inside,
      ranDuring: (work) => log.during(adminUrl, work),
      startApi: async () => (await startProcess('api')).url,
      startWorker: async () => (await startProcess('worker')).child.pid!,
      startPictures: async () => (await start<{ url: string; megabytes: number }>('pictures.ts')).said,
      startBare: async (order) => (await start<{ url: string }>('bare.ts', { ...order, databaseUrl: adminUrl })).said.url,
      startCourier: async () => (await startProcess('courier')).child,
      start,
      trusted,
    });
  } finally {
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted).off('uncaughtException', failed);
    await finish();
  }
}

/** Where everything stands that is called here. */
const loopback = '127.0.0.1/32';

/** All who call here share one address. */
const manyCalls = 1_000_000_000;

function logTo(folder: string): [number, number] {
  const log = openSync(join(folder, 'log'), 'a');
  return [log, log];
}
