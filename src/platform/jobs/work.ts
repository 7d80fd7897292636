import { PgBoss } from 'pg-boss';
import type { Logger } from 'pino';
import type { Context } from '../context.ts';
import type { Service } from '../service.ts';
import type { Handler, Parcel, Schedule } from './job.ts';
import { bossOptions, quiet } from './queue.ts';

export interface Workings {
  readonly databaseUrl: string;
  readonly service: Service;
  readonly handlers: readonly Handler[];
  readonly schedules: readonly Schedule[];
  /** The context a job runs in: of whoever asked for it, with the dealer as it is now. */
  readonly contextOf: (service: Service, parcel: Parcel) => Promise<Context>;
}

/** New jobs are told of by NOTIFY; polling finds what that missed. */
const polling = { pollingIntervalSeconds: 0.5, notifyPollingIntervalSeconds: 1 };

/** Runs jobs and schedules until closed. Closing waits for those under way, for at most `graceMs`. */
export async function work({ databaseUrl, service, handlers, schedules, contextOf }: Workings, graceMs = 8_000) {
  const boss = quiet(new PgBoss({ ...bossOptions(databaseUrl), migrate: false, monitorIntervalSeconds: 15, superviseIntervalSeconds: 15 }));
  await boss.start();

  for (const { job, run } of handlers) {
    const options = { ...polling, localConcurrency: job.atOnce, localGroupConcurrency: job.perDealer, heartbeatRefreshSeconds: 5 };
    const workers: string = await boss.work<Parcel>(job.name, options, async ([taken]) => {
      if (!taken) return;
      try {
        await reported(service.log, job.name, async () => run(await contextOf(service, taken.data), job.payload.parse(taken.data.payload)));
      } finally {
        // Nobody is told of a job that had to wait for this one, as the dealer's next one did.
        boss.notifyWorker(workers);
      }
    });
  }
  for (const { name, cron, run } of schedules) {
    await boss.schedule(name, cron, null, { tz: 'UTC' });
    await boss.work(name, polling, () => reported(service.log, name, () => run(service)));
  }
  return { close: () => boss.stop({ graceful: true, close: true, timeout: graceMs }) };
}

/** A job that throws is retried by the queue; the log says why. */
async function reported(log: Logger, name: string, run: () => Promise<void>): Promise<void> {
  const startedAt = performance.now();
  try {
    await run();
    log.info({ job: name, ms: Math.round(performance.now() - startedAt) }, 'job');
  } catch (error) {
    log.error({ job: name, err: error }, 'job failed');
    throw error;
  }
}
