import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbedded } from './embedded.ts';

/** Works on an empty database, gone afterwards: on the server of `databaseUrl`, or on an embedded one of its own. */
export const onFreshDatabase = <T>(databaseUrl: string | undefined, work: (url: string) => Promise<T>): Promise<T> =>
  databaseUrl ? onServer(databaseUrl, work) : onEmbedded(work);

async function onEmbedded<T>(work: (url: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'forecourt-fresh-'));
  try {
    const { url, stop } = await startEmbedded(folder, { settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' } });
    return await work(url).finally(stop);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function onServer<T>(databaseUrl: string, work: (url: string) => Promise<T>): Promise<T> {
  const name = `forecourt_fresh_${randomBytes(6).toString('hex')}`;
  const url = new URL(databaseUrl);
  url.pathname = `/${name}`;
  const server = new pg.Client({ connectionString: databaseUrl });
  await server.connect();
  try {
    await server.query(`create database ${name} template template0`);
    return await work(url.href).finally(() => server.query(`drop database ${name} with (force)`));
  } finally {
    await server.end();
  }
}
