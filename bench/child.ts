import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';

/** Nothing of the user's own settings; `NODE_OPTIONS` remains, for a profile. */
export const own = (): Record<string, string> =>
  Object.fromEntries(['PATH', 'HOME', 'TMPDIR', 'NODE_OPTIONS'].flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));

/** Asks a process to end, and ends it when it does not. */
export async function end(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const ended = once(child, 'exit');
  const late = setTimeout(() => child.kill('SIGKILL'), 10_000);
  child.kill('SIGTERM');
  await ended;
  clearTimeout(late);
}

export const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** The address of another database on the same server. */
export function withDatabase(address: string, of: string): string {
  const url = new URL(address);
  url.pathname = new URL(of).pathname;
  return url.href;
}
