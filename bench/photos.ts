import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Dealer } from './dealers.ts';
import { newDealers } from './dealers.ts';
import type { Door } from './door.ts';
import { atDoor, oneVehicleEach, readEvenly, writeBatch } from './door.ts';
import type { Ground } from './ground.ts';
import { vehicleNumber } from './stock.ts';
import { ms, print } from './table.ts';

const vehicles = 20;
const each = 5;
const rounds = 3;
const readers = 10;
const readsPerSecond = 100;
const warmUpSeconds = 3;
const idleSeconds = 10;

/** Photos of one dealer's batch, fetched, decoded and kept by a worker: how long, in how much memory, and what others' reads feel of it. */
export async function measurePhotos(ground: Ground): Promise<void> {
  const [dealer, ...others] = (await newDealers(ground.service, 1 + readers)) as [Dealer, ...Dealer[]];
  const paths = await oneVehicleEach(ground, others);
  const { url, megabytes } = await ground.startPictures();
  await atDoor(ground, async (door) => {
    const worker = await ground.startWorker();
    await importPhotos(door, dealer, url, 1);
    await readEvenly(door, paths, readsPerSecond, delay(warmUpSeconds * 1000));

    const rows: string[][] = [];
    for (let round = 1; round <= rounds; round++) {
      const idle = await readEvenly(door, paths, readsPerSecond, delay(idleSeconds * 1000));
      const importing = importPhotos(door, dealer, url, vehicles);
      const busy = await readEvenly(door, paths, readsPerSecond, importing);
      const seconds = await importing;
      rows.push([
        `round ${round}`,
        seconds.toFixed(1),
        ((vehicles * each) / seconds).toFixed(1),
        peakMegabytes(worker),
        ms(idle.p50),
        ms(idle.p99),
        ms(busy.p50),
        ms(busy.p99),
        (busy.p99 / idle.p99).toFixed(2),
      ]);
    }
    print(
      `${vehicles * each} photos of ${megabytes.toFixed(1)} MB in a batch of ${vehicles} vehicles, while other dealers read a vehicle ${readsPerSecond} times a second`,
      ['', 'completed after s', 'photos/s', 'peak MB', 'idle p50 ms', 'p99 ms', 'meanwhile p50 ms', 'p99 ms', 'meanwhile/idle'],
      rows,
    );
    console.log(`\nPeak MB: the most memory of the worker's process so far, as the kernel counts it.`);
  });
}

let made = 0;

/** Writes a batch of new vehicles with photos of their own, and returns the seconds until all of it is there. */
async function importPhotos(door: Door, dealer: Dealer, url: string, size: number): Promise<number> {
  const items = Array.from({ length: size }, () => ({
    ...vehicleNumber(++made),
    external_id: randomUUID(),
    images: Array.from({ length: each }, (_, n) => `${url}/${n}/of-${made}.jpg`),
  }));
  const startedAt = performance.now();
  await writeBatch(door, dealer, JSON.stringify(items), { counted: 'created', size, lookEveryMs: 50 });
  const seconds = (performance.now() - startedAt) / 1000;
  const { rows } = await door.admin.query(
    'select sum(jsonb_array_length(images))::int as photos from vehicle where dealer_id = $1 and external_id = any($2)',
    [dealer.id, items.map(({ external_id: externalId }) => externalId)],
  );
  assert.equal(rows[0].photos, size * each, 'Every photo is in its gallery.');
  return seconds;
}

/** The most a process ever held in memory; only Linux tells. */
function peakMegabytes(processId: number): string {
  if (process.platform !== 'linux') return 'unknown';
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${processId}/status`, 'utf8')) ?? [];
  return (Number(kilobytes) / 1024).toFixed(0);
}
