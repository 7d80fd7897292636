import { arch, cpus, loadavg, platform } from 'node:os';
import { measureBatch } from './batch.ts';
import { measureCustomers } from './customers.ts';
import { measureEnquiries } from './enquiries.ts';
import { onGround } from './ground.ts';
import { measureGrowth } from './growth.ts';
import { connections } from './load.ts';
import { measureMcp } from './mcp.ts';
import { measureOAuth } from './oauth.ts';
import { measurePhotos } from './photos.ts';
import { measureReads } from './reads.ts';
import { measureTrade } from './trade.ts';
import { measureWebhooks } from './webhooks.ts';
import { measureWrites } from './writes.ts';

// Measures the API next to a bare server, on the machine it is started on: `npm run bench`, or one subject of it, `npm run bench -- reads`.
const subjects = {
  reads: measureReads,
  writes: measureWrites,
  enquiries: measureEnquiries,
  batch: measureBatch,
  growth: measureGrowth,
  customers: measureCustomers,
  photos: measurePhotos,
  trade: measureTrade,
  webhooks: measureWebhooks,
  oauth: measureOAuth,
  mcp: measureMcp,
};

const [asked] = process.argv.slice(2);
const chosen = Object.entries(subjects).filter(([name]) => asked === undefined || name === asked);
if (chosen.length === 0) {
  console.error(`There is no subject ${JSON.stringify(asked)}: ${Object.keys(subjects).join(', ')}, or none for all of them.`);
  process.exit(2);
}

const startedAt = performance.now();
console.log(
  `Node ${process.version}, embedded PostgreSQL with fsync, ${cpus().length} × ${cpus()[0]?.model} (${platform()} ${arch()}).\n` +
    `Load, API, bare server and database share this machine; ${connections} connections over the loopback.\n` +
    `Load of the machine in the minute before: ${loadavg()[0]!.toFixed(1)}.`,
);
for (const [, measure] of chosen) await onGround(measure);
console.log(`\nMeasured in ${Math.round((performance.now() - startedAt) / 1000)} s.`);
