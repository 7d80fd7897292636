import { setTimeout as delay } from 'node:timers/promises';
import type { Claimed, Ended, EndpointRef, Outcome } from '#modules/deliveries/index.ts';
import { attemptId, nextAfter, settleDeliveries } from '#modules/deliveries/index.ts';
import type { Instant } from '#platform/dates.ts';
import type { Service } from '#platform/service.ts';

/** An attempt that was made. */
export interface Made {
  readonly delivery: Claimed;
  readonly body: string;
  readonly outcome: Outcome;
  readonly attemptedAt: Instant;
}

/** What came of attempts, on its way into the database: many at once, and again until it is there. */
export interface Ledger {
  add(made: Made): void;
  /** The deliveries whose attempt is not written yet. */
  open(): Pick<Ended, 'id' | 'manual'>[];
  /** The database did not take the last of them. What is claimed meanwhile could be what they have settled. */
  isBehind(): boolean;
  /** All of them are written, or the time is over. */
  written(withinMs: number): Promise<void>;
  /** Takes and writes no more. */
  close(): void;
}

/** So long what ended is gathered, unless it is so many. */
const gatherMs = 5;
const most = 500;
/** Before what somebody else holds is tried again, and what the database refuses. */
const heldMs = 50;
const longestPauseMs = 1_000;

interface Line {
  readonly ended: Ended;
  readonly endedAt: number;
}

export function openLedger(service: Service, ownerId: string, onWritten: (lookAt: readonly EndpointRef[]) => void): Ledger {
  let lines: Line[] = [];
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;
  let behind = false;
  let closed = false;

  const begin = () => {
    clearTimeout(timer);
    timer = undefined;
    writing ??= writeAll().finally(() => {
      writing = undefined;
    });
  };

  /** Until nothing is left: what ends meanwhile goes with the next. */
  async function writeAll(): Promise<void> {
    for (let pauseMs = 50; lines.length > 0 && !closed; ) {
      try {
        const batch = lines.slice(0, most);
        const written = await write(batch);
        lines = lines.filter(({ ended }) => !written.has(ended.attempt_id));
        [behind, pauseMs] = [false, 50];
        if (written.size < batch.length) await delay(heldMs);
      } catch (error) {
        if (!behind) service.log.error({ err: error, open: lines.length }, 'outcomes of deliveries wait for the database');
        behind = true;
        await delay(pauseMs);
        pauseMs = Math.min(pauseMs * 2, longestPauseMs);
      }
    }
  }

  /** One line that cannot be written keeps none of the others from it. */
  async function write(batch: readonly Line[]): Promise<Set<string>> {
    try {
      const { written, lookAt } = await settleDeliveries(service, ownerId, batch.map(asOfNow));
      onWritten(lookAt);
      return new Set(written);
    } catch (error) {
      if (!isOfTheData(error)) throw error;
      if (batch.length > 1) {
        const half = Math.ceil(batch.length / 2);
        return new Set([...(await write(batch.slice(0, half))), ...(await write(batch.slice(half)))]);
      }
      const [{ ended, endedAt }] = batch as [Line];
      service.log.error({ err: error, delivery: ended.id, attempt: ended.attempt }, 'what a delivery brought cannot be written');
      return writeBare({ ended: { ...ended, request_headers: {}, response_body: null }, endedAt });
    }
  }

  async function writeBare(line: Line): Promise<Set<string>> {
    try {
      const { written, lookAt } = await settleDeliveries(service, ownerId, [asOfNow(line)]);
      onWritten(lookAt);
      return new Set(written);
    } catch (error) {
      if (!isOfTheData(error)) throw error;
      return new Set([line.ended.attempt_id]); // It never will be: the lease runs out.
    }
  }

  return {
    add(made) {
      if (closed) return;
      lines.push(lineOf(made));
      if (lines.length >= most) begin();
      else if (!writing) timer ??= setTimeout(begin, gatherMs);
    },
    open: () => lines.map(({ ended }) => ended),
    isBehind: () => behind,
    async written(withinMs) {
      const until = performance.now() + withinMs;
      while (lines.length > 0 && performance.now() < until) {
        begin();
        await Promise.race([writing, delay(Math.max(1, until - performance.now()))]);
      }
    },
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}

function lineOf({ delivery, body, outcome, attemptedAt }: Made): Line {
  const { dealer_id, id, manual, endpoint_id, event_id, event_at, type, attempt, lease_until } = delivery;
  const ended: Ended = {
    attempt_id: attemptId(attemptedAt),
    ...{ dealer_id, id, manual, endpoint_id, event_id, event_at, attempt, lease_until },
    event_type: type,
    attempted_at: attemptedAt,
    ended_ms_ago: 0,
    success: outcome.success,
    response_status: outcome.responseStatus,
    request_headers: outcome.requestHeaders,
    request_body: body,
    response_body: outcome.responseBody,
    error: outcome.error,
    duration_ms: outcome.durationMs,
    delay_seconds: nextAfter(delivery, outcome.success),
  };
  return { ended, endedAt: performance.now() };
}

/** How long ago it ended counts from when it is sent, so that however long it waited here no next attempt comes early. */
const asOfNow = ({ ended, endedAt }: Line): Ended => ({ ...ended, ended_ms_ago: performance.now() - endedAt });

/** PostgreSQL took offence at a value: it would at the next try. */
const isOfTheData = (error: unknown): boolean => /^2[23]/.test((error as { code?: string }).code ?? '');
