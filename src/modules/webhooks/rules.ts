import { scopeCatalogue } from '#modules/staff/contract.ts';
import type { EventType, Scope } from '#platform/contract.ts';
import type { Instant } from '#platform/dates.ts';
import { fromMillis, lastMoment, parseInstant, toMillis } from '#platform/dates.ts';
import type { FieldErrors } from '#platform/errors.ts';
import { invalid, invalidFields, Refusal } from '#platform/errors.ts';
import type { Branches } from '#platform/reach.ts';
import { reaches } from '#platform/reach.ts';
import type { DisabledReason } from './contract.ts';
import { keptDays, mostEndpoints, mostReplayed } from './contract.ts';

// What is not allowed with webhook endpoints. Pure: what is known of types, callers and endpoints is given.

// ---- Which types ----

/** An entry as it was written, with the types it means, and what was perhaps meant when it means none. */
export interface Entry {
  readonly entry: string;
  readonly types: readonly EventType[];
  readonly near: string | undefined;
}

/** What is written names types that can be subscribed to, each once. */
export function checkEntries(field: string, entries: readonly Entry[]): void {
  const wrong = entries.flatMap(({ entry, types, near }, i) => {
    if (entry === 'ping') return ['A ping is sent by the test of an endpoint alone; it cannot be subscribed to.'];
    if (types.length === 0) return [`There is no event type "${entry}".${near === undefined ? '' : ` Did you mean "${near}"?`}`];
    return entries.findIndex((one) => one.entry === entry) < i ? [`"${entry}" is named twice.`] : [];
  });
  if (wrong.length > 0) throw invalidFields({ [field]: [...new Set(wrong)] });
}

/** What is named and not `*` must be read by the caller: `hidden` are those of its types that are not. `granted`: what the key was given. */
export function refuseHidden([hidden]: readonly EventType[], granted: readonly Scope[]): void {
  if (!hidden) return;
  const { type, scopes } = hidden;
  const lost = scopes.find((scope) => granted.includes(scope));
  if (lost === undefined) {
    throw new Refusal('insufficient_scope', `The key lacks the scope that reads ${type}.`, { required: { scope: scopes[0]! } });
  }
  const permission = permissionBehind(lost);
  throw new Refusal('scope_not_permitted_for_owner', `The member of staff this key acts as lacks the permission to read ${type}.`, {
    required: { scope: lost, ...(permission !== null && { permission }) },
  });
}

const permissionBehind = (scope: Scope): string | null =>
  Object.hasOwn(scopeCatalogue, scope) ? scopeCatalogue[scope as keyof typeof scopeCatalogue].permission : null;

// ---- Endpoints ----

/** Whether one more endpoint fits. */
export function checkRoom(endpoints: number): void {
  if (endpoints >= mostEndpoints)
    throw new Refusal('webhook_endpoint_limit_reached', `The dealership has ${mostEndpoints} webhook endpoints, and no more.`);
}

/** Webhooks are part of the paid plans. */
export function checkPaid(plan: string): void {
  if (plan === 'FREE') throw new Refusal('plan_not_entitled', 'Webhooks need a paid plan.', { required: { plan: 'STANDARD' } });
}

/** What an app made ends with it: enabled again, it would be a thing that nobody ends. */
export function checkUnended({ disabled_reason: reason }: { readonly disabled_reason: DisabledReason | null }): void {
  if (reason === 'app_revoked')
    throw new Refusal('request_refused', 'The app that made this endpoint was disconnected, and it ended with it. Make a new one.');
}

/** What a change says of being enabled, by either of its two names. */
export const wantsEnabled = ({ enabled, status }: { enabled?: boolean | undefined; status?: 'active' | 'disabled' | undefined }) =>
  enabled ?? (status === undefined ? undefined : status === 'active');

// ---- Sending again ----

/** An endpoint as far as it is asked to receive something once more. */
export interface Receiver {
  readonly enabled: boolean;
  readonly branches: Branches;
  readonly callingDealerId: string;
  /** The types it receives. */
  readonly types: readonly string[];
}

/** An event as far as it decides who receives it. */
export interface Sent {
  readonly type: string;
  readonly branch_id: string | null;
  readonly calling_dealer_id: string;
}

export function checkEnabled({ enabled }: Pick<Receiver, 'enabled'>): void {
  if (!enabled)
    throw new Refusal(
      'request_refused',
      'The endpoint is disabled. Enable it first: PATCH it with {"enabled": true}; of an app that was disconnected, make a new one.',
    );
}

/** An event goes to whom it would go if it happened today. `isShared`: in the sandbox, where only one's own doings are told. */
export function checkReceives({ types, branches, callingDealerId }: Receiver, event: Sent, isShared: boolean): void {
  const refused = (why: string) => new Refusal('request_refused', `The endpoint does not receive this event: ${why}`);
  if (!types.includes(event.type)) throw refused(`it does not subscribe to ${event.type}, or may not read it.`);
  if (event.branch_id !== null && !reaches(branches, event.branch_id)) throw refused('it happened at another branch.');
  if (isShared && event.calling_dealer_id !== callingDealerId) throw refused('in the sandbox, what others do is not sent.');
}

/** The time a replay covers, both ends included. */
export interface Window {
  readonly since: Instant;
  readonly until: Instant;
}

/** Reads the time a replay is asked for, which must lie within what is kept. */
export function windowOf({ since, until }: { since: string; until?: string | undefined }, now: Instant): Window {
  const window = { since: parseInstant(since), until: until === undefined ? now : lastMoment('UTC', until) };
  const oldest = fromMillis(toMillis(now) - keptDays * dayMs);
  const wrong: FieldErrors = {};
  if (window.since < oldest) wrong.since = [`Events are kept for ${keptDays} days: at the earliest ${oldest.slice(0, 19)}Z.`];
  else if (window.since > now) wrong.since = ['Must not lie in the future.'];
  if (until !== undefined && window.until < window.since) wrong.until = ['Must not lie before `since`.'];
  if (Object.keys(wrong).length > 0) throw invalidFields(wrong);
  return window;
}

const dayMs = 86_400_000;

/** A replay is asked for types that the endpoint receives. `kept`: what is left of them. */
export function checkReplayTypes(kept: readonly string[], { types }: Receiver): void {
  if (kept.length > 0) return;
  throw invalid('types', types.length === 0 ? 'The endpoint receives nothing.' : `The endpoint receives ${types.join(', ')}.`);
}

export function checkReplayed(events: number): void {
  if (events > mostReplayed)
    throw new Refusal(
      'request_refused',
      `There are more than ${mostReplayed} events in that time. Ask for a shorter one, or for fewer types.`,
    );
}
