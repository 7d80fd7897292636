import type { Context } from '#platform/context.ts';
import type { Page } from '#platform/contract.ts';
import { parseInstant } from '#platform/dates.ts';
import { invalid, Refusal } from '#platform/errors.ts';
import { Written } from '#platform/wire.ts';
import type { EventListQuery } from './contract.ts';
import type { StoredEvent } from './queries.ts';
import { pageOfEvents, visibleEvent } from './queries.ts';
import { ownTypes, typesRead } from './rules.ts';
import { eventText } from './view.ts';

/** A page of the events within the caller's reach, oldest first. */
export async function listEvents(ctx: Context, { type, ...query }: EventListQuery): Promise<Page<Written>> {
  const { callingDealerId, scopes } = ctx.caller;
  const types = typesRead(scopes, type);
  const filters = { ...query, type, ...withOneName(query, 'since'), ...withOneName(query, 'before') };
  return pageOfEvents(ctx, filters, { types, own: ownTypes }, (row) => new Written(eventText(row, callingDealerId)));
}

/** One event as its text, if it exists for this caller. */
export async function getEvent(ctx: Context, id: string): Promise<Written> {
  return new Written(eventText(await findEvent(ctx, id), ctx.caller.callingDealerId));
}

/** The event itself, if it exists for this caller. */
export async function findEvent(ctx: Context, id: string): Promise<StoredEvent> {
  const found = await visibleEvent(ctx, id, { types: typesRead(ctx.caller.scopes), own: ownTypes });
  if (!found) throw new Refusal('not_found');
  return found;
}

type Times = Pick<EventListQuery, 'created_since' | 'created_before' | 'updated_since' | 'updated_before'>;

/** An event changes no more, so that its two times are one; asked for by both names they must be the same. */
function withOneName(query: Times, end: 'since' | 'before'): Times {
  const { [`created_${end}` as const]: created, [`updated_${end}` as const]: updated } = query;
  if (created !== undefined && updated !== undefined && parseInstant(created) !== parseInstant(updated))
    throw invalid(`updated_${end}`, `The same as created_${end}: give one of the two, or both alike.`);
  return { [`created_${end}`]: created ?? updated, [`updated_${end}`]: undefined };
}
