import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEmbedded } from '#platform/db/embedded.ts';
import { createLog } from '#platform/log.ts';
import type { Service } from '#platform/service.ts';
import { end, withDatabase } from '../bench/child.ts';
import { readConfig } from '../src/app/config.ts';
import { prepareDatabase } from '../src/app/database.ts';
import { closeService, openService } from '../src/app/service.ts';
import type { Authority } from '../test/support/certificates.ts';
import { authority } from '../test/support/certificates.ts';
import type { Crew, Posts } from './crew.ts';
import { muster } from './crew.ts';
import type { Database } from './database.ts';
import { databaseAt } from './database.ts';
import type { Introduction, SinkOrder } from './sink.ts';

/** What a run stands on: a PostgreSQL with all its safety, the product's processes, and the sink. */
export interface Ground {
  /** The operator's, for what comes before the faults. */
  readonly service: Service;
  readonly crew: Crew;
  readonly database: Database;
  readonly sink: Sink;
  /** Where the product's processes log to. */
  readonly logFile: string;
}

export interface Sink {
  /** An address, at the server that shows this certificate. */
  at(path: string, shows?: string): string;
  introduce(introduction: Introduction): void;
  /** Receivers that can be mended are well from here on. */
  mend(): void;
  readonly journal: string;
}

/** Does the work on a ground of its own, of which nothing is left. */
export async function onGround<T>(posts: Posts, work: (ground: Ground) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'forecourt-torture-'));
  const undo: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
  const finish = async () => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  const interrupted = () => void finish().finally(() => process.exit(130));
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  try {
    const embedded = await startEmbedded(folder);
    undo.push(() => embedded.stop());
    await prepareDatabase(embedded.url);
    const masterKey = randomBytes(32);
    const { limits, files } = readConfig({ DATA_DIR: folder });
    const log = createLog({ level: 'silent' });
    const service = await openService({ log, databaseUrl: embedded.url, masterKeys: [masterKey], limits, files, connections: 2 });
    undo.push(() => closeService(service));

    const trusted = authority();
    const certificateFile = join(folder, 'authority.pem');
    writeFileSync(certificateFile, trusted.certificate);
    const sink = await openSink(undo, { journal: join(folder, 'received.ndjson'), certificates: certificatesBy(trusted) });

    const logFile = join(folder, 'log');
    const crew = await muster(posts, logFile, {
      DATABASE_URL: embedded.url,
      DATA_DIR: folder,
      MASTER_KEY: masterKey.toString('base64'),
      WEBHOOK_ALLOW_ADDRESSES: '127.0.0.1/32',
      NODE_EXTRA_CA_CERTS: certificateFile,
      LOG_LEVEL: 'warn',
      // As the supervisor gives it to its processes.
      MALLOC_ARENA_MAX: '2',
    });
    undo.push(() => crew.stop());
    const database = databaseAt(join(folder, 'postgres'), withDatabase(embedded.adminUrl, embedded.url));
    undo.push(() => database.close());
    return await work({ service, crew, database, sink, logFile });
  } finally {
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
    await finish();
  }
}

/** By what they show. */
const certificatesBy = (trusted: Authority): SinkOrder['certificates'] => ({
  good: trusted.vouchFor('127.0.0.1'),
  expired: trusted.vouchFor('127.0.0.1', { expired: true }),
  'of another name': trusted.vouchFor('elsewhere.example'),
  'by nobody known': authority().vouchFor('127.0.0.1'),
});

async function openSink(undo: (() => unknown)[], order: SinkOrder): Promise<Sink> {
  const child = fork(fileURLToPath(new URL('sink.ts', import.meta.url)), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  undo.push(() => end(child));
  child.send(order);
  const [{ urls }] = (await once(child, 'message')) as [{ urls: Record<string, string> }];
  return {
    at: (path, shows = 'good') => `${urls[shows]}${path}`,
    introduce: (introduction) => void child.send(introduction),
    mend: () => void child.send('mend'),
    journal: order.journal,
  };
}
