import { checkRole } from '#platform/db/check-role.ts';
import { startEmbedded } from '#platform/db/embedded.ts';
import { createLog, type Log } from '#platform/log.ts';
import { serveMetrics } from '#platform/metrics.ts';
import { startChildren } from './children.ts';
import { type Config, ConfigError, readConfig } from './config.ts';
import { prepareDatabase } from './database.ts';
import { loadMasterKeys } from './master-key.ts';
import { checkPort } from './ports.ts';
import { type Demo, prepare } from './prepare.ts';
import { progress } from './progress.ts';
import { reasonOf } from './reason.ts';
import { roles as everyRole, processesOf, type Role } from './roles.ts';
import { closeService, openService } from './service.ts';

/** Starts the database and the processes of these roles, holds them up, and stops all of it, the database last, once `stop` is aborted. */
export async function supervise(roles: readonly Role[], entry: string, stop: AbortSignal): Promise<void> {
  const config = readConfig(process.env);
  const log = createLog({ level: config.logLevel });
  const running: Stoppable[] = [];
  const holds = <T extends Stoppable>(part: T): T => {
    running.unshift(part);
    return part;
  };

  try {
    if (roles.includes('api')) await checkPort(config.host, config.apiPort, 'API_PORT');
    if (roles.includes('dms')) await checkPort(config.host, config.dmsPort, 'DMS_PORT');
    if (config.metricsPort !== null) await checkPort(config.host, config.metricsPort, 'METRICS_PORT');
    const { url } = holds(await openDatabase(config, log));
    const masterKeys = loadMasterKeys(config);
    await unless(stop, progress('Bringing the database up to date', prepareDatabase(url)));
    const demo = await unless(stop, prepareDealers(config, url, masterKeys, log, roles.length === everyRole.length));

    const processes = roles.flatMap((role) => processesOf(role, config));
    const children = holds(startChildren(entry, processes, { DATABASE_URL: url }, log));
    await unless(stop, progress('Starting the processes', children.ready));
    if (config.metricsPort !== null) holds(await serveMetrics(config.host, config.metricsPort));

    if (roles.includes('api')) announce(config, roles.includes('dms'), demo);
    else console.log(`Forecourt runs: ${roles.join(', ')}.`);
    await unless(stop, new Promise<never>(() => undefined));
  } catch (error) {
    if (error !== stopped) throw error;
  } finally {
    await progress('Stopping', stopAll(running, log));
  }
}

type Stoppable = { stop(withinMs: number): Promise<void> };

async function prepareDealers(
  { limits, files }: Config,
  databaseUrl: string,
  masterKeys: Buffer[],
  log: Log,
  withDemo: boolean,
): Promise<Demo | null> {
  const service = await openService({ log, databaseUrl, masterKeys, limits, files, connections: 2 });
  try {
    return await progress('Preparing the dealers', prepare(service, withDemo));
  } finally {
    await closeService(service);
  }
}

/** Everything has ended 10 seconds after it was asked to. */
const stopMs = 9_500;
/** What is kept for the database, which goes last. */
const databaseStopMs = 3_500;

async function stopAll(parts: readonly Stoppable[], log: Log): Promise<void> {
  const deadline = Date.now() + stopMs;
  for (const [index, part] of parts.entries()) {
    const kept = index === parts.length - 1 ? 0 : databaseStopMs;
    await part
      .stop(Math.max(deadline - Date.now() - kept, 500))
      .catch((error) => log.error({ err: error }, 'A part did not stop cleanly.'));
  }
}

async function openDatabase(config: Config, log: Log) {
  if (config.databaseUrl) {
    await checkRole(config.databaseUrl).catch((error) => {
      throw new ConfigError(`DATABASE_URL cannot be used: ${reasonOf(error)}`);
    });
    return { url: config.databaseUrl, stop: async () => {} };
  }
  const heard = (line: string) =>
    /^(FATAL|PANIC)/.test(line) ? log.warn({ from: 'postgres' }, line) : log.debug({ from: 'postgres' }, line);
  return progress('Starting PostgreSQL', startEmbedded(config.dataDir, { log: heard }));
}

const stopped = new Error('Asked to stop.');

/** The work's result, unless the stop comes first: what is left of the work then ends with the process. */
async function unless<T>(stop: AbortSignal, work: Promise<T>): Promise<T> {
  work.catch(() => undefined);
  const asked = new Promise<never>((_resolve, reject) => {
    if (stop.aborted) reject(stopped);
    stop.addEventListener('abort', () => reject(stopped), { once: true });
  });
  return Promise.race([asked, work]);
}

function announce({ baseUrl, dmsUrl }: Config, withDms: boolean, demo: Demo | null): void {
  const dms = withDms ? `  DMS        ${dmsUrl}\n` : '';
  console.log(`\nForecourt runs.\n\n  API        ${baseUrl}\n  Reference  ${baseUrl}/docs\n${dms}`);
  if (!demo) {
    console.log(`  Try it:    curl ${baseUrl}/readyz\n  New keys:  npm run -s admin -- demo create\n`);
    return;
  }
  console.log(`The demo dealer was made. Its keys are shown this once; "npm run -s admin -- demo create" issues fresh ones.

  Sign-in          dealer code ${demo.sign_in.dealer_code}, ${demo.sign_in.email}, password ${demo.sign_in.password}
  Secret key       ${demo.secret_key}
  Publishable key  ${demo.publishable_key}

Try it:

  curl -H 'Authorization: Bearer ${demo.secret_key}' '${baseUrl}/v1/vehicles?limit=3'
`);
}
