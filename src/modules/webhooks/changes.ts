import { isDeepStrictEqual } from 'node:util';
import type { Instant } from '#platform/dates.ts';
import type { EndpointChanges } from './contract.ts';
import type { EndpointRow, ShownRow } from './queries.ts';
import { wantsEnabled } from './rules.ts';
import type { Subscription } from './subscription.ts';

// What a change makes of an endpoint.

/** An endpoint with the changes written over it. `subscription`: what its events become, if they are written. */
export function written(before: ShownRow, changes: EndpointChanges, subscription: Subscription | null, now: Instant): ShownRow {
  const { url = before.url, description = before.description } = changes;
  const enabled = wantsEnabled(changes) ?? before.enabled;
  const after = { ...before, ...subscription, url, description, ...ability(before, enabled, now) };
  const isFresh = after.url !== before.url || (after.enabled && !before.enabled);
  return isFresh ? { ...after, failing_since: null } : after;
}

/** The fields of the API that differ. */
export const changedFields = (before: ShownRow, after: ShownRow): string[] => {
  const differing = columns.filter((column) => !isDeepStrictEqual(before[column], after[column]));
  return [...new Set(differing.map((column) => names[column] ?? column))];
};

/** The columns a change may write. */
export const saved = (row: EndpointRow): Pick<EndpointRow, (typeof columns)[number]> =>
  Object.fromEntries(columns.map((column) => [column, row[column]])) as Pick<EndpointRow, (typeof columns)[number]>;

/** One that is disabled already stays disabled for the reason it was. */
const ability = (before: ShownRow, enabled: boolean, now: Instant) =>
  enabled === before.enabled
    ? {}
    : enabled
      ? { enabled, disabled_reason: null, disabled_at: null }
      : { enabled, disabled_reason: 'manual' as const, disabled_at: now };

const columns = [
  ...(['url', 'description', 'events', 'readable_types', 'all_branches', 'branch_ids'] as const),
  ...(['enabled', 'disabled_reason', 'disabled_at'] as const),
] as const;

/** Which types can be read is told of nowhere, but it follows from a write of the events. */
const names: Partial<Record<(typeof columns)[number], string>> = { readable_types: 'events' };
