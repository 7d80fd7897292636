import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Claim, Claimed } from '#modules/deliveries/index.ts';
import { backlog, claimDeliveries, handBack, leaseSeconds, putOff, resumeOverdue } from '#modules/deliveries/index.ts';
import type { StoredEvent } from '#modules/events/index.ts';
import { eventText } from '#modules/events/index.ts';
import { after } from '#platform/dates.ts';
import { deliveryMetrics } from '#platform/metrics.ts';
import type { Service } from '#platform/service.ts';
import { sendAttempt } from './attempt.ts';
import { closeClients } from './clients.ts';
import type { ContextOf } from './delinquency.ts';
import { lookAfter } from './delinquency.ts';
import { openLedger } from './ledger.ts';
import { pace } from './pace.ts';
import { openSecrets } from './secret.ts';
import { slotsOf } from './slots.ts';

/** Delivers until it is closed. */
export interface Courier {
  /** There may be something new: a hint. */
  wake(): void;
  /** Takes nothing more, waits for what is under way as long as it may, and hands back what is left. */
  close(graceMs: number): Promise<void>;
}

interface Options {
  /** The context in which the endpoints of a dealer are looked after. */
  readonly contextOf: ContextOf;
  /** How many attempts it makes at once. */
  readonly slots?: number;
}

/** An attempt may begin as long as it ends before its lease does. */
const latestStartMs = (leaseSeconds - 10) * 1_000;
const resumeEveryMs = 1_000;
const lookAtAllEveryMs = 60_000;
const measureEveryMs = 5_000;
/** What a fault of ours kept from being attempted is due again after so long. */
const faultDelaySeconds = 60;
/** More outcomes than these wait for the database: it is no time to make others. */
const mostOpen = 500;
const longestPauseMs = 5_000;

/** The loop: claim → send → settle. Any number of them may run, in any number of processes. */
export function deliver(service: Service, { contextOf, slots: places = 256 }: Options): Courier {
  const ownerId = randomUUID();
  const slots = slotsOf(places);
  const walk = pace();
  const closing = new AbortController();
  const care = lookAfter(service, contextOf);
  const ledger = openLedger(service, ownerId, care.add);
  /** When all leases are looked at again: at once after a start, and when the database was away. */
  let lookAtAllFrom = 0;
  const every = [
    repeat(closing.signal, resumeEveryMs, service, async () => {
      if (ledger.isBehind()) {
        lookAtAllFrom = 0;
        return;
      }
      const looksAtAll = performance.now() >= lookAtAllFrom;
      const { count, looked } = await resumeOverdue(service, looksAtAll ? 'all' : 'of the last minute');
      if (looksAtAll && looked) lookAtAllFrom = performance.now() + lookAtAllEveryMs;
      if (count > 0) walk.wake();
    }),
    repeat(closing.signal, measureEveryMs, service, async () => deliveryMetrics.backlog(await backlog(service))),
  ];
  const running = run();

  async function run(): Promise<void> {
    for (let pauseMs = 50; !closing.signal.aborted; ) {
      await walk.next();
      if (closing.signal.aborted) return;
      if (ledger.isBehind() || ledger.open().length > mostOpen) {
        walk.took(null, 0);
        continue;
      }
      try {
        await claimOnce();
        pauseMs = 50;
      } catch (error) {
        service.log.error({ err: error, pauseMs }, 'no deliveries could be claimed');
        await delay(pauseMs, undefined, { signal: closing.signal }).catch(() => undefined);
        pauseMs = Math.min(pauseMs * 2, longestPauseMs);
      }
    }
  }

  async function claimOnce(): Promise<void> {
    const free = slots.free();
    if (free.places + free.troubledPlaces === 0) return walk.took(null, 0);
    const askedAt = performance.now();
    const claim = await claimDeliveries(service, { ownerId, ...free, ...walk.step(), ended: ledger.open() });
    const claimedAt = performance.now();
    walk.took(claim, claimedAt - askedAt);
    for (const delivery of claim.taken) void make(delivery, { claim, askedAt, claimedAt });
  }

  async function make(delivery: Claimed, { claim, askedAt, claimedAt }: Claiming): Promise<void> {
    const leave = slots.take(delivery);
    const begun = performance.now();
    deliveryMetrics.underWay(slots.count());
    try {
      if (performance.now() - askedAt > latestStartMs) return; // Its lease is another's by now, or soon.
      const body = eventText(eventOf(delivery), delivery.endpoint_dealer_id);
      const attemptedAt = service.clock() ?? after(claim.now, performance.now() - claimedAt);
      const outcome = await sendAttempt(service, {
        dealerId: delivery.dealer_id,
        endpointId: delivery.endpoint_id,
        url: delivery.url,
        secrets: openSecrets(service, delivery.dealer_id, delivery.endpoint_id, [delivery.secret_enc, delivery.old_secret_enc]),
        eventId: delivery.event_id,
        eventType: delivery.type,
        sequence: delivery.sequence,
        body,
        signedAt: attemptedAt,
      });
      deliveryMetrics.attempted(outcome.error ?? 'success', outcome.durationMs / 1_000);
      ledger.add({ delivery, body, outcome, attemptedAt });
    } catch (error) {
      // A fault of ours: the same attempt is made again, and holds no place until then.
      service.log.error({ err: error, delivery: delivery.id, attempt: delivery.attempt }, 'a delivery could not be attempted');
      deliveryMetrics.attempted('fault', (performance.now() - begun) / 1_000);
      await putOff(service, ownerId, delivery, faultDelaySeconds).catch((fault) =>
        service.log.warn({ err: fault, delivery: delivery.id }, 'a delivery could not be put off: its lease runs out'),
      );
    } finally {
      leave();
      deliveryMetrics.underWay(slots.count());
      walk.wakeIfBusy();
    }
  }

  return {
    wake: walk.wake,
    async close(graceMs) {
      const until = performance.now() + graceMs;
      const left = () => Math.max(0, until - performance.now());
      closing.abort();
      walk.wake();
      await Promise.all([running, ...every]);
      await Promise.race([slots.empty(), delay(left())]);
      await ledger.written(left());
      await Promise.race([care.done(), delay(left())]);
      care.close();
      // In this order: an attempt that is cut off here is no failure of its receiver.
      ledger.close();
      await closeClients(service);
      await handBack(service, ownerId).catch((error) => service.log.error({ err: error }, 'leases could not be handed back'));
    },
  };
}

interface Claiming {
  readonly claim: Claim;
  readonly askedAt: number;
  readonly claimedAt: number;
}

/** A claimed row as its event. */
const eventOf = (delivery: Claimed): StoredEvent =>
  ({ ...delivery, id: delivery.event_id, created_at: delivery.event_at }) as unknown as StoredEvent;

/** Again and again until it is ended, and no more than a twentieth of the time; what fails is tried the next time. */
async function repeat(signal: AbortSignal, everyMs: number, { log }: Service, work: () => Promise<unknown>): Promise<void> {
  while (!signal.aborted) {
    const begun = performance.now();
    await work().catch((error) => log.warn({ err: error }, 'what the courier does now and then failed'));
    await delay(Math.max(everyMs, 20 * (performance.now() - begun)), undefined, { signal }).catch(() => undefined);
  }
}
