import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createServer as createTcpServer } from 'node:net';

type Undo = { after(undo: () => unknown): void };

export type Serving = (request: IncomingMessage, response: ServerResponse, asked: number) => unknown;

/** A server of pictures on loopback: `at` gives an address, `asked` counts the requests for a path. */
export async function pictureServer(t: Undo, serve: Serving) {
  const counts = new Map<string, number>();
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    counts.set(path, (counts.get(path) ?? 0) + 1);
    void serve(request, response, counts.get(path)!);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { port, at: (path: string) => `http://127.0.0.1:${port}${path}`, asked: (path: string) => counts.get(path) ?? 0 };
}

/** Takes connections on loopback, and says nothing. */
export async function silentServer(t: Undo) {
  const open = new Set<Socket>();
  let connections = 0;
  const server = createTcpServer((socket) => {
    connections++;
    open.add(
      socket
        .on('error', () => undefined)
        .on('close', () => open.delete(socket))
        .resume(),
    );
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.after(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, connections: () => connections, open: () => open.size };
}

/** Listens on loopback and counts who connects. */
export async function canary(t: Undo) {
  let connections = 0;
  const server = createTcpServer((socket) => {
    connections++;
    socket.destroy();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.after(() => void server.close());
  return { port: (server.address() as AddressInfo).port, connections: () => connections };
}
