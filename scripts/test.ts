// Runs the tests against real PostgreSQL: a throw-away one, or the server that DATABASE_URL names. `node scripts/test.ts [files…]`
// The whole suite's traffic is written down, and judged by the tests of `test/contract/traffic` at the end.
import { randomBytes } from 'node:crypto';
import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import pg from 'pg';
import { startEmbedded } from '#platform/db/embedded.ts';

/** A server for the tests. The role of its address is none that row level security would let pass, and may create databases. */
type Server = { url: string; remove(): Promise<void> };

const runId = randomBytes(4).toString('hex');
const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupted.abort());

const named = process.argv.slice(2);
const judges = globSync('test/contract/traffic/*.test.ts').sort();
const files = named.length > 0 ? named : globSync(['src/**/*.test.ts', 'test/**/*.test.ts'], { exclude: judges }).sort();
const server = process.env.DATABASE_URL ? await givenServer(process.env.DATABASE_URL) : await throwAwayServer();
const traffic = mkdtempSync(join(tmpdir(), 'forecourt-traffic-'));
delete process.env.DATABASE_URL;
try {
  Object.assign(process.env, { TEST_DATABASE_URL: server.url, TEST_RUN: runId });
  if (named.length === 0) process.env.TEST_TRAFFIC = traffic;
  const complaint = (await runTests(files)) ?? (named.length === 0 ? await runTests(judges) : null);
  if (complaint) {
    console.error(complaint);
    process.exitCode = 1;
  }
} finally {
  rmSync(traffic, { recursive: true });
  await server.remove();
}

/** Null when every test passed, and every file had one. */
async function runTests(files: string[]): Promise<string | null> {
  const silent = new Set<string>();
  const stream = run({ files: files.map((file) => resolve(file)), concurrency: 2, signal: interrupted.signal });
  // A file without a test is reported as one test that passed.
  stream.on('test:pass', ({ name, file }) => name === file && silent.add(name));
  const ended = new Promise<{ success: boolean; tests: number }>((done) => {
    stream.on('test:summary', ({ file, success, counts }) => file === undefined && done({ success, tests: counts.tests }));
  });
  stream.compose(new spec()).pipe(process.stdout);

  const { success, tests } = await ended;
  if (tests === 0) return 'No test was run.';
  if (silent.size > 0) return `Without a test: ${[...silent].join(', ')}`;
  return success ? null : 'There are failing tests.';
}

async function throwAwayServer(): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'forecourt-test-'));
  const settings = { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off', max_connections: '300' };
  const { url, stop } = await startEmbedded(folder, { settings });
  const remove = async () => {
    await stop();
    rmSync(folder, { recursive: true });
  };
  return { url, remove };
}

async function givenServer(databaseUrl: string): Promise<Server> {
  const admin = new pg.Client({ connectionString: databaseUrl });
  await admin.connect();
  const { rows } = await admin.query('select rolsuper, rolcreatedb, rolbypassrls from pg_roles where rolname = current_user');
  const { rolsuper, rolcreatedb, rolbypassrls } = rows[0];
  if (!rolsuper && (rolbypassrls || !rolcreatedb)) {
    console.error('The role of DATABASE_URL must be a superuser, or have CREATEDB and not BYPASSRLS.');
    process.exit(1);
  }

  const url = new URL(databaseUrl);
  const role = `forecourt_test_${runId}`;
  if (rolsuper) {
    url.username = role;
    url.password = randomBytes(16).toString('hex');
    await admin.query(`create role ${role} login createdb password '${url.password}'`);
  }
  const remove = async () => {
    const left = await admin.query('select datname from pg_database where starts_with(datname, $1)', [role]);
    for (const { datname } of left.rows) await admin.query(`drop database ${datname} with (force)`);
    if (rolsuper) await admin.query(`drop role ${role}`);
    await admin.end();
  };
  return { url: url.href, remove };
}
