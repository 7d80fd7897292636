import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Dealer } from './dealers.ts';
import { newDealers } from './dealers.ts';
import type { Door } from './door.ts';
import { atDoor, oneVehicleEach, readEvenly, writeBatch } from './door.ts';
import type { Ground } from './ground.ts';
import type { Figures } from './load.ts';
import { vehicleNumber } from './stock.ts';
import { ms, print, whole } from './table.ts';

const size = 500;
const alone = 5;
const stream = 20;
const inFlight = 2;
const readers = 10;
const readsPerSecond = 200;
const warmUpSeconds = 3;
const idleSeconds = 8;

/** A batch of 500 for one dealer through the API and a worker, alone and in a stream, and what others' reads feel of it. */
export async function measureBatch(ground: Ground): Promise<void> {
  const [dealer, ...others] = (await newDealers(ground.service, 1 + readers)) as [Dealer, ...Dealer[]];
  const paths = await oneVehicleEach(ground, others);
  await atDoor(ground, async (door) => {
    await ground.startWorker();

    await run(door, dealer, newBatches(2), 'created');
    const single: Run[] = [];
    const batches = newBatches(alone);
    for (const batch of batches) single.push(await run(door, dealer, [batch], 'created'));
    const again = await run(door, dealer, batches.slice(-1), 'updated');

    const streamed = newBatches(stream);
    await readEvenly(door, paths, readsPerSecond, delay(warmUpSeconds * 1000));
    const idle = await readEvenly(door, paths, readsPerSecond, delay(idleSeconds * 1000));
    const streaming = run(door, dealer, streamed, 'created');
    const busy = await readEvenly(door, paths, readsPerSecond, streaming);
    const inStream = await streaming;

    const middle = [...single].sort((a, b) => a.seconds - b.seconds)[Math.floor(alone / 2)]!;
    print(
      `Batches of ${size} vehicles for one dealer`,
      ['', '202 after ms at most', 'completed after ms', 'vehicles/s'],
      [
        [`created (median of ${alone})`, ...cellsOf(middle)],
        ['the same again, all updated', ...cellsOf(again)],
        [`${stream} batches, ${inFlight} at a time`, ...cellsOf(inStream)],
      ],
    );
    const row = (name: string, { perSecond, p50, p99 }: Figures) => [name, whole(perSecond), ms(p50), ms(p99)];
    print(
      `One vehicle read by other dealers, ${readsPerSecond} requests a second`,
      ['', 'req/s', 'p50 ms', 'p99 ms'],
      [row('no batch', idle), row(`while the ${stream} batches are written`, busy)],
    );
  });
}

const cellsOf = ({ accepted, seconds, vehicles }: Run): string[] => [ms(accepted), ms(seconds * 1000), whole(vehicles / seconds)];

interface Run {
  /** The longest wait for a 202, in milliseconds. */
  readonly accepted: number;
  /** From the first byte sent to the last batch completed. */
  readonly seconds: number;
  readonly vehicles: number;
}

/** Posts batches, some at a time, each when one before it is completed: as an importer does. */
async function run(door: Door, dealer: Dealer, batches: readonly string[], counted: 'created' | 'updated'): Promise<Run> {
  const left = [...batches];
  const accepted: number[] = [];
  const startedAt = performance.now();
  const post = async () => {
    for (let body = left.shift(); body !== undefined; body = left.shift())
      accepted.push(await writeBatch(door, dealer, body, { counted, size, lookEveryMs: 5 }));
  };
  await Promise.all(Array.from({ length: inFlight }, post));
  const seconds = (performance.now() - startedAt) / 1000;
  return { accepted: Math.max(...accepted), seconds, vehicles: batches.length * size };
}

/** Batches of vehicles that are not in stock. */
const newBatches = (count: number): string[] =>
  Array.from({ length: count }, () =>
    JSON.stringify(Array.from({ length: size }, () => ({ external_id: randomUUID(), ...vehicleNumber(made++) }))),
  );

let made = 0;
