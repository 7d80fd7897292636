import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '#platform/log.ts';
import type { ProcessKind } from './roles.ts';

/** The processes a supervisor holds up. */
export type Children = {
  /** Every one of them serves; rejects with the first reason why one cannot. */
  ready: Promise<void>;
  /** Asks all to end, ends those that do not within the time, and lets none come back. */
  stop(withinMs: number): Promise<void>;
};

/** What a child tells its supervisor: that it serves, that it cannot, that it queued deliveries, … */
export type Report = { type: 'ready' } | { type: 'failed'; reason: string } | { type: 'deliveries queued' };

/** … which the supervisor tells the courier. */
export type Hint = Extract<Report, { type: 'deliveries queued' }>;

/** Forks one process for each kind named, one named twice giving two; one that dies later is forked again. */
export function startChildren(entry: string, kinds: readonly ProcessKind[], env: Record<string, string>, log: Log): Children {
  cluster.setupPrimary({ exec: entry, args: [] });
  const stopping = new AbortController();
  const couriers: Life[] = [];
  const relay = (hint: Hint) => {
    for (const { child } of couriers) if (child().isConnected()) child().send(hint, () => undefined);
  };
  const lives = kinds.map((kind) => holdUp(kind, env, log, stopping.signal, relay));
  couriers.push(...lives.filter((_life, index) => kinds[index] === 'courier'));
  const ready = Promise.all(lives.map((life) => life.ready)).then(() => undefined);
  ready.catch(() => undefined);

  return {
    ready,
    async stop(withinMs) {
      stopping.abort();
      const over = Promise.all(lives.map((life) => life.over));
      for (const life of lives) life.child().process.kill('SIGTERM');
      await Promise.race([over, delay(withinMs)]);
      for (const life of lives) life.child().process.kill('SIGKILL');
      await over;
    },
  };
}

const longestPauseMs = 10_000;
const healthyAfterMs = 30_000;

type Life = ReturnType<typeof holdUp>;

function holdUp(kind: ProcessKind, env: Record<string, string>, log: Log, stopping: AbortSignal, relay: (hint: Hint) => void) {
  // Image work on many threads would leave each with an arena of its own: a third of the memory of an import of photos.
  const fork = () =>
    cluster
      .fork({ MALLOC_ARENA_MAX: process.env.MALLOC_ARENA_MAX ?? '2', ...env, FORECOURT_PROCESS: kind })
      .on('message', (report: Report) => report.type === 'deliveries queued' && relay(report));
  let child = fork();
  const ready = firstReport(child, kind);

  const over = (async () => {
    for (let pauseMs = 200; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      const since = Date.now();
      const [code, signal] = await ended(child);
      if (stopping.aborted || !(await succeeded(ready))) return;
      if (Date.now() - since > healthyAfterMs) pauseMs = 200;
      log.error({ process: kind, code, signal, pauseMs }, 'A process ended and is started again.');
      await delay(pauseMs, undefined, { signal: stopping }).catch(() => undefined);
      if (stopping.aborted) return;
      child = fork();
    }
  })();

  return { ready, over, child: () => child };
}

const ended = (child: Worker): Promise<unknown[]> => (child.isDead() ? Promise.resolve([]) : once(child, 'exit'));

const succeeded = (promise: Promise<unknown>): Promise<boolean> =>
  promise.then(
    () => true,
    () => false,
  );

function firstReport(child: Worker, kind: ProcessKind): Promise<void> {
  return new Promise((resolve, reject) => {
    child.on('message', (report: Report) => {
      if (report.type === 'ready') resolve();
      if (report.type === 'failed') reject(new Error(report.reason));
    });
    child.once('exit', (code, signal) =>
      reject(new Error(`The ${kind} process ended before it served (${signal ?? `exit code ${code}`}).`)),
    );
  });
}
