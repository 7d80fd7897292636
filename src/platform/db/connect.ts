import pg from 'pg';
import { toInstant } from '../dates.ts';
import { scopeStatements } from './scoped-query.ts';

/** One PostgreSQL connection on which queries can be sent without waiting for the answer of the one before. */
export type Connection = Pick<pg.PoolClient, 'query'>;

export interface Pools {
  /** For commands and queries. */
  readonly work: pg.Pool;
  /** For the statement that says who asks, which a busy work pool must not starve, and which is planned once: planning it anew took longer than running it. Sees the rows of all dealers, and is used for nothing a dealer asks for. */
  readonly doors: pg.Pool;
  end(): Promise<void>;
}

const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, toInstant);
types.setTypeParser(pg.types.builtins.DATE, (text) => text);
types.setTypeParser(pg.types.builtins.INT8, Number);
types.setTypeParser(pg.types.builtins.NUMERIC, Number);

/** Opens the pools of a process. `work` is the number of its business connections. */
export function connect(databaseUrl: string, work = 16): Pools {
  const pool = (max: number, scope = '') => {
    const opened = new pg.Pool({
      connectionString: databaseUrl,
      max,
      types,
      pipeline: true,
      keepAlive: true,
      connectionTimeoutMillis: 5_000,
      idleTimeoutMillis: 30_000,
      application_name: 'forecourt',
      options: `-c timezone=UTC -c datestyle=ISO -c idle_in_transaction_session_timeout=15s -c statement_timeout=30s ${scope}`,
    });
    opened.on('connect', (connection) => {
      // One that breaks while in use is told by its query; heard by nobody, it would end the process too.
      connection.on('error', () => undefined);
      for (const statement of scopeStatements) connection.query(statement).catch(() => undefined); // What fails here fails the first read.
    });
    // A connection that breaks while idle is dropped by the pool; the next query opens another.
    opened.on('error', () => undefined);
    return opened;
  };
  const pools = { work: pool(work), doors: pool(3, '-c forecourt.scope=system -c plan_cache_mode=force_generic_plan') };
  return { ...pools, end: async () => void (await Promise.all([pools.work.end(), pools.doors.end()])) };
}

/** Gives the statement a name, so that PostgreSQL plans it once per connection. Bounded: texts beyond the first thousand stay unnamed. */
export function prepared(text: string): { name?: string; text: string } {
  const known = names.get(text);
  if (known) return { name: known, text };
  if (names.size >= 1_000) return { text };
  const name = `q${names.size}`;
  names.set(text, name);
  return { name, text };
}

const names = new Map<string, string>();
