import type { Dealer } from './dealers.ts';
import { newDealers } from './dealers.ts';
import type { Ground } from './ground.ts';
import { happenings } from './happenings.ts';
import { send } from './probe.ts';
import { startReceivers } from './receivers.ts';
import { measureDelay } from './webhook-delay.ts';
import { measureRates } from './webhook-rates.ts';

const dealers = 16;
const endpointsEach = 4;

/** Deliveries from what happened to who is told of it: how many a second, how soon, and what one bad receiver does to the others. */
export async function measureWebhooks(ground: Ground): Promise<void> {
  const receivers = await startReceivers(ground);
  const [witness, ...rest] = (await newDealers(ground.service, 1 + 3 * dealers)) as [Dealer, ...Dealer[]];
  const [kept, closed, prompt] = [0, 1, 2].map((n) => rest.slice(n * dealers, (n + 1) * dealers)) as [Dealer[], Dealer[], Dealer[]];
  const endpoints = async (of: readonly Dealer[], path: string, each: number): Promise<Endpoint[]> => {
    const made: Endpoint[] = [];
    for (const dealer of of)
      for (let n = 0; n < each; n++) made.push(await newEndpoint(ground, dealer, receivers.at(`${path}/${made.length}`)));
    return made;
  };
  const happen = await happenings(ground, witness);
  await measureRates(ground, receivers, happen, [
    { name: 'kept connections', dealers: kept, endpoints: await endpoints(kept, '/ok/kept', endpointsEach), each: 300 },
    { name: 'a connection each', dealers: closed, endpoints: await endpoints(closed, '/close', endpointsEach), each: 60 },
  ]);
  await endpoints(prompt, '/ok/prompt', 1);
  await measureDelay(ground, receivers, happen, prompt);
}

export interface Endpoint {
  readonly url: string;
  readonly secret: string;
}

/** An endpoint made over the API. */
export async function newEndpoint(ground: Ground, dealer: Dealer, url: string): Promise<Endpoint> {
  const made = await send(ground, dealer, { method: 'POST', path: '/v1/webhook-endpoints', body: JSON.stringify({ url, events: ['*'] }) });
  return { url, secret: JSON.parse(made).data.secret };
}
