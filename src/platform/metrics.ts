import { createServer } from 'node:http';
import { AggregatorRegistry, collectDefaultMetrics, Histogram } from 'prom-client';

/** Counts one answered request, and how long it took. */
export const observeRequest = (operationId: string, status: number, seconds: number): void =>
  requestSeconds.observe({ operation: operationId, status }, seconds);

/** Measures this process itself too, and answers the primary's questions about it. */
export function collectMetrics(): void {
  collectDefaultMetrics();
  new AggregatorRegistry();
}

/** Serves `/metrics` of all processes together, in the primary. */
export async function serveMetrics(host: string, port: number): Promise<{ stop(): Promise<void> }> {
  const registry = new AggregatorRegistry();
  const server = createServer(async (request, response) => {
    if (request.url !== '/metrics') return response.writeHead(404).end();
    const metrics = await registry.clusterMetrics().catch(() => null);
    if (metrics === null) return response.writeHead(503).end();
    return response.writeHead(200, { 'content-type': registry.contentType }).end(metrics);
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve));
  return {
    async stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

const requestSeconds = new Histogram({
  name: 'forecourt_request_duration_seconds',
  help: 'How long requests took, by operation and status.',
  labelNames: ['operation', 'status'],
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
});
