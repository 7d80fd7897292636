import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
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
    const service = await openService({ log: errors, databaseUrl, masterKeys: [masterKey], limits, files, connections: 4 });
    undo.push(() => closeService(service));
    const inside = buildApi({ service, baseUrl: 'http://127.0.0.1', trustedProxies: [] });
    undo.push(async () => inside.close());

    const start = async (file: string, env: Record<string, string>, order?: BareOrder) => {
      const child = fork(fileURLToPath(new URL(file, import.meta.url)), {
        env: { ...own(), ...env },
        stdio: ['ignore', ...logTo(folder), 'ipc'],
      });
      undo.push(() => end(child));
      if (order) child.send(order);
      const [said] = await Promise.race([once(child, 'message'), once(child, 'exit').then(() => [null])]);
      if (said === null || said.type === 'failed')
        throw new Error(`${file} did not start: ${said?.reason ?? readFileSync(join(folder, 'log'), 'utf8')}`);
      return { ...said, processId: child.pid };
    };
    const startRole = async (role: string) => {
      const port = await freePort();
      const { processId } = await start('../src/bin/role.ts', {
        FORECOURT_PROCESS: role,
        DATABASE_URL: databaseUrl,
        DATA_DIR: folder,
        MASTER_KEY: masterKey.toString('base64'),
        API_PORT: `${port}`,
        IMAGE_ALLOW_ADDRESSES: '127.0.0.1/32',
        // As the supervisor gives it to its processes.
        MALLOC_ARENA_MAX: '2',
      });
      return { url: `http://127.0.0.1:${port}`, processId: processId as number };
    };
    const adminUrl = withDatabase(embedded.adminUrl, databaseUrl);
    return await work({
      databaseUrl,
      adminUrl,
      service,
      inside,
      ranDuring: (work) => log.during(adminUrl, work),
      startApi: async () => (await startRole('api')).url,
      startWorker: async () => (await startRole('worker')).processId,
      startPictures: () => start('pictures.ts', {}),
      startBare: async (order) => (await start('bare.ts', {}, { ...order, databaseUrl: adminUrl })).url,
    });
  } finally {
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted).off('uncaughtException', failed);
    await finish();
  }
}

function logTo(folder: string): [number, number] {
  const log = openSync(join(folder, 'log'), 'a');
  return [log, log];
}
