import { scopeCatalogue } from '#modules/staff/contract.ts';
import type { Operation } from '#platform/contract.ts';
import type { Code } from '#platform/errors.ts';
import { catalogue } from '#platform/errors.ts';

/** Every code an operation can answer, by status: those it declares, and those any request can meet on its way to it. */
export function refusalsOf(operation: Operation): Map<number, Code[]> {
  const met = new Set<Code>([...everyRequest, ...onTheWay(operation), ...operation.refusals]);
  const byStatus = new Map<number, Code[]>();
  for (const code of codes)
    if (met.has(code)) byStatus.set(catalogue[code].status, [...(byStatus.get(catalogue[code].status) ?? []), code]);
  return new Map([...byStatus].sort(([a], [b]) => a - b));
}

/** The codes of the catalogue, in its order. */
export const codes = Object.keys(catalogue) as Code[];

/** What a request can meet wherever it goes; the two that no operation answers are `bad_request` and `method_not_allowed`. */
export const everyRequest: readonly Code[] = [
  ...['missing_api_key', 'invalid_api_key', 'api_key_revoked', 'api_key_expired', 'key_owner_inactive', 'sandbox_unavailable'],
  ...['plan_not_entitled', 'secret_key_in_browser', 'origin_not_allowed', 'ip_not_allowed'],
  ...['validation_failed', 'rate_limited', 'internal_error', 'service_unavailable'],
] as Code[];

function* onTheWay({ access, method, params, body }: Operation): Iterable<Code> {
  const { scopes, kinds, liveOnly } = access;
  if (!kinds.includes('publishable') || !kinds.includes('oauth'))
    yield kinds.includes('secret') ? 'secret_key_required' : 'publishable_key_required';
  if (scopes.length > 0) yield 'insufficient_scope';
  if (scopes.some((scope) => permissionBehind(scope) !== null)) yield 'scope_not_permitted_for_owner';
  if (liveOnly) yield 'not_available_in_sandbox';
  if (params.type !== 'undefined') yield 'not_found';
  if (body.type !== 'undefined') yield 'body_too_large';
  if (method === 'POST') yield* ['idempotency_key_reused', 'idempotency_key_in_use'] as const;
}

const permissionBehind = (scope: string): string | null => scopeCatalogue[scope as keyof typeof scopeCatalogue]?.permission ?? null;
