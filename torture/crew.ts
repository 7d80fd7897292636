import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { openSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { end, freePort, hasEnded, own } from '../bench/child.ts';
import type { Connected } from '../bench/observe.ts';
import type { Hint, Report } from '../src/app/children.ts';
import type { Life } from './records.ts';

/** The product's processes, held up as the supervisor holds them up. */
export interface Crew {
  /** The addresses of the APIs: one that was ended comes back at its own. */
  readonly apis: readonly string[];
  readonly lives: readonly Life[];
  /** Ends one process of a role as the kernel ends processes, and returns its life; null when it does not run at the moment. */
  kill(role: string, which: number): Life | null;
  stop(): Promise<void>;
}

/** How many processes a role has. */
export type Posts = Readonly<Record<string, number>>;

/** What the supervisor waits before it starts a process again. */
const pauseMs = 200;

export async function muster(posts: Posts, logFile: string, env: Record<string, string>): Promise<Crew> {
  const lives: Life[] = [];
  const manned = await Promise.all(
    Object.entries(posts).flatMap(([role, count]) => Array.from({ length: count }, async () => ({ role, port: await freePort() }))),
  );
  // As the supervisor tells couriers that there is something to deliver.
  const relay = (hint: Hint) => {
    for (const { hear } of of('courier')) hear(hint);
  };
  const posted = manned.map((post) => holdUp(post, logFile, env, (life) => lives.push(life), relay));
  const of = (role: string) => posted.filter((post) => post.role === role);
  await Promise.all(posted.map(({ ready }) => ready));
  return {
    lives,
    apis: of('api').map(({ port }) => `http://127.0.0.1:${port}`),
    kill: (role, which) => of(role)[which % of(role).length]?.kill() ?? null,
    stop: async () => void (await Promise.all(posted.map(({ stop }) => stop()))),
  };
}

function holdUp(
  post: { role: string; port: number },
  logFile: string,
  env: Record<string, string>,
  lived: (life: Life) => void,
  relay: (hint: Hint) => void,
) {
  let stopping = false;
  let child: ChildProcess;
  let life: Life;

  const begin = (): Promise<void> => {
    const log = openSync(logFile, 'a');
    child = fork(fileURLToPath(new URL('../src/bin/role.ts', import.meta.url)), {
      env: { ...own(), ...env, FORECOURT_PROCESS: post.role, API_PORT: `${post.port}` },
      execArgv: ['--import', new URL('../bench/observe.ts', import.meta.url).href],
      stdio: ['ignore', log, log, 'ipc'],
    });
    const mine: Life = { role: post.role, from: Date.now(), to: null, served: false, killed: false, ports: new Map() };
    life = mine;
    lived(mine);
    child.once('exit', async () => {
      mine.to ??= Date.now();
      await delay(pauseMs);
      if (!stopping) await begin().catch(() => undefined);
    });
    return new Promise((resolve, reject) => {
      child.on('message', (said: Report | Connected) => {
        if (said.type === 'ready') {
          mine.served = true;
          resolve();
        }
        if (said.type === 'deliveries queued') relay(said);
        if (said.type === 'connected') mine.ports.set(said.port, [...(mine.ports.get(said.port) ?? []), said.at]);
      });
      child.once('exit', () => reject(new Error(`The ${post.role} did not start: ${readFileSync(logFile, 'utf8').slice(-2_000)}`)));
    });
  };

  return {
    ...post,
    ready: begin(),
    hear(hint: Hint): void {
      if (child.connected) child.send(hint, () => undefined);
    },
    kill(): Life | null {
      if (hasEnded(child)) return null;
      Object.assign(life, { to: Date.now(), killed: true });
      child.kill('SIGKILL');
      return life;
    },
    stop(): Promise<void> {
      stopping = true;
      return end(child);
    },
  };
}
