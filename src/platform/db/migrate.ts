import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';

const folder = fileURLToPath(new URL('../../../migrations/', import.meta.url));
const oldest = 150_000;

/** Brings the database up to date, one transaction per migration; any number may run at once. Returns the names of those it ran. */
export async function migrate(databaseUrl: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: 'forecourt migrate', options: '-c timezone=UTC' });
  await client.connect();
  try {
    const { rows } = await client.query("select current_setting('server_version_num')::int as version");
    if (rows[0].version < oldest) throw new Error('PostgreSQL 15 or newer is needed.');
    await client.query("select pg_advisory_lock(hashtextextended('forecourt migrate', 0))");
    await client.query('create table if not exists migration (name text primary key, ran_at timestamptz not null default now())');
    const ran = await client.query('select name from migration');
    const known = new Set(ran.rows.map((row) => row.name));
    const names = (await migrationNames()).filter((name) => !known.has(name));
    for (const name of names) {
      await client.query('begin');
      await client.query(await readFile(folder + name, 'utf8'));
      await client.query('insert into migration (name) values ($1)', [name]);
      await client.query('commit');
    }
    return names;
  } finally {
    await client.end();
  }
}

/** The migrations the product ships, in order. */
export const migrationNames = async (): Promise<string[]> => (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();
