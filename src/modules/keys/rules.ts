import type { KnownScope, Permission } from '#modules/staff/contract.ts';
import { scopeCatalogue } from '#modules/staff/contract.ts';
import type { Code } from '#platform/errors.ts';

/** A key as the door sees it. */
export interface AtTheDoor {
  readonly revoked: boolean;
  readonly expired: boolean;
  readonly keeper_active: boolean;
  readonly environment: 'live' | 'test';
  readonly available: boolean;
}

/** Why a key opens nothing; `null` when it does. Revoked wins over expired. */
export function whyClosed(key: AtTheDoor): Code | null {
  if (key.revoked) return 'api_key_revoked';
  if (key.expired) return 'api_key_expired';
  if (!key.keeper_active) return 'key_owner_inactive';
  if (key.environment === 'test' && !key.available) return 'sandbox_unavailable';
  return null;
}

/** The scopes of a key that its owner's present permissions still cover. */
export const effectiveScopes = (granted: readonly KnownScope[], permissions: readonly Permission[]): KnownScope[] =>
  granted.filter((scope) => {
    const needed = scopeCatalogue[scope].permission;
    return needed === null || permissions.includes(needed);
  });

type Branches = 'all' | readonly string[];

/** The key's chosen branches and its owner's, together. "All" is no list: two lists without a common branch see nothing. */
export function effectiveBranches(key: Branches, owner: Branches): Branches {
  if (key === 'all') return owner;
  if (owner === 'all') return key;
  return key.filter((id) => owner.includes(id));
}

/** What is left after the request that was the `position`th of its window. */
export const standingOf = (position: number, limit: number, resetSeconds: number) => ({
  limit,
  remaining: Math.max(0, limit - position),
  exceeded: position > limit,
  resetSeconds,
});
