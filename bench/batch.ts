import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Dealer } from './dealers.ts';
import { newDealers } from './dealers.ts';
import type { Ground } from './ground.ts';
import type { Figures } from './load.ts';
import { figuresOf } from './load.ts';
import { send } from './probe.ts';
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
  const admin = new pg.Client({ connectionString: ground.adminUrl });
  await admin.connect();
  try {
    const paths = new Map<Dealer, string>();
    for (const other of others) {
      const body = JSON.stringify(vehicleNumber(1));
      const created = await send(ground, other, { method: 'POST', path: '/v1/vehicles', body });
      paths.set(other, `/v1/vehicles/${JSON.parse(created).data.id}`);
    }
    const api = await ground.startApi();
    await ground.startWorker();
    const door: Door = { api, admin, agent: new Agent({ keepAlive: true, maxSockets: 64 }) };

    await run(door, dealer, newBatches(2), 'created');
    const single: Run[] = [];
    const batches = newBatches(alone);
    for (const batch of batches) single.push(await run(door, dealer, [batch], 'created'));
    const again = await run(door, dealer, batches.slice(-1), 'updated');

    const streamed = newBatches(stream);
    await readEvenly(door, others, paths, delay(warmUpSeconds * 1000));
    const idle = await readEvenly(door, others, paths, delay(idleSeconds * 1000));
    const streaming = run(door, dealer, streamed, 'created');
    const busy = await readEvenly(door, others, paths, streaming);
    const inStream = await streaming;
    door.agent.destroy();

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
  } finally {
    await admin.end();
  }
}

const cellsOf = ({ accepted, seconds, vehicles }: Run): string[] => [ms(accepted), ms(seconds * 1000), whole(vehicles / seconds)];

interface Door {
  readonly api: string;
  readonly admin: pg.Client;
  readonly agent: Agent;
}

interface Run {
  /** The longest wait for a 202, in milliseconds. */
  readonly accepted: number;
  /** From the first byte sent to the last batch completed. */
  readonly seconds: number;
  readonly vehicles: number;
}

/** Posts batches, some at a time, each when one before it is completed: as an importer does. */
async function run(door: Door, dealer: Dealer, batches: readonly string[], expected: 'created' | 'updated'): Promise<Run> {
  const left = [...batches];
  const accepted: number[] = [];
  const startedAt = performance.now();
  const post = async () => {
    for (let body = left.shift(); body !== undefined; body = left.shift()) accepted.push(await writeBatch(door, dealer, body, expected));
  };
  await Promise.all(Array.from({ length: inFlight }, post));
  const seconds = (performance.now() - startedAt) / 1000;
  return { accepted: Math.max(...accepted), seconds, vehicles: batches.length * size };
}

/** Posts a batch and waits, as the database sees it, until it is completed. Returns the time to the 202. */
async function writeBatch({ api, admin, agent }: Door, dealer: Dealer, body: string, expected: 'created' | 'updated'): Promise<number> {
  const { body: answer, took } = await ask(agent, `${api}/v1/vehicles/batch`, dealer, body);
  const { id } = JSON.parse(answer).data;
  for (;;) {
    const { rows } = await admin.query('select completed_at, created, updated from vehicle_batch where dealer_id = $1 and id = $2', [
      dealer.id,
      id,
    ]);
    if (rows[0].completed_at !== null) {
      assert.equal(rows[0][expected], size, JSON.stringify(rows[0]));
      return took;
    }
    await delay(5);
  }
}

/** Batches of vehicles that are not in stock. */
const newBatches = (count: number): string[] =>
  Array.from({ length: count }, () =>
    JSON.stringify(Array.from({ length: size }, () => ({ external_id: randomUUID(), ...vehicleNumber(made++) }))),
  );

let made = 0;

/** Reads at an even pace until `until` is settled; a read counts from when it was due. */
async function readEvenly(
  { api, agent }: Door,
  dealers: readonly Dealer[],
  paths: Map<Dealer, string>,
  until: Promise<unknown>,
): Promise<Figures> {
  let over = false;
  const ended = until.finally(() => {
    over = true;
  });
  const startedAt = performance.now();
  const times: number[] = [];
  const underWay: Promise<unknown>[] = [];
  for (let n = 0; !over; n++) {
    const due = startedAt + (n * 1000) / readsPerSecond;
    if (due > performance.now()) await delay(due - performance.now());
    const dealer = dealers[n % dealers.length]!;
    underWay.push(ask(agent, api + paths.get(dealer), dealer).then(() => times.push(performance.now() - due)));
  }
  await ended;
  const seconds = (performance.now() - startedAt) / 1000;
  await Promise.all(underWay);
  return figuresOf(times, seconds);
}

/** One request; anything but a success ends the run. */
function ask(agent: Agent, url: string, { key }: Dealer, body?: string): Promise<{ body: string; took: number }> {
  const startedAt = performance.now();
  const headers = {
    authorization: `Bearer ${key}`,
    ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
  };
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, method: body === undefined ? 'GET' : 'POST', headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        if (response.statusCode! >= 300) reject(new Error(`${response.statusCode} ${text}`));
        else resolve({ body: text, took: performance.now() - startedAt });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
