import { setTimeout as delay } from 'node:timers/promises';
import { emit } from '#modules/events/index.ts';
import { vehicleUpdated } from '#modules/vehicles/contract.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { Refusal } from '#platform/errors.ts';
import type { Dealer } from './dealers.ts';
import type { Ground } from './ground.ts';
import { send } from './probe.ts';
import { vehicleNumber } from './stock.ts';

/** Lets things happen at dealers as the product's commands do, without the commands. */
export interface Happenings {
  /** So many events at each of the dealers, as fast as they can be written. */
  many(dealers: readonly Dealer[], each: number): Promise<void>;
  /** One event after the other, each in a transaction of its own, at an even pace over the dealers. */
  evenly(dealers: readonly Dealer[], perSecond: number, seconds: number): Promise<Happened>;
}

export interface Happened {
  /** When each was committed, by its dealer and time. */
  readonly committed: ReadonlyMap<string, number>;
  /** As many as the database took in a second. */
  readonly perSecond: number;
}

/** The most of one transaction. */
const together = 500;

/** Events of vehicles, as large as they come. */
export async function happenings(ground: Ground, witness: Dealer): Promise<Happenings> {
  const created = await send(ground, witness, { method: 'POST', path: '/v1/vehicles', body: JSON.stringify(vehicleNumber(1)) });
  const vehicle = JSON.parse(created).data;
  const about = { resourceId: vehicle.id, branchId: null, changed: ['asking_price'] };
  const happen = ({ ctx }: Dealer, count: number) =>
    inTransaction(ctx, async (tx) => {
      for (let n = 0; n < count; n++) emit(tx, vehicleUpdated, vehicle, about);
      return tx.now;
    });

  return {
    async many(dealers, each) {
      for (const dealer of dealers) for (let left = each; left > 0; left -= together) await happen(dealer, Math.min(left, together));
    },
    async evenly(dealers, perSecond, seconds) {
      const committed = new Map<string, number>();
      const startedAt = performance.now();
      const underWay: Promise<unknown>[] = [];
      for (let n = 0; n < perSecond * seconds; n++) {
        const early = startedAt + (n * 1000) / perSecond - performance.now();
        if (early > 0) await delay(early);
        const dealer = dealers[n % dealers.length]!;
        underWay.push(
          patiently(() => happen(dealer, 1)).then((at) => committed.set(`${dealer.id} ${at}`, performance.timeOrigin + performance.now())),
        );
      }
      await Promise.all(underWay);
      return { committed, perSecond: (1000 * underWay.length) / (performance.now() - startedAt) };
    },
  };
}

/** As a client does who is told that others write at the moment. */
async function patiently<T>(write: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof Refusal && error.status === 503)) throw error;
      await delay(50);
    }
  }
}
