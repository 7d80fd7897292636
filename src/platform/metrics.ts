import { createServer } from 'node:http';
import { AggregatorRegistry, collectDefaultMetrics, Gauge, Histogram } from 'prom-client';

/** Counts one answered request, and how long it took. */
export const observeRequest = (operationId: string, status: number, seconds: number): void =>
  requestSeconds.observe({ operation: operationId, status }, seconds);

/** What a courier tells of its work. */
export const deliveryMetrics = {
  /** An attempt ended: `success`, why it failed, or `fault` when one of ours kept it from being made. */
  attempted: (outcome: string, seconds: number): void => attemptSeconds.observe({ outcome }, seconds),
  underWay: (count: number): void => attemptsUnderWay.set(count),
  /** What is due, be it kept back by a cap or not, and for how long the oldest of it. */
  backlog({ due, oldestSeconds }: { due: number; oldestSeconds: number }): void {
    deliveriesDue.set(due);
    oldestDueSeconds.set(oldestSeconds);
  },
};

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

const attemptSeconds = new Histogram({
  name: 'forecourt_delivery_attempt_duration_seconds',
  help: 'How long attempts to deliver an event took, by outcome: success, the error of the delivery log, or fault: one of ours.',
  labelNames: ['outcome'],
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
});

const attemptsUnderWay = new Gauge({ name: 'forecourt_delivery_attempts_in_flight', help: 'Attempts to deliver an event under way.' });

// Each courier tells of all deliveries, so the sum of several would say too much.
const deliveriesDue = new Gauge({
  name: 'forecourt_deliveries_due',
  help: 'Deliveries whose time has come and that are not under way, those kept back by a cap among them.',
  aggregator: 'max',
});

const oldestDueSeconds = new Gauge({
  name: 'forecourt_oldest_due_delivery_seconds',
  help: 'For how long the oldest of them has been due.',
  aggregator: 'max',
});
