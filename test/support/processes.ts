import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export interface Running {
  /** The first line it printed: its address. */
  readonly url: string;
  readonly child: ChildProcess;
  /** Ends it without a chance to tidy up. */
  kill(): Promise<void>;
  /** Asks it to end. */
  stop(): Promise<void>;
}

/** Starts a script and waits for its first line. It ends with the test at the latest. */
export async function start(t: { after(undo: () => Promise<void>): void }, script: string, env: Record<string, string>): Promise<Running> {
  const child = spawn(process.execPath, [script], { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await ended;
  };
  t.after(() => end('SIGKILL'));
  const lines = createInterface({ input: child.stdout! });
  const first = await Promise.race([once(lines, 'line'), ended.then(() => null)]);
  if (first === null) throw new Error(`${script} ended before it was ready.`);
  return { url: String(first[0]), child, kill: () => end('SIGKILL'), stop: () => end('SIGTERM') };
}

export const script = (name: string): string => new URL(name, import.meta.url).pathname;
