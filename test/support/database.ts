import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import pg from 'pg';
import { migrationNames } from '#platform/db/migrate.ts';
import { prepareDatabase } from '../../src/app/database.ts';

/** A database of its own for a test or a file of tests, migrated and empty, gone when they end. */
export async function testDatabase(t: { after(undo: () => Promise<void>): void }): Promise<string> {
  const template = await templateOfRun();
  const name = `${runName()}_${randomBytes(6).toString('hex')}`;
  await onServer((server) => server.query(`create database ${name} template ${template}`));
  t.after(() => onServer((server) => drop(server, name)));
  return addressOf(name);
}

/** Not `with (force)`: that may not end an autovacuum worker, which a plain drop ends by itself. */
async function drop(server: pg.Client, name: string): Promise<void> {
  await server.query('select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = $1 and usename = current_user', [name]);
  await server.query(`drop database ${name}`);
}

/** Made by the first test that asks, for all processes of the run; it has its name only once it is whole. */
async function templateOfRun(): Promise<string> {
  const template = `${runName()}_template_${await migrationsHash()}`;
  await onServer(async (server) => {
    await server.query('select pg_advisory_lock(hashtextextended($1, 0))', [template]);
    const { rowCount } = await server.query('select from pg_database where datname = $1', [template]);
    if (rowCount) return;
    await server.query(`drop database if exists ${template}_new`);
    await server.query(`create database ${template}_new template template0`);
    await prepareDatabase(addressOf(`${template}_new`));
    await server.query(`alter database ${template}_new rename to ${template}`);
  });
  return template;
}

async function migrationsHash(): Promise<string> {
  const hash = createHash('sha256');
  for (const name of await migrationNames()) hash.update(name).update(readFileSync(new URL(`../../migrations/${name}`, import.meta.url)));
  return hash.digest('hex').slice(0, 12);
}

async function onServer(work: (server: pg.Client) => Promise<unknown>): Promise<void> {
  const server = new pg.Client({ connectionString: serverUrl() });
  await server.connect();
  try {
    await work(server);
  } finally {
    await server.end();
  }
}

function addressOf(database: string): string {
  const url = new URL(serverUrl());
  url.pathname = `/${database}`;
  return url.href;
}

const runName = (): string => `forecourt_test_${process.env.TEST_RUN}`;

function serverUrl(): string {
  const url = process.env.TEST_DATABASE_URL;
  if (!url) throw new Error('These tests need a database: run them with `npm test` or `node scripts/test.ts <file>`.');
  return url;
}
