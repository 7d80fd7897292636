import { recordAttempt } from '#modules/deliveries/index.ts';
import { ping } from '#modules/events/contract.ts';
import type { StoredEvent } from '#modules/events/index.ts';
import { emit, eventText } from '#modules/events/index.ts';
import type { Context } from '#platform/context.ts';
import type { Instant } from '#platform/dates.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import type { Outcome } from './attempt.ts';
import { sendAttempt } from './attempt.ts';
import type { WebhookDelivery } from './contract.ts';
import type { EndpointRow } from './queries.ts';
import { pingOf } from './queries.ts';
import { standing } from './reads.ts';
import { openSecrets } from './secret.ts';
import { toDelivery } from './view.ts';

/** A ping that was sent, and what came of it. */
export interface SentPing {
  readonly event: StoredEvent;
  readonly body: string;
  readonly outcome: Outcome;
}

/**
 * Tells a ping in a short transaction of its own, since its number, and with it its text, is known when that has committed; then sends
 * it like any delivery. Whoever dies in between leaves a ping that went nowhere, and a request that can be repeated.
 */
export async function sendPing(ctx: Context, id: string): Promise<SentPing> {
  const { endpoint, at } = await inTransaction(ctx, async (tx) => {
    const endpoint = await standing(tx, id);
    emit(tx, ping, { id, message }, { resourceId: id, branchId: null });
    return { endpoint, at: tx.now };
  });
  const event = await pingOf(ctx, id, at);
  const body = eventText(event, endpoint.calling_dealer_id);
  const outcome = await sendAttempt(ctx.service, {
    dealerId: ctx.dealer.id,
    endpointId: id,
    url: endpoint.url,
    secrets: secretsOf(ctx, endpoint, at),
    eventId: event.id,
    eventType: event.type,
    sequence: event.sequence,
    body,
    signedAt: at,
  });
  return { event, body, outcome };
}

/** Writes the attempt into the log, with the answer to whoever asked for it. */
export const logPing = (ctx: Context, endpointId: string, { event, body, outcome }: SentPing): Promise<WebhookDelivery> =>
  inTransaction(ctx, async (tx) =>
    toDelivery(await recordAttempt(tx, { endpointId, event, attemptedAt: event.created_at, requestBody: body, outcome })),
  );

const message = 'A test of this endpoint.';

const secretsOf = ({ service, dealer }: Context, endpoint: EndpointRow, now: Instant): string[] => {
  const { id, secret_enc, old_secret_enc, old_secret_until: until } = endpoint;
  return openSecrets(service, dealer.id, id, [secret_enc, until !== null && until > now ? old_secret_enc : null]);
};
