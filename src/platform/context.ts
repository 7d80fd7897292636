import type { Kysely } from 'kysely';
import type { KeyKind, Scope } from './contract.ts';
import type { Instant } from './dates.ts';
import type { OpenTransaction } from './db/open-transaction.ts';
import type { DB } from './db/schema.ts';
import type { Branches } from './reach.ts';
import type { Service } from './service.ts';

/** The dealership a request is about, as the identifying statement read it. */
export interface Dealer {
  readonly id: string;
  readonly code: string;
  readonly currency: string;
  readonly country: string;
  readonly timeZone: string;
  readonly isSandbox: boolean;
}

/** Who asks: a key or grant, a member of staff, a job or the operator. Plain data, so that a job can carry it. */
export interface Caller {
  readonly kind: KeyKind | 'user' | 'system';
  /** The key, grant or member of staff itself; `null` for the system. */
  readonly id: string | null;
  readonly name: string;
  /** What it was given … */
  readonly granted: readonly Scope[];
  /** … and what is left of that after its owner's present permissions. */
  readonly scopes: readonly Scope[];
  /** The present permissions of the member of staff it acts as. */
  readonly permissions: readonly string[];
  readonly branches: Branches;
  readonly owner: { readonly id: string; readonly name: string } | null;
  /** The dealership whose key it is: another than the record's in the sandbox, else the same. */
  readonly callingDealerId: string;
  /** What `GET /v1/me` tells of the key; `null` for the system. */
  readonly key: KeyDetails | null;
}

export interface KeyDetails {
  readonly name: string;
  /** Null of an OAuth token, which has none. */
  readonly lookup: string | null;
  readonly environment: 'live' | 'test';
  readonly rateLimit: number;
  readonly expiresAt: Instant | null;
  readonly createdAt: Instant;
  /** The partner app whose token it is. */
  readonly app: AppDetails | null;
}

/** A partner app, and what it was authorised to. */
export interface AppDetails {
  readonly id: string;
  readonly name: string;
  readonly websiteUrl: string;
  readonly logoUrl: string | null;
  readonly authorisedAt: Instant;
  readonly scopes: readonly Scope[];
}

/** What every command and query takes first. Inside a transaction `db` is its connection and `now` the time of the dealer's turn. */
export interface Context {
  readonly dealer: Dealer;
  readonly caller: Caller;
  /** Sees the rows of this dealer and no others, by row level security. */
  readonly db: Kysely<DB>;
  readonly now: Instant;
  readonly requestId: string | null;
  readonly service: Service;
  readonly tx?: OpenTransaction;
}

/** For whom a row becomes wire. */
export interface Reader {
  readonly kind: Caller['kind'];
  readonly scopes: readonly Scope[];
  readonly currency: string;
  readonly timeZone: string;
  readonly now: Instant;
  /** Where the outside reads a file. */
  readonly addressOf: (file: string) => string;
}

export const readerOf = (ctx: Context): Reader => ({
  kind: ctx.caller.kind,
  scopes: ctx.caller.scopes,
  currency: ctx.dealer.currency,
  timeZone: ctx.dealer.timeZone,
  now: ctx.now,
  addressOf: ctx.service.files.addressOf,
});

/** The reader of every event: a secret key with nothing but the read scope of the event's own family. */
export const familyReader = (ctx: Context, scope: Scope): Reader => ({ ...readerOf(ctx), kind: 'secret', scopes: [scope] });

/** The same caller with every branch in reach: for what follows from a write that was within it, wherever in the dealership that lies. */
export const acrossBranches = (ctx: Context): Context => ({ ...ctx, caller: { ...ctx.caller, branches: 'all' } });
