import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { ConfigError } from './config.ts';

/** Refuses a port that cannot be listened on, before anything else is started; a run that is about to end gets a moment to leave it. */
export async function checkPort(host: string, port: number, variable: string): Promise<void> {
  for (const until = Date.now() + patienceMs; ; await delay(100)) {
    const error = await tryPort(host, port);
    if (error === null) return;
    if (error.code !== 'EADDRINUSE' || Date.now() > until) throw listenFailure(error, host, port, variable) ?? error;
  }
}

const patienceMs = 3000;

async function tryPort(host: string, port: number): Promise<NodeJS.ErrnoException | null> {
  const server = createServer().listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    return error as NodeJS.ErrnoException;
  }
  server.close();
  await once(server, 'close');
  return null;
}

/** Why a server cannot listen, in one line; null when the error is about something else. */
export function listenFailure(error: unknown, host: string, port: number, variable: string): ConfigError | null {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') return new ConfigError(`Port ${port} of ${host} is in use by another program: set ${variable} to a free one.`);
  if (code === 'EACCES') return new ConfigError(`This user may not listen on port ${port}: set ${variable} to one above 1023.`);
  if (code === 'EADDRNOTAVAIL' || syscall === 'getaddrinfo')
    return new ConfigError(`HOST must be an address of this machine, and ${host} is not.`);
  return null;
}
