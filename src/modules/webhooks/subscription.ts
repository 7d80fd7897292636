import { familyOf, isReadable, means, subscribable } from '#modules/events/index.ts';
import type { Caller } from '#platform/context.ts';
import type { EventType } from '#platform/contract.ts';
import { nearest } from '#platform/field-errors.ts';
import type { Entry } from './rules.ts';
import { checkEntries, refuseHidden } from './rules.ts';

// What an endpoint subscribes to, and who may see what it receives.

/** The columns that a write of `events` settles: they are those of the credential that writes. */
export interface Subscription {
  readonly events: string[];
  readonly readable_types: string[];
  readonly all_branches: boolean;
  readonly branch_ids: string[];
}

/** What a caller may subscribe an endpoint to; refuses what does not exist and what it may not read. */
export function subscriptionOf({ scopes, granted, branches }: Caller, events: readonly string[]): Subscription {
  const asked = entriesOf(events);
  checkEntries('events', asked);
  const named = asked.filter(({ entry }) => entry !== '*').flatMap(({ types }) => types);
  refuseHidden(hiddenFrom(named, scopes), granted);
  const readable = subscribable.filter((type) => isReadable(type, scopes));
  return {
    events: [...events],
    readable_types: readable.map(({ type }) => type),
    all_branches: branches === 'all',
    branch_ids: branches === 'all' ? [] : [...branches].sort(),
  };
}

/** Entries with the types they mean. */
export const entriesOf = (entries: readonly string[]): Entry[] =>
  entries.map((entry) => {
    const types = subscribable.filter(({ type }) => means(entry, type));
    return { entry, types, near: types.length === 0 ? nearest(entry, known) : undefined };
  });

type Subscribed = Pick<Subscription, 'events' | 'readable_types'>;

/** The types an endpoint receives: those it subscribes to, as far as who wrote that could read them. */
export const receivedBy = ({ events, readable_types: readable }: Subscribed): EventType[] =>
  subscribable.filter(({ type }) => readable.includes(type) && events.some((entry) => means(entry, type)));

/** Whoever reads or steers what an endpoint receives must be able to read it all. */
export const checkReads = ({ scopes, granted }: Caller, endpoint: Subscribed): void =>
  refuseHidden(hiddenFrom(receivedBy(endpoint), scopes), granted);

const hiddenFrom = (types: readonly EventType[], scopes: Caller['scopes']): EventType[] =>
  types.filter((type) => !isReadable(type, scopes));

const types = subscribable.map(({ type }) => type);
const families = [...new Set(types.map((type) => `${familyOf(type)}.*`))];
const known = [...types, ...families];
