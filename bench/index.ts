import { arch, cpus, platform } from 'node:os';
import { measureBatch } from './batch.ts';
import { onGround } from './ground.ts';
import { measureGrowth } from './growth.ts';
import { connections } from './load.ts';
import { measureReads } from './reads.ts';
import { measureWrites } from './writes.ts';

// Measures the API next to a bare server, on the machine it is started on: `npm run bench`, or one subject of it, `npm run bench -- reads`.
const subjects = { reads: measureReads, writes: measureWrites, batch: measureBatch, growth: measureGrowth };

const [asked] = process.argv.slice(2);
const chosen = Object.entries(subjects).filter(([name]) => asked === undefined || name === asked);
if (chosen.length === 0) {
  console.error(`There is no subject ${JSON.stringify(asked)}: ${Object.keys(subjects).join(', ')}, or none for all of them.`);
  process.exit(2);
}

const startedAt = performance.now();
console.log(
  `Node ${process.version}, embedded PostgreSQL with fsync, ${cpus().length} × ${cpus()[0]?.model} (${platform()} ${arch()}).\n` +
    `Load, API, bare server and database share this machine; ${connections} connections over the loopback.`,
);
for (const [, measure] of chosen) await onGround(measure);
console.log(`\nMeasured in ${Math.round((performance.now() - startedAt) / 1000)} s.`);
