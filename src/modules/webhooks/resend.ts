import { replay, sendAgain } from '#modules/deliveries/index.ts';
import { eventId, ping } from '#modules/events/contract.ts';
import type { StoredEvent } from '#modules/events/index.ts';
import { findEvent, means } from '#modules/events/index.ts';
import type { Context } from '#platform/context.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { invalid, Refusal } from '#platform/errors.ts';
import type { ReplayAsked, WebhookReplay, WebhookResend } from './contract.ts';
import { mostReplayed } from './contract.ts';
import type { EndpointRow } from './queries.ts';
import { countEvents, deliveryIdOf } from './queries.ts';
import { readable, readableAttempt } from './reads.ts';
import type { Receiver } from './rules.ts';
import * as rules from './rules.ts';
import { entriesOf, receivedBy } from './subscription.ts';

/** Sends the event of an attempt once more. */
export const resendAttempt = (ctx: Context, id: string, attemptId: string): Promise<WebhookResend> =>
  inTransaction(ctx, async (tx) => {
    const endpoint = await readable(tx, id);
    const attempt = await readableAttempt(tx, id, attemptId);
    const event = await findEvent(tx, attempt.event_id);
    // A ping was for this endpoint alone, whatever it receives.
    if (event.type !== ping.type) rules.checkReceives(receiverOf(endpoint), event, tx.dealer.isSandbox);
    return resend(tx, endpoint, event);
  });

/** Sends an event once more, or for the first time, to an endpoint. */
export const resendEvent = (ctx: Context, id: string, endpointId: string): Promise<WebhookResend> =>
  inTransaction(ctx, async (tx) => {
    const event = await findEvent(tx, id);
    const endpoint = await readable(tx, endpointId).catch((error: unknown) => {
      const isMissing = error instanceof Refusal && error.code === 'not_found';
      throw isMissing ? invalid('webhook_endpoint_id', 'No webhook endpoint with this id is visible to the key.') : error;
    });
    rules.checkReceives(receiverOf(endpoint), event, tx.dealer.isSandbox);
    return resend(tx, endpoint, event);
  });

async function resend(tx: Context, endpoint: EndpointRow, event: StoredEvent): Promise<WebhookResend> {
  rules.checkEnabled(endpoint);
  await sendAgain(tx, endpoint.id, [event]);
  return { webhook_endpoint_id: endpoint.id, event_id: eventId(event.id), delivery_id: await deliveryIdOf(tx, event.id, endpoint.id) };
}

/** Delivers the events of a time like new ones: those the endpoint would receive if they happened today. */
export const replayEvents = (ctx: Context, id: string, asked: ReplayAsked): Promise<WebhookReplay> =>
  inTransaction(ctx, async (tx) => {
    if (asked.types) rules.checkEntries('types', entriesOf(asked.types));
    const receiver = receiverOf(await readable(tx, id));
    const window = rules.windowOf(asked, tx.now);
    const types = typesOf(receiver, asked.types);
    rules.checkEnabled(receiver);
    const { branches } = receiver;
    const events = await countEvents(tx, { ...window, types, branches }, mostReplayed);
    rules.checkReplayed(events);
    return { queued: await replay(tx, id, { ...window, types, branches, onlyFailed: asked.only_failed }) };
  });

/** What is asked for of what the endpoint receives. */
function typesOf(receiver: Receiver, asked: readonly string[] | undefined): readonly string[] {
  if (!asked) return receiver.types;
  const kept = receiver.types.filter((type) => asked.some((entry) => means(entry, type)));
  rules.checkReplayTypes(kept, receiver);
  return kept;
}

const receiverOf = (endpoint: EndpointRow): Receiver => ({
  enabled: endpoint.enabled,
  branches: endpoint.all_branches ? 'all' : endpoint.branch_ids,
  callingDealerId: endpoint.calling_dealer_id,
  types: receivedBy(endpoint).map(({ type }) => type),
});
