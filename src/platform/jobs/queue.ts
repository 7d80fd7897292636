import { PgBoss } from 'pg-boss';
import type { Connection } from '../db/connect.ts';

/** Takes jobs in, grouped by the dealer they are for. pg-boss stays behind this file and `work.ts`. */
export interface Queue {
  /** Adds the job on the given connection, and so to its transaction. `key`: what it is about. `id`: added unless there is, or was lately, one with it. */
  send(connection: Connection, job: string, parcel: { readonly dealer: { readonly id: string } }, named: Named): Promise<void>;
  /** Of these keys those that a job waits for or runs. */
  underWay(job: string, keys: readonly string[]): Promise<Set<string>>;
  close(): Promise<void>;
}

interface Named {
  readonly key: string | undefined;
  readonly id: string | undefined;
}

export const bossOptions = (databaseUrl: string) => ({
  connectionString: databaseUrl,
  schema: 'queue',
  application_name: 'forecourt queue',
  useListenNotify: true,
  max: 2,
});

/** A job whose process died is taken up again when its heartbeat is missed, and is never given up: what was accepted is done. */
const queueOptions = { notify: true, heartbeatSeconds: 20, retryLimit: 1_000_000, retryDelay: 1, retryBackoff: true, retryDelayMax: 60 };

/** Makes the queue's tables and the queues of the jobs; done where migrations are. */
export async function prepareQueues(databaseUrl: string, names: readonly string[]): Promise<void> {
  const boss = quiet(new PgBoss({ ...bossOptions(databaseUrl), useListenNotify: false, supervise: false, schedule: false }));
  await boss.start();
  for (const name of names) {
    await boss.createQueue(name, queueOptions);
    await boss.updateQueue(name, queueOptions);
  }
  await boss.stop({ graceful: false, close: true });
}

/** Opens the sending side. */
export async function openQueue(databaseUrl: string): Promise<Queue> {
  const boss = quiet(
    new PgBoss({ ...bossOptions(databaseUrl), max: 1, useListenNotify: false, migrate: false, supervise: false, schedule: false }),
  );
  await boss.start();
  return {
    async send(connection, job, parcel, { key, id }) {
      const db = { executeSql: (text: string, values?: unknown[]) => connection.query(text, values) };
      await boss.send(job, parcel, {
        db,
        group: { id: parcel.dealer.id },
        ...(key !== undefined && { singletonKey: key }),
        ...(id !== undefined && { id }),
      });
    },
    async underWay(job, keys) {
      const { rows } = await boss
        .getDb()
        .executeSql(`select singleton_key as key from queue.job where name = $1 and singleton_key = any($2) and state < 'completed'`, [
          job,
          keys,
        ]);
      return new Set(rows.map(({ key }: { key: string }) => key));
    },
    close: () => boss.stop({ graceful: false, close: true }),
  };
}

/** A lost connection is retried by pg-boss; without a listener its error event would end the process. */
export function quiet(boss: PgBoss): PgBoss {
  boss.on('error', () => undefined);
  boss.on('warning', () => undefined);
  return boss;
}
