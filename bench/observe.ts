import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

/** A connection that was made to a receiver. */
export interface Connected {
  readonly type: 'connected';
  readonly port: number;
  readonly at: number;
}

// Loaded into a process before the product: tells from which ports it calls receivers, so that each delivery is known to be that process's.
subscribe('undici:client:connected', (message) => {
  const { localPort = 0 } = (message as { socket: Socket }).socket;
  const connected: Connected = { type: 'connected', port: localPort, at: Date.now() };
  process.send?.(connected);
});

/** What the process has cost so far, told when it is asked for. */
export interface Cost {
  readonly type: 'cost';
  /** Microseconds of all its threads. */
  readonly user: number;
  readonly system: number;
}

process.on('message', (asked) => {
  if (asked === 'cost') process.send?.({ type: 'cost', ...process.cpuUsage() } satisfies Cost);
});
