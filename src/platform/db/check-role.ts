import pg from 'pg';

/** Refuses a database user whom row level security, the wall between dealerships, does not stop. */
export async function checkRole(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    const { rows } = await client.query('select rolname, rolsuper or rolbypassrls as exempt from pg_roles where rolname = current_user');
    if (rows[0].exempt)
      throw new Error(`${rows[0].rolname} is a superuser, whom the wall between dealerships does not stop. Make another: ${remedy}`);
  } finally {
    await client.end();
  }
}

const remedy = "create role forecourt login password '…'; create database forecourt owner forecourt;";
