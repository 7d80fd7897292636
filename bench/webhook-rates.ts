import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventText } from '#modules/events/index.ts';
import type { BareMail } from './bare-courier.ts';
import { end } from './child.ts';
import type { Dealer } from './dealers.ts';
import type { Ground } from './ground.ts';
import type { Happenings } from './happenings.ts';
import type { Cost } from './observe.ts';
import type { Receivers } from './receivers.ts';
import { answer } from './receivers.ts';
import { print, whole } from './table.ts';
import type { Endpoint } from './webhooks.ts';

/** Endpoints of one kind, and how many events each of their dealers has for them. */
export interface Load {
  readonly name: string;
  readonly dealers: readonly Dealer[];
  readonly endpoints: readonly Endpoint[];
  readonly each: number;
}

const rounds = 3;
/** As many at once as the product has at one endpoint. */
const perEndpoint = 4;

interface Run {
  readonly perSecond: number;
  /** Microseconds of the sender's process. */
  readonly cost: number;
}

/** Deliveries a second of one courier that finds a backlog, next to a bare loop that signs and posts the like to the same receivers. */
export async function measureRates(ground: Ground, receivers: Receivers, happen: Happenings, loads: readonly Load[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'forecourt-bench-'));
  const rows: string[][] = [];
  for (const { name, dealers, endpoints, each } of loads) {
    const count = endpoints.length * each;
    const runs: { ours: Run; bare: Run }[] = [];
    for (let round = 0; round < rounds; round++) {
      await happen.many(dealers, each);
      const ours = await run(receivers, count, () => ground.startCourier());
      const bodies = join(folder, 'bodies');
      writeFileSync(bodies, await bodiesOf(ground, dealers[0]!, each));
      const mail: BareMail = { endpoints, bodies, perEndpoint };
      const bare = await run(receivers, count, async () => {
        const { child } = await ground.start('bare-courier.ts');
        child.send(mail);
        return child;
      });
      runs.push({ ours, bare });
    }
    const [ours, bare] = (['ours', 'bare'] as const).map((who) => median(runs.map((run) => run[who]))) as [Run, Run];
    const shares = runs.map(({ ours, bare }) => Math.round((100 * ours.perSecond) / bare.perSecond));
    rows.push([
      name,
      whole(ours.perSecond),
      whole(ours.cost),
      whole(bare.perSecond),
      whole(bare.cost),
      `${Math.round((100 * ours.perSecond) / bare.perSecond)} %`,
      shares.map((share) => `${share}`).join(', '),
    ]);
  }
  rmSync(folder, { recursive: true });
  const { length } = loads[0]!.endpoints;
  print(
    `Deliveries over TLS to ${length} endpoints of ${loads[0]!.dealers.length} dealers, of ${rounds} rounds the median`,
    ['', 'deliveries/s', 'µs of CPU each', 'bare/s', 'µs of CPU each', 'ours/bare', 'by round, %'],
    rows,
  );
  console.log(
    '\nThe courier is one process and finds everything due; PostgreSQL, which the bare loop does without, works beside it on the same processors.',
  );
}

/** Between the fifth and the ninth tenth, so that neither a cold start nor the last few count. */
async function run(receivers: Receivers, count: number, start: () => Promise<ChildProcess>): Promise<Run> {
  await receivers.await(count);
  const [warm, nearly, all] = [receivers.reached(0.2), receivers.reached(0.9), receivers.reached(1)];
  const child = await start();
  await warm;
  const before = await costOf(child);
  await nearly;
  const after = await costOf(child);
  await all;
  const { tenths } = await receivers.seen();
  await end(child);
  const among = count * 0.7;
  return { perSecond: (1000 * among) / (tenths[8]! - tenths[1]!), cost: (after - before) / among };
}

async function costOf(child: ChildProcess): Promise<number> {
  const told = answer(child, ({ type }) => type === 'cost');
  child.send('cost');
  const { user, system } = (await told) as Cost;
  return user + system;
}

/** A dealer's last events as they are delivered, one in a line. */
async function bodiesOf({ service }: Ground, dealer: Dealer, count: number): Promise<string> {
  const { rows } = await service.pools.doors.query(
    'select * from event where dealer_id = $1 order by created_at desc, sequence desc limit $2',
    [dealer.id, count],
  );
  return rows.map((row) => eventText(row, dealer.id)).join('\n');
}

const median = (runs: readonly Run[]): Run => [...runs].sort((one, other) => one.perSecond - other.perSecond)[Math.floor(runs.length / 2)]!;
