import type { Context } from '#platform/context.ts';
import type { Instant } from '#platform/dates.ts';
import { haveDay } from '#platform/db/days.ts';
import type { Service } from '#platform/service.ts';
import type { Ask, Claim, Claimed } from './claim-queries.ts';
import * as claims from './claim-queries.ts';
import type { AttemptRow, NewAttempt } from './log-queries.ts';
import { insertAttempt } from './log-queries.ts';
import type { Selection, Told } from './queries.ts';
import * as rows from './queries.ts';
import { caps, delayAfter, disabledAfterHours, entriesFor, noticeHours } from './rules.ts';
import type { Ended, EndpointRef, Settled } from './settle-queries.ts';
import * as settlements from './settle-queries.ts';

// ---- What is to be delivered ----

/** Queues a delivery for every endpoint that asks for an event and may be told of it: with the event, or not at all. */
export async function queueDeliveries(tx: Context, events: readonly Omit<Told, 'entries'>[]): Promise<void> {
  const told = events.map(({ id, type, branch_id, calling_dealer_id }) => ({
    id,
    type,
    entries: entriesFor(type),
    branch_id,
    calling_dealer_id,
  }));
  if ((await rows.insertDeliveries(tx, told)) > 0) tx.service.hintDeliveries();
}

/** Sends events once more, or for the first time: one attempt beside whatever is pending, that counts for nothing. */
export async function sendAgain(tx: Context, endpointId: string, events: readonly { id: string; created_at: Instant }[]): Promise<void> {
  await rows.insertManual(tx, endpointId, events);
  tx.service.hintDeliveries();
}

/** Delivers past events like new ones, with all retries; those that are pending are left. Returns how many. */
export async function replay(tx: Context, endpointId: string, selection: Selection): Promise<number> {
  const queued = await rows.insertReplayed(tx, endpointId, selection);
  if (queued > 0) tx.service.hintDeliveries();
  return queued;
}

/** Nothing that is pending at these endpoints goes out any more. */
export const cancelDeliveries = (tx: Context, endpointIds: readonly string[]): Promise<void> => rows.deletePending(tx, endpointIds);

/** Of what is pending at an endpoint nothing but these types goes out any more. */
export const cancelOtherTypes = (tx: Context, endpointId: string, kept: readonly string[]): Promise<void> =>
  rows.deletePending(tx, [endpointId], kept);

/** As if no delivery to these endpoints had failed. */
export const forgetFailures = (tx: Context, endpointIds: readonly string[]): Promise<void> => rows.clearFailures(tx, endpointIds);

/** Writes down an attempt that somebody asked for and waited for. */
export async function recordAttempt(tx: Context, attempt: NewAttempt): Promise<AttemptRow> {
  await haveDay(tx.service, 'delivery_attempt', attempt.attemptedAt);
  return insertAttempt(tx, attempt);
}

// ---- Delivering ----

/** Takes what is sent next. */
export const claimDeliveries = (service: Service, ask: Ask): Promise<Claim> => claims.claim(service, ask, caps);

/** When the next attempt follows one that ended; null: never. */
export const nextAfter = ({ attempt, manual }: Pick<Claimed, 'attempt' | 'manual'>, success: boolean): number | null =>
  success || manual ? null : delayAfter(attempt);

/** Writes down what came of attempts. */
export async function settleDeliveries(service: Service, ownerId: string, attempts: readonly Ended[]): Promise<Settled> {
  for (const day of new Set(attempts.map(({ attempted_at: at }) => at.slice(0, 10)))) await haveDay(service, 'delivery_attempt', day);
  return settlements.settle(service, ownerId, attempts, lookHours);
}

/** The enabled endpoints whose dealer is to be told something by now, or that are to be disabled. Forgets those that are gone. */
export async function endpointsInNeed(service: Service): Promise<EndpointRef[]> {
  await rows.deleteLeftOver(service);
  return settlements.endpointsInNeed(service, lookHours);
}

/** After so many hours of failing something follows. */
const lookHours = [...noticeHours, disabledAfterHours];
