import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Dealer } from './dealers.ts';
import type { Ground } from './ground.ts';
import type { Figures } from './load.ts';
import { figuresOf } from './load.ts';
import { send } from './probe.ts';
import { vehicleNumber } from './stock.ts';

/** An API process as its clients meet it, and the database to look behind it. */
export interface Door {
  readonly api: string;
  readonly admin: pg.Client;
  readonly agent: Agent;
}

/** Does the work before an API process, and leaves. */
export async function atDoor<T>(ground: Ground, work: (door: Door) => Promise<T>): Promise<T> {
  const admin = new pg.Client({ connectionString: ground.adminUrl });
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  await admin.connect();
  try {
    return await work({ api: await ground.startApi(), admin, agent });
  } finally {
    agent.destroy();
    await admin.end();
  }
}

/** What a batch must come to, and how often to look whether it has. */
export interface Outcome {
  readonly counted: 'created' | 'updated';
  readonly size: number;
  readonly lookEveryMs: number;
}

/** Posts a batch and waits, as the database sees it, until it is completed. Returns the time to the 202. */
export async function writeBatch(door: Door, dealer: Dealer, body: string, { counted, size, lookEveryMs }: Outcome): Promise<number> {
  const { body: answer, took } = await ask(door, '/v1/vehicles/batch', dealer, body);
  const { id } = JSON.parse(answer).data;
  for (;;) {
    const { rows } = await door.admin.query('select completed_at, created, updated from vehicle_batch where dealer_id = $1 and id = $2', [
      dealer.id,
      id,
    ]);
    if (rows[0].completed_at !== null) {
      assert.equal(rows[0][counted], size, JSON.stringify(rows[0]));
      return took;
    }
    await delay(lookEveryMs);
  }
}

/** For each dealer the path of a vehicle of theirs. */
export async function oneVehicleEach(ground: Ground, dealers: readonly Dealer[]): Promise<Map<Dealer, string>> {
  const paths = new Map<Dealer, string>();
  for (const dealer of dealers) {
    const created = await send(ground, dealer, { method: 'POST', path: '/v1/vehicles', body: JSON.stringify(vehicleNumber(1)) });
    paths.set(dealer, `/v1/vehicles/${JSON.parse(created).data.id}`);
  }
  return paths;
}

/** Reads each dealer's path in turn, at an even pace, until `until` is settled; a read counts from when it was due. */
export async function readEvenly(
  door: Door,
  paths: Map<Dealer, string>,
  readsPerSecond: number,
  until: Promise<unknown>,
): Promise<Figures> {
  let over = false;
  const ended = until.finally(() => {
    over = true;
  });
  const all = [...paths];
  const startedAt = performance.now();
  const times: number[] = [];
  const underWay: Promise<unknown>[] = [];
  for (let n = 0; !over; n++) {
    const due = startedAt + (n * 1000) / readsPerSecond;
    if (due > performance.now()) await delay(due - performance.now());
    const [dealer, path] = all[n % all.length]!;
    underWay.push(ask(door, path, dealer).then(() => times.push(performance.now() - due)));
  }
  await ended;
  const seconds = (performance.now() - startedAt) / 1000;
  await Promise.all(underWay);
  return figuresOf(times, seconds);
}

/** One request; anything but a success ends the run. */
function ask({ api, agent }: Door, path: string, { key }: Dealer, body?: string): Promise<{ body: string; took: number }> {
  const startedAt = performance.now();
  const headers = {
    authorization: `Bearer ${key}`,
    ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
  };
  return new Promise((resolve, reject) => {
    const sent = request(api + path, { agent, method: body === undefined ? 'GET' : 'POST', headers }, (response) => {
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
