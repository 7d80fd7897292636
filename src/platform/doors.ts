import type { Caller, Dealer } from './context.ts';
import type { Scope } from './contract.ts';
import type { Instant } from './dates.ts';
import type { Refusal } from './errors.ts';

/** What is left of an allowance of requests per minute. */
export interface Allowance {
  readonly limit: number;
  readonly remaining: number;
  readonly exceeded: boolean;
  /** Whole seconds until the window ends. */
  readonly resetSeconds: number;
}

/** Who sent a request. A credential that is known but opens nothing has its `refusal`. */
export interface Identity {
  readonly now: Instant;
  readonly allowance: Allowance;
  readonly refusal: Refusal | null;
  readonly known: Known | null;
}

export interface Known {
  readonly caller: Caller;
  readonly dealer: Dealer;
  /** Whether the plan of the key's dealership is a paid one. */
  readonly paid: boolean;
  readonly ips: readonly string[];
  readonly origins: readonly string[];
}

/** What the platform asks of the application at every request. */
export interface Doors {
  /** One statement: who asks, and what is left of the allowance. `token` is null when none was sent. */
  identify(token: string | null, address: string): Promise<Identity>;
  /** The permission a scope needs from its owner. */
  permissionBehind(scope: Scope): string | null;
  /** The origins of the pages that may call with an OAuth token where an operation asks about them. */
  readonly pages: readonly string[];
}
