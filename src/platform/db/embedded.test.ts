import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import pg from 'pg';
import { until } from '../../../test/support/until.ts';
import { lives } from '../processes.ts';
import { type Embedded, runningEmbedded, startEmbedded } from './embedded.ts';

test('the first start makes the cluster, its role and its database; the next one finds what was written', async (t) => {
  const dataDir = folder(t);
  assert.equal(await runningEmbedded(dataDir), null);
  const first = await start(t, dataDir);
  const [role] = await ask(
    first.url,
    'select rolsuper, rolcreatedb, rolbypassrls, current_database() as database from pg_roles where rolname = user',
  );
  assert.deepEqual(role, { rolsuper: false, rolcreatedb: true, rolbypassrls: false, database: 'forecourt' });
  await ask(first.url, 'create table kept as select 1 as one');
  await first.stop();
  assert.equal(await runningEmbedded(dataDir), null);

  const second = await start(t, dataDir);
  assert.deepEqual(await ask(second.url, 'select one from kept'), [{ one: 1 }]);
  assert.equal(await runningEmbedded(dataDir), second.url);
});

test('it is durable, speaks UTF-8 in UTC and lets go of clients that are gone', async (t) => {
  const { url } = await start(t, folder(t), {});
  const names = ['fsync', 'synchronous_commit', 'server_encoding', 'TimeZone', 'listen_addresses', 'idle_in_transaction_session_timeout'];
  const found = await ask(url, `select name, setting from pg_settings where name = any('{${names}}')`);
  assert.deepEqual(Object.fromEntries(found.map(({ name, setting }) => [name, setting])), {
    fsync: 'on',
    synchronous_commit: 'on',
    server_encoding: 'UTF8',
    TimeZone: 'UTC',
    listen_addresses: '127.0.0.1',
    idle_in_transaction_session_timeout: '15000',
  });
});

test('a wrong password does not get in, and the right ones are for their owner alone', async (t) => {
  const dataDir = folder(t);
  const { url } = await start(t, dataDir);
  const forged = new URL(url);
  forged.password = 'guess';
  await assert.rejects(ask(forged.href, 'select 1'), { code: '28P01' });
  if (process.platform !== 'win32') assert.equal(statSync(join(dataDir, 'postgres', 'forecourt-accounts.json')).mode & 0o077, 0);
});

test('an owner that was killed leaves its server behind: the next start ends it and loses nothing', async (t) => {
  const dataDir = folder(t);
  const { owner, url } = await ownerProcess(t, dataDir);
  await ask(url, 'create table kept as select 1 as one');
  const left = postmaster(dataDir);
  owner.kill('SIGKILL');
  await once(owner, 'exit');
  assert.ok(lives(left));

  const { url: again } = await start(t, dataDir);
  assert.ok(!lives(left));
  assert.deepEqual(await ask(again, 'select one from kept'), [{ one: 1 }]);
});

test('a lock of a server that was killed too, or whose number another program has by now, is no obstacle', async (t) => {
  const dataDir = folder(t);
  const lock = join(dataDir, 'postgres', 'postmaster.pid');
  const { owner, url } = await ownerProcess(t, dataDir);
  await ask(url, 'create table kept as select 1 as one');
  const left = readFileSync(lock, 'utf8');
  for (const pid of [owner.pid!, postmaster(dataDir)]) process.kill(pid, 'SIGKILL');
  await (await start(t, dataDir)).stop();

  for (const lines of [left.replace(/^\d+/, `${process.pid}`), '']) {
    writeFileSync(lock, lines);
    const { url: again, stop } = await start(t, dataDir);
    assert.deepEqual(await ask(again, 'select one from kept'), [{ one: 1 }]);
    await stop();
  }
});

test('a living owner is joined, and who joined does not stop its server', async (t) => {
  const dataDir = folder(t);
  const { owner, url } = await ownerProcess(t, dataDir);
  const joined = await start(t, dataDir);
  assert.equal(joined.url, url);
  await joined.stop();
  assert.deepEqual(await ask(url, 'select 1 as one'), [{ one: 1 }]);

  owner.kill('SIGTERM');
  await once(owner, 'exit');
  assert.equal(await runningEmbedded(dataDir), null);
});

test('starts at one moment end with one server', async (t) => {
  const dataDir = folder(t);
  const started = await Promise.all([ownerProcess(t, dataDir), ownerProcess(t, dataDir), ownerProcess(t, dataDir)]);
  assert.equal(new Set(started.map(({ url }) => url)).size, 1);
  assert.deepEqual(readdirSync(dataDir), ['postgres']);
});

test('a cluster that was made half way is made anew', async (t) => {
  const dataDir = folder(t);
  const halfMade = join(dataDir, `postgres.new-${await deadProcess()}`);
  mkdirSync(halfMade, { recursive: true });
  writeFileSync(join(halfMade, 'PG_VERSION'), '18\n');
  const { url } = await start(t, dataDir);
  assert.deepEqual(await ask(url, 'select 1 as one'), [{ one: 1 }]);
  assert.ok(!existsSync(halfMade));
});

test('a folder that holds something else is left alone', async (t) => {
  const dataDir = folder(t);
  const strange = join(dataDir, 'postgres', 'letter.txt');
  mkdirSync(join(dataDir, 'postgres'), { recursive: true });
  writeFileSync(strange, 'hello');
  await assert.rejects(startEmbedded(dataDir), /holds something else/);
  assert.equal(readFileSync(strange, 'utf8'), 'hello');
});

test('a server that dies comes back at its address', async (t) => {
  const dataDir = folder(t);
  const { url } = await start(t, dataDir);
  await ask(url, 'create table kept as select 1 as one');
  const died = postmaster(dataDir);
  process.kill(died, 'SIGKILL');
  await until(async () => (await runningEmbedded(dataDir)) !== null && postmaster(dataDir) !== died);
  assert.equal(await runningEmbedded(dataDir), url);
  assert.deepEqual(await ask(url, 'select one from kept'), [{ one: 1 }]);
});

test('stopping does not wait for a client in the middle of something', async (t) => {
  const { url, stop } = await start(t, folder(t));
  const asked = assert.rejects(ask(url, 'select pg_sleep(60)'));
  await until(
    async () => (await ask(url, "select 1 from pg_stat_activity where query like '%pg_sleep(60)%' and pid <> pg_backend_pid()")).length > 0,
  );
  await stop();
  await asked;
});

/** For tests that crash it, the disk need not be waited for: the operating system lives on. */
const quick = { settings: { fsync: 'off', shared_buffers: '16MB' } };

async function start(t: TestContext, dataDir: string, options: Parameters<typeof startEmbedded>[1] = quick): Promise<Embedded> {
  const embedded = await startEmbedded(dataDir, options);
  later(t, () => embedded.stop());
  return embedded;
}

/** A process of its own that starts the database, names its address and holds it up until it is told to end. */
async function ownerProcess(t: TestContext, dataDir: string): Promise<{ owner: ChildProcess; url: string }> {
  const program = `
    import { startEmbedded } from ${JSON.stringify(import.meta.resolve('./embedded.ts'))};
    const embedded = await startEmbedded(${JSON.stringify(dataDir)}, ${JSON.stringify(quick)});
    process.on('SIGTERM', () => embedded.stop().then(() => process.exit()));
    console.log(embedded.url);
    setInterval(() => {}, 60_000);`;
  const owner = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  later(t, async () => {
    if (owner.exitCode !== null || owner.signalCode !== null) return;
    owner.kill('SIGTERM');
    await once(owner, 'exit');
  });
  const [line] = await once(owner.stdout!, 'data');
  return { owner, url: String(line).trim() };
}

async function deadProcess(): Promise<number> {
  const child = spawn(process.execPath, ['-e', ''], { stdio: 'ignore' });
  await once(child, 'exit');
  return child.pid!;
}

const postmaster = (dataDir: string): number => Number.parseInt(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8'), 10);

async function ask(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

function folder(t: TestContext): string {
  const dataDir = join(mkdtempSync(join(tmpdir(), 'forecourt-')), 'data');
  later(t, async () => rmSync(join(dataDir, '..'), { recursive: true }));
  return dataDir;
}

/** What was made last goes first: a server before its folder. */
function later(t: TestContext, undo: () => Promise<void>): void {
  const undos = made.get(t) ?? [];
  undos.unshift(undo);
  if (made.has(t)) return;
  made.set(t, undos);
  t.after(async () => {
    for (const undo of undos) await undo();
  });
}

const made = new WeakMap<TestContext, (() => Promise<void>)[]>();
