import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Outage } from './records.ts';

/** The database of a run, as the superuser sees and hurts it. */
export interface Database {
  readonly outages: readonly Outage[];
  /** Ends PostgreSQL as `pg_ctl stop -m immediate` does, without a checkpoint; whoever holds it up starts it again. Returns when it has recovered. */
  stop(): Promise<void>;
  /** Asks, again and again while there is no database. */
  ask(sql: string, values?: unknown[]): Promise<Row[]>;
  close(): Promise<void>;
}

// biome-ignore lint/suspicious/noExplicitAny: rows hold whatever was asked for
type Row = any;

export function databaseAt(cluster: string, adminUrl: string): Database {
  const outages: Outage[] = [];
  const pool = new pg.Pool({ connectionString: adminUrl, max: 2, connectionTimeoutMillis: 2_000 }).on('error', () => undefined);
  return {
    outages,
    async stop() {
      const outage: Outage = { from: Date.now(), to: Number.POSITIVE_INFINITY };
      outages.push(outage);
      process.kill(Number(readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')[0]), 'SIGQUIT');
      // What is left of the old one may answer once more.
      await delay(100);
      while (!(await answers(adminUrl))) await delay(20);
      outage.to = Date.now();
    },
    async ask(sql, values = []) {
      for (;;) {
        try {
          return (await pool.query(sql, values)).rows;
        } catch (error) {
          if (!isAway(error)) throw error;
          await delay(50);
        }
      }
    },
    close: () => pool.end(),
  };
}

async function answers(adminUrl: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: adminUrl, connectionTimeoutMillis: 2_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** No connection, one that broke, or a server that is about to end or to begin. */
const isAway = (error: unknown): boolean => {
  const { code } = error as { code?: string };
  return code === undefined || /^(57P0|08|E[A-Z])/.test(code);
};
