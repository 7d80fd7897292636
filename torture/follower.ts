import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Dealer } from '../bench/dealers.ts';
import type { Client } from './client.ts';
import type { Listed } from './records.ts';

/** Follows a dealer's events by `resume_cursor` until it is told to stop and nothing is left. Returns their ids as it was told of them. */
export async function follow(client: Client, dealer: Dealer, stopped: () => boolean): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor = ''; ; ) {
    const last = stopped();
    const { data, meta } = await page(client, dealer, cursor);
    ids.push(...data.map(({ id }) => id));
    cursor = meta.resume_cursor;
    if (meta.has_more) continue;
    if (last) return ids;
    await delay(200);
  }
}

/** All events of a dealer as they are listed at the end. */
export async function listAll(client: Client, dealer: Dealer): Promise<Omit<Listed, 'at'>[]> {
  const listed: Omit<Listed, 'at'>[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { data, meta } = await page(client, dealer, cursor);
    listed.push(...data.map((event) => listedAs(dealer, event)));
    cursor = meta.next_cursor;
  }
  return listed;
}

interface Page {
  readonly data: readonly Event[];
  readonly meta: { readonly resume_cursor: string; readonly next_cursor: string | null; readonly has_more: boolean };
}

interface Event {
  readonly id: string;
  readonly type: string;
  readonly sequence: number;
  readonly data: { readonly object: { readonly id: string; readonly metadata?: { readonly change?: string } } };
}

const page = async (client: Client, dealer: Dealer, cursor: string): Promise<Page> =>
  JSON.parse(await client.read(dealer.key, `/v1/events?limit=100${cursor && `&cursor=${encodeURIComponent(cursor)}`}`));

const listedAs = (dealer: Dealer, event: Event): Omit<Listed, 'at'> => ({
  dealerId: dealer.id,
  id: event.id,
  type: event.type,
  sequence: event.sequence,
  about: event.data.object.metadata?.change ?? event.data.object.id,
  hash: createHash('sha256').update(JSON.stringify(event)).digest('hex'),
});
