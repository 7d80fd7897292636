import { end } from './child.ts';
import type { Dealer } from './dealers.ts';
import { newDealers } from './dealers.ts';
import type { Ground } from './ground.ts';
import type { Happenings } from './happenings.ts';
import { figuresOf } from './load.ts';
import type { Receivers } from './receivers.ts';
import { ms, print, whole } from './table.ts';
import { newEndpoint } from './webhooks.ts';

const rates = [100, 300, 1_000];
const seconds = 15;
const warmUpSeconds = 3;

const healthyEach = 3;
const healthyRate = 100;
const queued = 500;

/** How soon a delivery is there, by how much happens. */
export async function measureDelay(ground: Ground, receivers: Receivers, happen: Happenings, dealers: readonly Dealer[]): Promise<void> {
  const courier = await ground.startCourier();
  await delays(ground, receivers, happen, dealers, rates[0]!, warmUpSeconds, 1);
  const rows: string[][] = [];
  for (const rate of rates)
    rows.push([`${rate} events a second`, ...cellsOf(await delays(ground, receivers, happen, dealers, rate, seconds, 1))]);
  print(
    `From the commit to the receipt, one courier, events of ${dealers.length} dealers in transactions of one each, for ${seconds} s`,
    ['', 'written/s', 'deliveries', 'p50 ms', 'p99 ms', 'from the turn: p50 ms', 'p99 ms'],
    rows,
  );

  // Three endpoints at each, and one dealer more who shall have a bad one beside them.
  const [troubled] = (await newDealers(ground.service, 1)) as [Dealer];
  const all = [...dealers, troubled];
  for (const dealer of dealers) for (let n = 1; n < healthyEach; n++) await newEndpoint(ground, dealer, receivers.at(`/ok/healthy/${n}`));
  for (let n = 0; n < healthyEach; n++) await newEndpoint(ground, troubled, receivers.at(`/ok/beside/${n}`));
  const alone = await delays(ground, receivers, happen, all, healthyRate, seconds, healthyEach);
  await newEndpoint(ground, troubled, receivers.at('/hang'));
  await receivers.await(queued * healthyEach);
  const delivered = receivers.reached(1);
  await happen.many([troubled], queued);
  await delivered;
  const beside = await delays(ground, receivers, happen, all, healthyRate, seconds, healthyEach);
  const { rows: left } = await ground.service.pools.doors.query(`select count(*) as waiting from delivery`);
  await end(courier);
  print(
    `${all.length * healthyEach} healthy endpoints of ${all.length} dealers, ${healthyRate} events a second, beside one that hangs`,
    ['', 'written/s', 'deliveries', 'p50 ms', 'p99 ms', 'from the turn: p50 ms', 'p99 ms'],
    [
      ['none hangs', ...cellsOf(alone)],
      [`one hangs, ${left[0].waiting} wait for it`, ...cellsOf(beside)],
      ['of these, at its own dealer', ...cellsOf({ ...beside, of: beside.of.filter(({ path }) => path.includes('/beside/')) })],
    ],
  );
}

interface Delays {
  /** Events that were written in a second. */
  readonly perSecond: number;
  readonly of: readonly Delay[];
}

interface Delay {
  readonly path: string;
  /** From the return of the transaction, and from its own time, in milliseconds. */
  readonly committed: number;
  readonly turned: number;
}

const cellsOf = ({ perSecond, of: delays }: Delays): string[] => {
  const [committed, turned] = [
    figuresOf(
      delays.map((one) => one.committed),
      1,
    ),
    figuresOf(
      delays.map((one) => one.turned),
      1,
    ),
  ];
  return [whole(perSecond), whole(delays.length), ms(committed.p50), ms(committed.p99), ms(turned.p50), ms(turned.p99)];
};

async function delays(
  { service }: Ground,
  receivers: Receivers,
  happen: Happenings,
  dealers: readonly Dealer[],
  rate: number,
  forSeconds: number,
  each: number,
): Promise<Delays> {
  await receivers.await(rate * forSeconds * each, true);
  const all = receivers.reached(1);
  const { committed, perSecond } = await happen.evenly(dealers, rate, forSeconds);
  await all;
  const { times } = await receivers.seen();
  const { rows } = await service.pools.doors.query(
    `select id, dealer_id, created_at, extract(epoch from created_at)::float * 1000 as at from event where dealer_id = any($1)`,
    [dealers.map(({ id }) => id)],
  );
  const events = new Map(rows.map((row) => [`evt_${row.id}`, row]));
  const of = times.map(([path, eventId, receivedAt]) => {
    const { dealer_id, created_at, at } = events.get(eventId);
    return { path: `/${path}`, committed: receivedAt - committed.get(`${dealer_id} ${created_at}`)!, turned: receivedAt - at };
  });
  return { perSecond, of };
}
