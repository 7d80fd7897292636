import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { commandLine, hasIdentity, identityOf, lives, worksIn } from '../processes.ts';
import { randomText } from '../secrets.ts';
import { findPrograms, type Programs, type RunAs, runAs } from './embedded-programs.ts';

/** A running PostgreSQL: `url` for the product's own role, `adminUrl` for the superuser. */
export type Embedded = { url: string; adminUrl: string; stop(withinMs?: number): Promise<void> };

export type EmbeddedOptions = { log?: (line: string) => void; port?: number; settings?: Record<string, string> };

/**
 * Starts the embedded PostgreSQL of a data folder, made on first use. What a killed process left behind is recovered; where a living
 * process runs it already, this joins it, and `stop` then leaves it running.
 */
export async function startEmbedded(dataDir: string, options: EmbeddedOptions = {}): Promise<Embedded> {
  const folder = resolve(dataDir);
  mkdirSync(folder, { recursive: true, mode: 0o711 });
  const cluster = join(folder, 'postgres');
  const programs = findPrograms();
  const as = runAs(programs, folder, cluster);
  const server: Server = { cluster, programs, as, options };

  if (!existsSync(join(cluster, accountsFile))) await initialise(server, folder);
  for (;;) {
    const running = findPostmaster(cluster);
    if (!running) {
      const own = await launch(server, options.port ?? (await freePort()));
      if (own) return keep(server, own);
    } else if (!ownerLives(running)) {
      options.log?.('Ending the PostgreSQL of a run that was killed.');
      await end(programs, running.pid, 8000);
    } else if (running.ready) {
      return { ...addresses(cluster, running.port), stop: async () => {} };
    }
    await delay(pollMs);
  }
}

/** The address of the embedded database that runs on this data folder, null when none does. */
export async function runningEmbedded(dataDir: string): Promise<string | null> {
  const cluster = join(resolve(dataDir), 'postgres');
  const running = findPostmaster(cluster);
  return running?.ready ? addresses(cluster, running.port).url : null;
}

type Server = { cluster: string; programs: Programs; as: RunAs; options: EmbeddedOptions };
type Running = { child: ChildProcess; port: number };
type Postmaster = { pid: number; port: number; ready: boolean; owner: string };
type Accounts = { postgres: string; forecourt: string };

/** Kept inside the cluster: the passwords and what they open come into being, and go, together. */
const accountsFile = 'forecourt-accounts.json';
const pollMs = 25;

const settings: Record<string, string> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '100',
  shared_buffers: '256MB',
  max_wal_size: '2GB',
  random_page_cost: '1.1',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_line_prefix: '',
  log_checkpoints: 'off',
  /** Errors of statements go to who sent them; in a log their details would show the dealership's data. */
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  /** A client that is gone must not go on holding a dealer's turn or an idempotency key. */
  idle_in_transaction_session_timeout: '15s',
  tcp_keepalives_idle: '15',
  ...(process.platform !== 'win32' && { client_connection_check_interval: '1s' }),
  ...(process.platform === 'linux' && { tcp_user_timeout: '15s' }),
};

/** Makes the cluster beside its place and moves it there when it is whole: one made half way is never found. */
async function initialise({ cluster, programs, as, options }: Server, folder: string): Promise<void> {
  if (existsSync(cluster) && readdirSync(cluster).length > 0) throw new Error(`${cluster} holds something else than Forecourt's database.`);
  for (const name of readdirSync(folder)) {
    const pid = Number(/^postgres\.new-(\d+)$/.exec(name)?.[1]);
    if (pid === process.pid || (pid && !lives(pid))) rmSync(join(folder, name), { recursive: true, force: true });
  }

  const making = `${cluster}.new-${process.pid}`;
  const passwordFile = `${making}-password`;
  const accounts: Accounts = { postgres: randomText(32), forecourt: randomText(32) };
  mkdirSync(making, { mode: 0o700 });
  writeFileSync(passwordFile, accounts.postgres, { mode: 0o600 });
  if (as.owner) for (const path of [making, passwordFile]) chownSync(path, as.owner.uid, as.owner.gid);
  try {
    const words = ['--username=postgres', `--pwfile=${passwordFile}`, '--auth=scram-sha-256', '--encoding=UTF8', '--locale=C'];
    const provider = ['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--no-instructions'];
    const durability = options.settings?.fsync === 'off' ? ['--no-sync'] : [];
    await run([...as.prefix, programs.initdb, `--pgdata=${making}`, ...words, ...provider, ...durability]);
    writeFileSync(join(making, accountsFile), JSON.stringify(accounts), { mode: 0o600 });
    renameSync(making, cluster);
  } catch (error) {
    rmSync(making, { recursive: true, force: true });
    if (!existsSync(join(cluster, accountsFile))) throw error;
  } finally {
    rmSync(passwordFile, { force: true });
  }
}

async function run([command = '', ...words]: string[]): Promise<void> {
  const child = spawn(command, words, { env: environment(), stdio: ['ignore', 'ignore', 'pipe'] });
  let errors = '';
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`PostgreSQL's database was not made: ${errors.trim().split('\n').at(-1)}`);
}

/** Starts the server and waits until it takes connections; null when something is in the way that passes by itself. */
async function launch(server: Server, port: number): Promise<Running | null> {
  const { cluster, programs, as, options } = server;
  releaseLock(cluster);
  if (as.owner && statSync(cluster).uid !== as.owner.uid) spawnSync('chown', ['-R', `${as.owner.uid}:${as.owner.gid}`, cluster]);

  const all = { ...settings, 'forecourt.owner': identityOf(process.pid), ...options.settings };
  const words = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const [command = '', ...rest] = [...as.prefix, programs.postgres, '-D', cluster, '-p', `${port}`, ...words];
  // A process group of its own keeps the terminal's Ctrl-C from it: who started it orders the shutdown.
  const child = spawn(command, rest, { env: environment(), stdio: ['ignore', 'ignore', 'pipe'], detached: true });
  const said: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    if (said.push(line) > 50) said.shift();
    if (!passesByItself.test(line)) options.log?.(line);
  });
  const ended = once(child, 'close');

  while (child.exitCode === null && child.signalCode === null) {
    const postmaster = findPostmaster(cluster);
    if (postmaster?.pid === child.pid && postmaster?.ready) {
      await prepareRoles(cluster, port);
      return { child, port };
    }
    await Promise.race([ended, delay(pollMs)]);
  }
  await ended;
  if (said.some((line) => line.startsWith('FATAL') && passesByItself.test(line))) return null;
  throw new Error(`PostgreSQL did not start: ${said.findLast((line) => line.startsWith('FATAL')) ?? said.at(-1) ?? 'it said nothing.'}`);
}

/** Another start came first; backends of a killed server are still ending; the port was taken in between. */
const passesByItself =
  /^HINT: |lock file "postmaster\.pid" already exists|pre-existing shared memory block|could not create any TCP\/IP sockets/;

/** Holds the server up until it is stopped: one that dies meanwhile comes back at the same address. */
function keep(server: Server, { child: first, port }: Running): Embedded {
  let child: ChildProcess | null = first;
  let stopping = false;

  const restarting = (async () => {
    while (child) {
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      child = null;
      while (!child && !stopping) {
        server.options.log?.('FATAL:  PostgreSQL ended unexpectedly and is started again.');
        child = await launch(server, port).then(
          (again) => again?.child ?? null,
          () => null,
        );
        if (!child) await delay(500);
      }
    }
  })();

  return {
    ...addresses(server.cluster, port),
    async stop(withinMs = 8000) {
      stopping = true;
      const ended = restarting.then(() => true);
      // Again, should it be coming back at this very moment.
      for (let over = false; !over; over = await Promise.race([ended, delay(pollMs, false)])) {
        if (child?.pid) await end(server.programs, child.pid, withinMs);
      }
    },
  };
}

/** Fast shutdown, then an immediate one, then none at all: the write-ahead log makes each of them safe. */
async function end(programs: Programs, pid: number, withinMs: number): Promise<void> {
  for (const [signal, patienceMs] of [
    ['INT', withinMs - 1000],
    ['QUIT', 1000],
    ['KILL', 2000],
  ] as const) {
    if (process.platform === 'win32') spawnSync(programs.pgCtl, ['kill', signal, `${pid}`]);
    else if (lives(pid)) process.kill(pid, `SIG${signal}`);
    for (const until = Date.now() + patienceMs; Date.now() < until; await delay(pollMs)) if (!lives(pid)) return;
  }
}

const ownerLives = (postmaster: Postmaster): boolean => hasIdentity(postmaster.owner);

/** The server that runs on this cluster, with the owner its command line names. */
function findPostmaster(cluster: string): Postmaster | null {
  const lines = readLock(cluster);
  const pid = Number(lines?.[0]);
  if (!lines || !isPostmaster(pid, cluster)) return null;
  const owner = /forecourt\.owner=(\S+)/.exec(commandLine(pid))?.[1] ?? '';
  return { pid, port: Number(lines[3]), ready: lines[7]?.trim() === 'ready', owner };
}

/**
 * PostgreSQL respects a lock whose process number lives, also when it is another program's by now, or that of a server which ended and
 * was never collected. Such a lock gets a number nobody has and keeps the rest: by that PostgreSQL still sees backends that linger.
 */
function releaseLock(cluster: string): void {
  const lines = readLock(cluster);
  if (!lines || isPostmaster(Number(lines[0]), cluster)) return;
  const file = join(cluster, 'postmaster.pid');
  if (lines.length > 1) writeFileSync(file, ['2147483647', ...lines.slice(1)].join('\n'));
  else rmSync(file, { force: true });
}

function readLock(cluster: string): string[] | null {
  const file = join(cluster, 'postmaster.pid');
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n') : null;
}

function isPostmaster(pid: number, cluster: string): boolean {
  if (!pid || !lives(pid)) return false;
  const command = commandLine(pid);
  return command.includes('postgres') && (worksIn(pid, cluster) ?? command.includes(cluster));
}

async function prepareRoles(cluster: string, port: number): Promise<void> {
  const client = new pg.Client({ connectionString: addresses(cluster, port).adminUrl });
  await client.connect();
  try {
    const { rows } = await client.query(`select
      (select count(*) from pg_roles where rolname = 'forecourt') as role, (select count(*) from pg_database where datname = 'forecourt') as database`);
    const password = client.escapeLiteral(readAccounts(cluster).forecourt);
    if (rows[0].role === '0') await client.query(`create role forecourt login createdb password ${password}`);
    if (rows[0].database === '0') await client.query('create database forecourt owner forecourt');
    await compressWell(client);
  } finally {
    await client.end();
  }
}

/** lz4 where this build has it. */
async function compressWell(client: pg.Client): Promise<void> {
  const { rows } = await client.query(`select name from pg_settings
    where name in ('default_toast_compression', 'wal_compression') and 'lz4' = any(enumvals) and setting <> 'lz4'`);
  for (const { name } of rows) await client.query(`alter system set ${name} = lz4`);
  if (rows.length > 0) await client.query('select pg_reload_conf()');
}

function addresses(cluster: string, port: number): { url: string; adminUrl: string } {
  const { postgres, forecourt } = readAccounts(cluster);
  const at = `127.0.0.1:${port}`;
  return { url: `postgres://forecourt:${forecourt}@${at}/forecourt`, adminUrl: `postgres://postgres:${postgres}@${at}/postgres` };
}

const readAccounts = (cluster: string): Accounts => JSON.parse(readFileSync(join(cluster, accountsFile), 'utf8'));

/** Nothing of ours reaches PostgreSQL through the environment, and nothing of the user's own PostgreSQL. */
function environment(): NodeJS.ProcessEnv {
  const names = ['PATH', 'HOME', 'TMPDIR', 'SystemRoot', 'TEMP', 'TMP'];
  return { ...Object.fromEntries(names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : []))), LC_ALL: 'C', TZ: 'UTC' };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address ? address.port : 0;
}
