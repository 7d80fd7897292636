import { openSync, writeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Dealer } from '../bench/dealers.ts';
import { customerNumber } from '../bench/people.ts';
import { vehicleNumber } from '../bench/stock.ts';
import type { Answered, Client } from './client.ts';
import type { Acknowledged } from './records.ts';
import { causeOf, typeOf } from './records.ts';

/** Makes changes over the API, as dealers' software does, and writes down each that was acknowledged before it makes the next. */
export interface Generator {
  /** How many deliveries follow from the changes that were acknowledged so far. */
  readonly due: number;
  /** One change after the other at a dealer until it is told to stop, with a pause after each. */
  lane(dealer: Dealer, pauseMs: number): Promise<void>;
  /** Batches of vehicles, one after the other, each when there is need of more. */
  batches(dealer: Dealer, wanted: () => boolean): Promise<void>;
  stop(): void;
}

/** `takers`: how many receivers take an event of a dealer. */
export function generator(
  client: Client,
  random: () => number,
  journalFile: string,
  takers: (dealer: Dealer, type: string) => number,
): Generator {
  const journal = openSync(journalFile, 'a');
  let due = 0;
  let made = 0;
  let stopping = false;

  const note = ({ dealer, sentAt, knownAt }: Noted, causes: readonly string[]) => {
    const line: Acknowledged = { dealerId: dealer.id, sentAt, knownAt, causes };
    writeSync(journal, `${JSON.stringify(line)}\n`);
    for (const cause of causes) due += takers(dealer, typeOf(cause));
  };
  /** Marks a record with the change that made it as it is: its events show the mark. */
  const marked = <T extends object>(body: T) => {
    const mark = `${made++}`;
    return { mark, body: { ...body, metadata: { change: mark } }, once: `change ${mark}` };
  };

  const create = async (dealer: Dealer, kind: Kind): Promise<Mine> => {
    const { mark, body, once } = marked(kind === 'vehicle' ? vehicleNumber(made) : customerNumber(made));
    const answer = await client.ask(dealer.key, 'POST', `/v1/${kind}s`, { body, once });
    note({ dealer, ...answer }, [causeOf(`${kind}.created`, mark)]);
    return { kind, id: answer.data.id, forSale: true };
  };
  const change = async (dealer: Dealer, mine: Mine): Promise<void> => {
    const { mark, body } = marked({});
    const answer = await client.ask(dealer.key, 'PATCH', `/v1/${mine.kind}s/${mine.id}`, { body });
    note({ dealer, ...answer }, [causeOf(`${mine.kind}.updated`, mark)]);
  };
  const changeStatus = async (dealer: Dealer, mine: Mine): Promise<void> => {
    mine.forSale = !mine.forSale;
    const { mark, body } = marked({ status: mine.forSale ? 'FOR_SALE' : 'NOT_FOR_SALE' });
    const answer = await client.ask(dealer.key, 'PATCH', `/v1/vehicles/${mine.id}`, { body });
    note({ dealer, ...answer }, [causeOf('vehicle.updated', mark), causeOf('vehicle.status_changed', mark)]);
  };
  const remove = async (dealer: Dealer, { kind, id }: Mine): Promise<void> => {
    const answer = await client.ask(dealer.key, 'DELETE', `/v1/${kind}s/${id}`);
    note({ dealer, ...answer }, [causeOf(`${kind}.deleted`, id)]);
  };

  return {
    get due() {
      return due;
    },
    async lane(dealer, pauseMs) {
      const mine: Mine[] = [];
      while (!stopping) {
        const chance = random();
        const one = mine[Math.floor(random() * mine.length)];
        if (!one || chance < 0.4) mine.push(await create(dealer, chance < 0.25 ? 'vehicle' : 'customer'));
        else if (chance < 0.7) await change(dealer, one);
        else if (chance < 0.9 && one.kind === 'vehicle') await changeStatus(dealer, one);
        else await remove(dealer, mine.splice(mine.indexOf(one), 1)[0]!);
        await delay(pauseMs * (0.5 + random()));
      }
    },
    async batches(dealer, wanted) {
      while (!stopping) {
        if (!wanted()) {
          await delay(50);
          continue;
        }
        const items = Array.from({ length: 20 + Math.floor(random() * 101) }, () => marked(vehicleNumber(made)));
        const vehicles = items.map(({ body }) => body);
        const answer = await client.ask(dealer.key, 'POST', '/v1/vehicles/batch', { body: vehicles, once: `batch ${made++}` });
        const { id } = answer.data;
        // Its events come later, in an order that nobody was promised.
        note({ dealer, ...answer, knownAt: Number.MAX_SAFE_INTEGER }, [
          ...items.map(({ mark }) => causeOf('vehicle.created', mark)),
          causeOf('vehicle_batch.completed', id),
        ]);
        while (JSON.parse(await client.read(dealer.key, `/v1/vehicle-batches/${id}`)).data.status !== 'completed') await delay(100);
      }
    },
    stop: () => {
      stopping = true;
    },
  };
}

type Kind = 'vehicle' | 'customer';
type Mine = { readonly kind: Kind; readonly id: string; forSale: boolean };
type Noted = Omit<Answered, 'data'> & { readonly dealer: Dealer };
