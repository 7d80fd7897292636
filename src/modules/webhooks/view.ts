import type { AttemptRow } from '#modules/deliveries/index.ts';
import { eventId } from '#modules/events/contract.ts';
import type { Instant } from '#platform/dates.ts';
import { toDateTime } from '#platform/dates.ts';
import type { WebhookDelivery, WebhookEndpoint } from './contract.ts';
import type { ShownRow } from './queries.ts';

/** An endpoint as the API shows it: without its secrets. */
export const toEndpoint = (row: ShownRow): WebhookEndpoint => ({
  id: row.id,
  url: row.url,
  description: row.description,
  events: row.events,
  status: row.enabled ? 'active' : 'disabled',
  enabled: row.enabled,
  disabled_reason: row.disabled_reason,
  disabled_at: shown(row.disabled_at),
  failing_since: shown(row.failing_since),
  last_success_at: shown(row.last_success_at),
  last_attempt_at: shown(row.last_attempt_at),
  all_branches: row.all_branches,
  branch_ids: row.branch_ids,
  created_by: row.created_by,
  secret_hint: row.secret_hint,
  created_at: toDateTime(row.created_at),
  updated_at: toDateTime(row.updated_at),
});

/** One attempt. */
export const toDelivery = (row: AttemptRow): WebhookDelivery => ({
  id: row.id,
  delivery_id: row.delivery_id,
  event_id: eventId(row.event_id),
  event_type: row.event_type,
  attempt: row.attempt,
  manual: row.manual,
  success: row.success,
  response_status: row.response_status,
  request_headers: row.request_headers,
  request_body: row.request_body,
  response_body: row.response_body,
  error: row.error,
  duration_ms: row.duration_ms,
  attempted_at: toDateTime(row.attempted_at),
  next_attempt_at: shown(row.next_attempt_at),
  updated_at: toDateTime(row.updated_at),
});

const shown = (at: Instant | null): string | null => at && toDateTime(at);
