import { setTimeout as delay } from 'node:timers/promises';
import type { Ground } from './ground.ts';
import type { Bereft } from './records.ts';

/** What is done to a run, and when: the same for the same seed. */
export interface Faults {
  readonly kills: number;
  readonly restarts: number;
  readonly seconds: number;
}

/** Who is killed, in turn: couriers most often. */
const turns = ['courier', 'api', 'courier', 'worker', 'courier', 'api', 'courier', 'api', 'courier', 'worker'] as const;

/** Kills processes and stops the database, spread over the time. Resolves when the last fault has passed. */
export async function inflict(
  { crew, database }: Ground,
  { kills, restarts, seconds }: Faults,
  random: () => number,
  bereft: Bereft[],
): Promise<{ from: number; to: number }> {
  const from = Date.now();
  const spread = (count: number) => Array.from({ length: count }, (_, n) => ((n + random()) * seconds * 1000) / count);
  const plan = [
    ...spread(kills).map((at, n) => ({ at, fault: () => kill(turns[n % turns.length]!) })),
    ...spread(restarts).map((at) => ({ at, fault: () => database.stop() })),
  ].sort((one, other) => one.at - other.at);

  const kill = async (role: (typeof turns)[number]) => {
    const which = Math.floor(random() * 16);
    // One that is about to come back is killed when it is there.
    let life = crew.kill(role, which);
    for (; life === null; life = crew.kill(role, which)) await delay(20);
    if (role !== 'courier') return;
    const killedAt = life.to!;
    const rows = await database.ask(
      `select endpoint_id, event_id, attempt, extract(epoch from lease_until) * 1000 as lease_until from delivery where state = 'sending'`,
    );
    for (const row of rows)
      bereft.push({
        killedAt,
        endpointId: row.endpoint_id,
        eventId: `evt_${row.event_id}`,
        attempt: row.attempt,
        leaseUntil: Number(row.lease_until),
      });
  };

  const done: Promise<void>[] = [];
  for (const { at, fault } of plan) {
    await delay(Math.max(0, from + at - Date.now()));
    done.push(fault());
  }
  await Promise.all(done);
  return { from, to: Date.now() };
}
