import assert from 'node:assert/strict';
import { test } from 'node:test';
import { catalogue } from '#platform/errors.ts';
import type { Exchange } from '../../support/traffic.ts';
import { contractOf } from '../documents.ts';
import { exchanges } from './recorded.ts';

/** The codes of the specification's table, "Errors", "Codes". */
const specified: Record<number, string> = {
  401: 'missing_api_key invalid_api_key api_key_revoked api_key_expired key_owner_inactive sandbox_unavailable',
  403: `insufficient_scope scope_not_permitted_for_owner plan_not_entitled secret_key_required publishable_key_required
    secret_key_in_browser origin_not_allowed ip_not_allowed branch_move_not_permitted plan_stock_cap_reached
    sandbox_stock_cap_reached not_available_in_sandbox theme_builder_not_enabled`,
  404: 'not_found valuation_requests_unavailable',
  409: `idempotency_key_reused idempotency_key_in_use external_id_taken stock_busy vehicle_in_deal vehicle_has_purchase_order
    customer_has_enquiries enquiry_has_invoiced_order enquiry_has_part_exchange deal_closed deal_sold deal_has_no_enquiry
    deal_has_no_vehicle job_card_paid`,
  422: `validation_failed body_not_received webhook_endpoint_limit_reached vehicle_not_created request_refused theme_publish_blocked`,
  429: 'rate_limited theme_generation_quota_exceeded',
};

/** What a code waits for, and the beginning of its paths. Once one is there, a test reaches the code and its line goes. */
const waiting: Record<string, readonly [feature: string, path: string]> = {
  publishable_key_required: ['enquiries from websites', '/v1/public/enquiries'],
  valuation_requests_unavailable: ['valuation requests from websites', '/v1/public/valuation-requests'],
  theme_builder_not_enabled: ['website themes', '/v1/theme-generations'],
  theme_generation_quota_exceeded: ['website themes', '/v1/theme-generations'],
  theme_publish_blocked: ['website themes', '/v1/theme-versions'],
};

const codes = Object.entries(specified).flatMap(([status, names]) => names.split(/\s+/).map((code) => ({ code, status: Number(status) })));

test('the table is whole, and what waits stands in it', () => {
  assert.equal(codes.length, 43);
  assert.deepEqual(
    Object.keys(waiting).filter((name) => !codes.some(({ code }) => code === name)),
    [],
  );
});

test('every code of the specification is reached by a test, once its operation is there', (t) => {
  const { paths } = contractOf();
  const reached = new Set<string>();
  for (const { response } of exchanges()) for (const code of codesOf(response)) reached.add(code);

  const met = codes.filter(({ code, status }) => reached.has(`${status} ${code}`) || reached.has(`item ${code}`));
  const isThere = (path: string) => Object.keys(paths).some((known) => known.startsWith(path));
  const later = codes.filter((one) => !met.includes(one) && one.code in waiting && !isThere(waiting[one.code]![1]));
  t.diagnostic(`${met.length} of ${codes.length} codes are reached; ${later.length} wait:`);
  for (const { code } of later) t.diagnostic(`  ${code}: for ${waiting[code]![0]}`);
  assert.deepEqual(
    codes.filter((one) => !met.includes(one) && !later.includes(one)).map(({ code }) => code),
    [],
  );
  assert.deepEqual(
    met.filter(({ code }) => code in waiting).map(({ code }) => code),
    [],
    'these need not wait any more',
  );
});

/** The code of a refusal with its status, or those of the items a batch refused: the cap of the free plan is met there alone. */
function codesOf({ status, body }: Exchange['response']): string[] {
  if (status >= 400) return [`${status} ${JSON.parse(body).code}`];
  return body.includes('"failed"') ? [...body.matchAll(/"error":\{"code":"(\w+)"/g)].map(([, code]) => `item ${code}`) : [];
}

test('a code of the specification has its status', () => {
  const known: Record<string, { status: number }> = catalogue;
  assert.deepEqual(
    codes.filter(({ code, status }) => known[code] && known[code].status !== status),
    [],
  );
});
