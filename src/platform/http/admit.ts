import { contains } from '../addresses.ts';
import type { Caller } from '../context.ts';
import type { Access } from '../contract.ts';
import type { Doors, Identity, Known } from '../doors.ts';
import { Refusal } from '../errors.ts';

/** Where a request comes from. `origin` is null without an Origin header. */
export interface Sender {
  readonly ip: string;
  readonly origin: string | null;
}

/** Lets a request in or refuses it, in the published order: key, limit, restrictions, plan, kind of key, scope, permission, sandbox. */
export function admit(identity: Identity, access: Access, sender: Sender, doors: Doors): Known {
  if (identity.refusal) throw identity.refusal;
  if (!identity.known) throw new Refusal('invalid_api_key');
  if (identity.allowance.exceeded) throw new Refusal('rate_limited', undefined, { retryAfterSeconds: identity.allowance.resetSeconds });
  const { known } = identity;
  checkRestrictions(known, sender);
  if (access.listedPages) checkPage(known, sender, doors);
  checkPlan(known);
  checkKind(known.caller, access);
  checkScope(known.caller, access, doors);
  if (access.liveOnly && known.dealer.isSandbox)
    throw new Refusal('not_available_in_sandbox', undefined, { required: { restriction: 'sandbox' } });
  return known;
}

function checkRestrictions({ caller, ips, origins }: Known, { ip, origin }: Sender): void {
  if (caller.kind === 'secret' && origin !== null)
    throw new Refusal('secret_key_in_browser', undefined, { required: { restriction: 'origin' } });
  if (caller.kind === 'secret' && ips.length > 0 && !contains(ips, ip)) {
    throw new Refusal('ip_not_allowed', undefined, { required: { restriction: 'ips' } });
  }
  if (caller.kind === 'publishable' && origin !== null && !allowsOrigin(origins, origin)) {
    throw new Refusal('origin_not_allowed', undefined, { required: { restriction: 'origins' } });
  }
}

function checkPage({ caller }: Known, { origin }: Sender, { pages }: Doors): void {
  if (caller.kind === 'oauth' && origin !== null && !allowsOrigin(pages, origin))
    throw new Refusal('origin_not_allowed', 'The operator has not listed the origin of this page.', {
      required: { restriction: 'origins' },
    });
}

function checkPlan({ caller, paid }: Known): void {
  if (caller.kind !== 'publishable' && !paid) throw new Refusal('plan_not_entitled', undefined, { required: { plan: 'STANDARD' } });
}

function checkKind({ kind }: Caller, { kinds }: Access): void {
  if (kinds.some((allowed) => allowed === kind)) return;
  const wanted = kinds.some((allowed) => allowed === 'secret') ? 'secret' : 'publishable';
  throw new Refusal(`${wanted}_key_required`, undefined, { required: { restriction: `${wanted}_key` } });
}

/** Any one of the operation's scopes is enough. */
export function checkScope(
  { scopes, granted }: Caller,
  { scopes: wanted }: Pick<Access, 'scopes'>,
  doors: Pick<Doors, 'permissionBehind'>,
): void {
  if (wanted.length === 0 || wanted.some((scope) => scopes.includes(scope))) return;
  const lost = wanted.find((scope) => granted.includes(scope));
  if (lost === undefined) throw new Refusal('insufficient_scope', undefined, { required: { scope: wanted[0]! } });
  throw new Refusal('scope_not_permitted_for_owner', undefined, {
    required: { scope: lost, permission: doors.permissionBehind(lost) ?? '' },
  });
}

/** Whether an origin is on a publishable key's list: exact, but for case and default ports. `null` never is. */
export function allowsOrigin(origins: readonly string[], origin: string): boolean {
  const asked = serialisedOrigin(origin);
  return asked !== null && origins.some((allowed) => serialisedOrigin(allowed) === asked);
}

function serialisedOrigin(origin: string): string | null {
  if (!/^https?:\/\/[^/\\?#@\s]+$/i.test(origin) || !URL.canParse(origin)) return null;
  return new URL(origin).origin;
}
