import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

// Loaded into a process before the product: tells from which ports it calls receivers, so that each delivery is known to be that process's.
subscribe('undici:client:connected', (message) => {
  const { localPort } = (message as { socket: Socket }).socket;
  process.send?.({ type: 'connected', port: localPort, at: Date.now() });
});

process.on('message', (asked) => {
  if (asked === 'cost') process.send?.({ type: 'cost', ...process.cpuUsage() });
});
