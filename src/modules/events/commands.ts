import { recordActivity } from '#modules/activity/index.ts';
import { queueDeliveries } from '#modules/deliveries/index.ts';
import type { Caller, Context } from '#platform/context.ts';
import type { EventType } from '#platform/contract.ts';
import type { Instant } from '#platform/dates.ts';
import type { DailyTable } from '#platform/db/days.ts';
import { dropOldDays, haveDay, makeDays } from '#platform/db/days.ts';
import { gather, takeNumbers } from '#platform/db/transaction.ts';
import type { Change } from '#platform/records.ts';
import { toTombstone } from '#platform/records.ts';
import { uuidv7 } from '#platform/secrets.ts';
import type { Service } from '#platform/service.ts';
import { writer } from '#platform/wire.ts';
import { ping } from './contract.ts';
import type { Actor } from './queries.ts';
import { deliveriesOf, insertEvents } from './queries.ts';

/** What an event is about, beside its object. */
export interface About {
  readonly resourceId: string;
  readonly branchId: string | null;
  /** The names of the fields that differ from before. */
  readonly changed?: readonly string[];
  readonly previousStatus?: string;
}

/** Tells what happened, in the transaction in which it happened: what commits will be told, what is undone never was. */
export function emit(tx: Context, type: EventType, object: unknown, about: About): void {
  gather<Happening>(tx, writeEvents, {
    type: type.type,
    resource_id: about.resourceId,
    branch_id: about.branchId,
    data: dataOf(writer(type.object)(object), about),
    actor: actorOf(tx.caller),
    calling_dealer_id: tx.caller.callingDealerId,
    request_id: tx.requestId,
  });
}

/** What is told of the records of one resource: those of its changes that have an event. */
export interface Chronicle {
  readonly record: string;
  readonly created: EventType;
  readonly updated?: EventType;
  readonly statusChanged?: EventType;
  readonly deleted?: EventType;
}

interface Told {
  readonly id: string;
  readonly branch_id: string;
  readonly status?: string;
  readonly deleted_at: Instant | null;
  readonly updated_at: Instant;
}

/** Tells what became of a record, in the order in which it is told: an activity, and the events its resource has for it. */
export function tell<R extends Told>(
  tx: Context,
  chronicle: Chronicle,
  { before, after, changed }: Change<R>,
  show: (row: R) => unknown,
): void {
  const { record, created, updated, statusChanged, deleted } = chronicle;
  const about = { resourceId: after.id, branchId: after.branch_id };
  if (after.deleted_at !== null) {
    recordActivity(tx, 'deleted', record, after.id, []);
    if (deleted) emit(tx, deleted, toTombstone(after), about);
    return;
  }
  if (before && changed.length === 0) return;
  recordActivity(tx, before ? 'updated' : 'created', record, after.id, changed);
  const object = show(after);
  if (!before) {
    emit(tx, created, object, about);
    return;
  }
  if (updated) emit(tx, updated, object, { ...about, changed });
  if (statusChanged && before.status !== undefined && after.status !== before.status) {
    emit(tx, statusChanged, object, { ...about, changed, previousStatus: before.status });
  }
}

/**
 * Events, and the attempts to deliver them. An event is read for 30 days, may be sent again until the last moment of them, and is then
 * tried for 44.6 hours.
 */
const keptByDays: readonly DailyTable[] = [
  { table: 'event', keptDays: 32, heldBy: deliveriesOf },
  { table: 'delivery_attempt', keptDays: 32 },
];

/** Makes the parts of today and of the days ahead, so that no write ever has to. */
export async function makeEventDays(service: Service, daysAhead?: number): Promise<void> {
  for (const daily of keptByDays) await makeDays(service, daily, daysAhead);
}

/** Drops the days that nobody reads any more. */
export async function dropOldEventDays(service: Service): Promise<void> {
  for (const daily of keptByDays) await dropOldDays(service, daily);
}

interface Happening {
  readonly type: string;
  readonly resource_id: string;
  readonly branch_id: string | null;
  readonly data: string;
  readonly actor: Actor;
  readonly calling_dealer_id: string;
  readonly request_id: string | null;
}

const dataOf = (object: string, { changed, previousStatus }: About): string =>
  `{"object":${object}${changed ? `,"changed":${JSON.stringify(changed)}` : ''}${
    previousStatus === undefined ? '' : `,"previous_status":${JSON.stringify(previousStatus)}`
  }}`;

const actorOf = ({ kind, id, name }: Caller): Actor => ({ kind: actorKinds[kind], id, name });

const actorKinds = { secret: 'key', publishable: 'key', oauth: 'oauth_app', user: 'user', system: 'system' } as const;

/** Numbers are taken at the end and at once, so they have no gaps and follow the order of what happened. */
async function writeEvents(tx: Context, happenings: readonly Happening[]): Promise<void> {
  await haveDay(tx.service, 'event', tx.now);
  const first = await takeNumbers(tx, 'event', happenings.length);
  const rows = happenings.map((happening, index) => ({ id: uuidv7(tx.now), sequence: first + index, ...happening }));
  const told = rows.filter(({ type }) => type !== ping.type);
  // Sent together, so that they cost one wait.
  await Promise.all([insertEvents(tx, rows), told.length > 0 ? queueDeliveries(tx, told) : undefined]);
}
