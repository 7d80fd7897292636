import type { EndpointRef } from '#modules/deliveries/index.ts';
import { endpointsInNeed, holdHealth, isDelinquent, lastFailureOf, noticesDue, saveNotices } from '#modules/deliveries/index.ts';
import type { Context } from '#platform/context.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import type { Service } from '#platform/service.ts';
import { disableEndpoints } from './commands.ts';
import { holdEndpoint } from './delinquency-queries.ts';
import { notify } from './notices.ts';

// What follows when an endpoint does not answer: its dealer is told, and after three days it is disabled.

/** The context in which the endpoints of a dealer are looked after. */
export type ContextOf = (service: Service, dealerId: string) => Promise<Context>;

/** Follows up what attempts have shown, one endpoint after the other. What fails is found again by the sweep. */
export interface Care {
  add(endpoints: readonly EndpointRef[]): void;
  /** None waits any more. */
  done(): Promise<void>;
  /** Leaves those that wait to the sweep. */
  close(): void;
}

/** However often an endpoint is added while it waits, it is looked after once. */
export function lookAfter(service: Service, contextOf: ContextOf): Care {
  const waiting = new Map<string, EndpointRef>();
  let underWay: Promise<void> | undefined;
  let closed = false;

  async function followAll(): Promise<void> {
    for (const [id, endpoint] of waiting) {
      waiting.delete(id);
      await follow(service, contextOf, endpoint);
    }
    underWay = undefined;
  }

  return {
    add(endpoints) {
      if (closed) return;
      for (const endpoint of endpoints) if (!waiting.has(endpoint.endpoint_id)) waiting.set(endpoint.endpoint_id, endpoint);
      if (waiting.size > 0) underWay ??= followAll();
    },
    done: () => underWay ?? Promise.resolve(),
    close() {
      closed = true;
      waiting.clear();
    },
  };
}

/** Follows up what the time alone has brought: an endpoint to which nothing is sent is told of and disabled like the others. */
export async function lookAfterAll(service: Service, contextOf: ContextOf): Promise<void> {
  for (const endpoint of await endpointsInNeed(service)) await follow(service, contextOf, endpoint);
}

const follow = (service: Service, contextOf: ContextOf, { dealer_id, endpoint_id }: EndpointRef): Promise<void> =>
  contextOf(service, dealer_id)
    .then((ctx) => inTransaction(ctx, (tx) => conclude(tx, endpoint_id)))
    .catch((error) => service.log.error({ err: error, endpoint: endpoint_id }, 'an endpoint could not be looked after'));

/** Tells each thing once: what was told stands in the row that is held, and commits with the mail. */
async function conclude(tx: Context, endpointId: string): Promise<void> {
  const endpoint = await holdEndpoint(tx, endpointId);
  const health = await holdHealth(tx, endpointId);
  if (!endpoint?.enabled || !health) return;

  const { failing_since: failingSince, notices, told_since: toldSince } = health;
  if (failingSince === null) {
    if (toldSince === null) return;
    await saveNotices(tx, endpointId, 0, null);
    return notify(tx, endpoint, 'recovered', { failingSince: toldSince, lastError: null });
  }

  const told = toldSince === failingSince ? notices : 0;
  const facts = async () => ({ failingSince, lastError: await lastErrorOf(tx, endpointId) });
  if (isDelinquent(failingSince, tx.now)) {
    await saveNotices(tx, endpointId, afterAll, failingSince);
    await disableEndpoints(tx, [endpointId], 'delivery_failures');
    return notify(tx, endpoint, 'disabled', await facts());
  }
  // Of several that became due while nobody looked, only the last is still true.
  const due = noticesDue(failingSince, tx.now);
  if (due <= told) return;
  await saveNotices(tx, endpointId, due, failingSince);
  return notify(tx, endpoint, inTurn[due - 1]!, await facts());
}

const inTurn = ['failing', 'failing_24_hours', 'failing_48_hours'] as const;
const afterAll = inTurn.length + 1;

/** What became of the last attempt, as the delivery log names it. */
const lastErrorOf = async (tx: Context, endpointId: string): Promise<string | null> => (await lastFailureOf(tx, endpointId))?.error ?? null;
