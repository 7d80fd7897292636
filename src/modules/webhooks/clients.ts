import type { OutsideClient } from '#platform/net/fetch.ts';
import { outsideClient } from '#platform/net/fetch.ts';
import type { Service } from '#platform/service.ts';

// One client for each endpoint: connections are kept from one delivery to the next, and no receiver's answer reaches another's request.

/** So many endpoints keep theirs, those last used. */
const most = 2_000;
const idleMs = 60_000;

interface Kept {
  readonly url: string;
  readonly client: OutsideClient;
  /** Requests under way. */
  used: number;
  lastUsed: number;
  retired: boolean;
}

/** Per process and address policy; a map keeps the order in which its endpoints were last used. */
const kept = new WeakMap<object, Map<string, Kept>>();

/** Does the work with the client of an endpoint. One that has another address by now gets a new one. */
export async function withClient<T>(
  { webhooksTo }: Service,
  { endpointId, url }: { endpointId: string; url: string },
  work: (client: OutsideClient) => Promise<T>,
): Promise<T> {
  const clients = kept.get(webhooksTo) ?? new Map<string, Kept>();
  kept.set(webhooksTo, clients);
  const now = performance.now();
  const known = clients.get(endpointId);
  const one = known?.url === url ? known : { url, client: outsideClient(webhooksTo), used: 0, lastUsed: now, retired: false };
  if (known && known !== one) retire(known);
  clients.delete(endpointId);
  clients.set(endpointId, one);
  one.lastUsed = now;
  one.used++;
  makeRoom(clients, now);
  try {
    return await work(one.client);
  } finally {
    one.used--;
    if (one.retired) retire(one);
  }
}

/** Ends all connections, and what is under way on them. */
export async function closeClients({ webhooksTo }: Service): Promise<void> {
  const clients = [...(kept.get(webhooksTo)?.values() ?? [])];
  kept.delete(webhooksTo);
  await Promise.all(clients.map(({ client }) => client.close()));
}

function makeRoom(clients: Map<string, Kept>, now: number): void {
  for (const [id, one] of clients) {
    const isSpare = clients.size > most || now - one.lastUsed > idleMs;
    if (!isSpare) return;
    if (one.used > 0 && clients.size <= most) continue;
    clients.delete(id);
    retire(one);
  }
}

/** Closed once nothing is under way on it. */
function retire(one: Kept): void {
  one.retired = true;
  if (one.used === 0) void one.client.close();
}
