import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { startEmbedded } from './embedded.ts';
import { migrate } from './migrate.ts';

/** The text of `schema.ts`: the types of a freshly migrated database, on the server of `databaseUrl` or on an embedded one of its own. */
export const deriveSchema = (databaseUrl?: string): Promise<string> => (databaseUrl ? onServer(databaseUrl) : onEmbedded());

async function onEmbedded(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'forecourt-derive-'));
  try {
    const { url, stop } = await startEmbedded(folder, { settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' } });
    return await typesOf(url).finally(stop);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function onServer(databaseUrl: string): Promise<string> {
  const name = `forecourt_derive_${randomBytes(6).toString('hex')}`;
  const url = new URL(databaseUrl);
  url.pathname = `/${name}`;
  const server = new pg.Client({ connectionString: databaseUrl });
  await server.connect();
  try {
    await server.query(`create database ${name} template template0`);
    return await typesOf(url.href).finally(() => server.query(`drop database ${name} with (force)`));
  } finally {
    await server.end();
  }
}

async function typesOf(url: string): Promise<string> {
  await migrate(url);
  const folder = mkdtempSync(join(tmpdir(), 'forecourt-types-'));
  try {
    const file = join(folder, 'schema.ts');
    // A process of its own: the generator leaves connections behind, which must not outlive it.
    await run(process.execPath, [generator, '--url', url, '--out-file', file, ...flags]);
    return readFileSync(file, 'utf8');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const run = promisify(execFile);
const generator = createRequire(import.meta.url).resolve('kysely-codegen/dist/cli/bin.js');

const flags = [
  ...['--dialect', 'postgres', '--date-parser', 'string', '--numeric-parser', 'number', '--log-level', 'error'],
  ...['--exclude-pattern', '{queue.*,migration}'],
  ...['--type-mapping', JSON.stringify({ timestamptz: 'Instant', int8: 'number', uuid: 'string', date: 'string' })],
  ...['--custom-imports', JSON.stringify({ Instant: '../dates.ts#Instant' })],
];
