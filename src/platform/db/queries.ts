import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely';
import { Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import type pg from 'pg';
import type { Connection } from './connect.ts';
import { prepared } from './connect.ts';
import type { DB } from './schema.ts';
import type { Setting } from './scoped-query.ts';
import { scopedQuery } from './scoped-query.ts';

/** Queries on the connection of an open transaction. */
export const boundTo = (connection: Connection): Kysely<DB> => kysely((query) => run(connection, query));

/** Reads outside a transaction: each query sees this dealer's rows alone. */
export const readsOf = (pool: pg.Pool, dealerId: string): Kysely<DB> =>
  kysely((query) => alone(pool, 'forecourt.dealer_id', dealerId, query));

/** Queries over all dealers, each alone: what belongs to none of them, and the operator's sweeps and tools. */
export const acrossDealers = (pool: pg.Pool): Kysely<DB> => kysely((query) => alone(pool, 'forecourt.scope', 'system', query));

type Run = <R>(query: CompiledQuery) => Promise<QueryResult<R>>;

function kysely(execute: Run): Kysely<DB> {
  const connection: DatabaseConnection = {
    executeQuery: execute,
    streamQuery: () => {
      throw new Error('Queries are not streamed.');
    },
  };
  const unused = async () => {
    throw new Error('Transactions are opened by inTransaction.');
  };
  return new Kysely<DB>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createQueryCompiler: () => new PostgresQueryCompiler(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createDriver: () => ({
        init: async () => undefined,
        acquireConnection: async () => connection,
        releaseConnection: async () => undefined,
        beginTransaction: unused,
        commitTransaction: unused,
        rollbackTransaction: unused,
        destroy: async () => undefined,
      }),
    },
  });
}

async function run<R>(connection: Connection, query: CompiledQuery): Promise<QueryResult<R>> {
  const result = await connection.query({ ...prepared(query.sql), values: [...query.parameters] });
  return { rows: result.rows, numAffectedRows: BigInt(result.rowCount ?? 0) };
}

async function alone<R>(pool: pg.Pool, setting: Setting, scope: string, query: CompiledQuery): Promise<QueryResult<R>> {
  const { rows } = await scopedQuery(pool, setting, scope, { ...prepared(query.sql), values: [...query.parameters] });
  return { rows };
}
