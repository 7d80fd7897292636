import { readdirSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { createLog } from '#platform/log.ts';
import { collectMetrics } from '#platform/metrics.ts';
import { startApi } from '../app/api.ts';
import type { Hint, Report } from '../app/children.ts';
import { readConfig } from '../app/config.ts';
import { startCourier } from '../app/courier.ts';
import { startDms } from '../app/dms/server.ts';
import { loadMasterKeys } from '../app/master-key.ts';
import { listenFailure } from '../app/ports.ts';
import { reasonOf } from '../app/reason.ts';
import { startWorker } from '../app/worker.ts';

// One process of its kind, forked and stopped by the supervisor.
const config = readConfig(process.env);
const log = createLog({ level: config.logLevel });
let closing: Promise<void> | null = null;
const commitMs = 3;
let hinting = false;
const report = (to: Report) => new Promise<void>((sent) => (process.send ? process.send(to, () => sent()) : sent()));
for (const event of ['uncaughtException', 'unhandledRejection'] as const) process.on(event, fail);
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => void close());

collectMetrics();
const running = begin();
running.then(serve, failToStart);

function serve(): Promise<void> {
  log.info({ process: process.env.FORECOURT_PROCESS }, 'a process serves');
  return report({ type: 'ready' });
}

function begin(): Promise<{ close(): Promise<void> }> {
  const { databaseUrl } = config;
  if (databaseUrl === null) throw new Error('The supervisor hands the address of the database on.');
  const kind = process.env.FORECOURT_PROCESS;
  if (kind === 'courier') return beginToDeliver(databaseUrl);
  if (kind === 'dms') return startDms(config, databaseUrl, loadMasterKeys(config), log);
  if (kind === 'worker') giveWayToRequests();
  return (kind === 'api' ? startApi : startWorker)(config, databaseUrl, loadMasterKeys(config), log, hintDeliveries);
}

async function beginToDeliver(databaseUrl: string): Promise<{ close(): Promise<void> }> {
  const courier = await startCourier(config, databaseUrl, loadMasterKeys(config), log);
  process.on('message', (hint: Hint) => hint.type === 'deliveries queued' && courier.wake());
  return courier;
}

/** Told when the transaction that queued them has most likely committed, and once for all that were queued meanwhile. */
function hintDeliveries(): void {
  if (hinting) return;
  hinting = true;
  setTimeout(() => {
    hinting = false;
    void report({ type: 'deliveries queued' });
  }, commitMs);
}

/** Requests go before photos where both want the same processor. On Linux each thread has a priority of its own, and those that decode are there already. */
function giveWayToRequests(): void {
  const threads = process.platform === 'linux' ? readdirSync('/proc/self/task').map(Number) : [0];
  for (const thread of threads) setPriority(thread, constants.priority.PRIORITY_LOW);
}

/** Asked once or often: the terminal and the supervisor both do. */
function close(): Promise<void> {
  closing ??= running.then((role) => role.close()).then(() => process.exit(0), fail);
  return closing;
}

async function failToStart(error: Error): Promise<void> {
  const [port, variable] = process.env.FORECOURT_PROCESS === 'dms' ? [config.dmsPort, 'DMS_PORT'] : [config.apiPort, 'API_PORT'];
  const reason = listenFailure(error, config.host, port, variable)?.message ?? reasonOf(error);
  await report({ type: 'failed', reason });
  process.exit(1);
}

function fail(error: unknown): void {
  log.fatal({ err: error }, 'fault outside a request');
  process.exit(1);
}
