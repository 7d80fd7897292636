import { means } from '#modules/events/index.ts';
import type { Dealer } from '../bench/dealers.ts';
import { newDealers } from '../bench/dealers.ts';
import type { Client } from './client.ts';
import type { Ground } from './ground.ts';
import type { Endpoint } from './records.ts';
import type { Way } from './ways.ts';
import { mannerOf } from './ways.ts';

/** The dealers of a run. */
export interface Stage {
  /** Most of what happens, happens here, and its receivers are well but for one that hangs. */
  readonly busy: readonly Dealer[];
  /** Little happens here, and it has every kind of receiver. */
  readonly odd: Dealer;
  readonly endpoints: readonly Endpoint[];
  /** How many receivers take an event of a dealer. */
  takers(dealer: Dealer, type: string): number;
  /** From then on it is signed for with two secrets. */
  rollSecret(endpoint: Endpoint): Promise<void>;
}

const busyEndpoints: readonly (readonly [Way, readonly string[]])[] = [
  ['takes', ['*']],
  ['takes', ['vehicle.*', 'customer.*', 'vehicle_batch.completed']],
  ['closes', ['vehicle.created', 'vehicle.updated']],
  ['hangs', ['vehicle_batch.completed']],
];

const oddWays: readonly Way[] = [
  ...(['takes', 'takes', 'closes', 'dawdles', 'informs', 'floods', 'drips-body', 'fails-once', 'leaves'] as const),
  ...(['fails', 'redirects', 'hangs', 'drips-head', 'resets', 'babbles', 'expired', 'stranger', 'self-signed'] as const),
];

/** Makes dealers as the operator makes them, and their endpoints as their software does. `failingTwice`: the run is long enough to see what comes of two failures. */
export async function setStage(ground: Ground, client: Client, busyDealers: number, failingTwice: boolean): Promise<Stage> {
  const [odd, ...busy] = (await newDealers(ground.service, 1 + busyDealers)) as [Dealer, ...Dealer[]];
  const endpoints: Endpoint[] = [];
  const secrets = new Map<string, string>();
  const add = async (dealer: Dealer, way: Way, events: readonly string[]) => {
    const path = `/${way}/${endpoints.length}`;
    const url = ground.sink.at(path, mannerOf(way).shows);
    const { data } = await client.ask(dealer.key, 'POST', '/v1/webhook-endpoints', { body: { url, events }, once: path });
    ground.sink.introduce({ path, secrets: [data.secret] });
    secrets.set(path, data.secret);
    endpoints.push({ id: data.id, dealerId: dealer.id, path, way, events });
  };
  for (const dealer of busy) for (const [way, events] of busyEndpoints) await add(dealer, way, events);
  for (const way of oddWays) await add(odd, way, ['*']);
  if (failingTwice) await add(odd, 'fails-twice', ['*']);
  return {
    busy,
    odd,
    endpoints,
    takers: ({ id }, type) =>
      endpoints.filter(
        ({ dealerId, way, events }) => dealerId === id && mannerOf(way).comes === 'taken' && events.some((entry) => means(entry, type)),
      ).length,
    async rollSecret({ id, path, dealerId }) {
      const { key } = [odd, ...busy].find((dealer) => dealer.id === dealerId)!;
      const { data } = await client.ask(key, 'POST', `/v1/webhook-endpoints/${id}/roll-secret`, { once: `roll ${path}` });
      ground.sink.introduce({ path, secrets: [data.secret, secrets.get(path)!] });
    },
  };
}
