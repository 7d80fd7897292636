import { z } from 'zod';
import { byEvent, eventEntry } from '#modules/events/contract.ts';
import { anyOf, branchListQuery, byId, flag, id, listQuery, operation, privateKeys, tombstone } from '#platform/contract.ts';
import {
  endpointChanges,
  newEndpoint,
  replayAsked,
  resendAsked,
  secretRoll,
  webhookDelivery,
  webhookEndpoint,
  webhookEndpointWithSecret,
  webhookReplay,
  webhookResend,
} from './shapes.ts';

export * from './shapes.ts';

const tag = 'Webhooks';
const access = { scopes: ['webhooks:manage'], kinds: privateKeys } as const;
const silent = 'What is set up here has no events of its own.';
const sendsAgain = 'Only events that happened before are sent again.';
const takesTheirScopes = 'takes the read scope of every type the endpoint receives.';

// ---- Endpoints ----

export const endpointListQuery = branchListQuery({
  enabled: flag.optional().describe('Only endpoints that are, or are not, enabled.'),
});
export type EndpointListQuery = z.output<typeof endpointListQuery>;

export const listWebhookEndpoints = operation({
  id: 'webhook_endpoints.list',
  method: 'GET',
  path: '/v1/webhook-endpoints',
  tag,
  summary: 'List webhook endpoints',
  description:
    'In the order of `updated_at`. A branch-restricted key sees those that receive nothing of other branches; an OAuth token, here and everywhere, those that were made with its authorisation.',
  access,
  query: endpointListQuery,
  success: { status: 200, data: webhookEndpoint, shape: 'page' },
  refusals: ['validation_failed'],
});

export const createWebhookEndpoint = operation({
  id: 'webhook_endpoints.create',
  method: 'POST',
  path: '/v1/webhook-endpoints',
  tag,
  summary: 'Create a webhook endpoint',
  description:
    'At most 20 per dealership. The answer shows the signing secret, once. The endpoint receives what this key may read now, of the branches it reaches now; that stays when the key is rolled, expires or is revoked. What an app makes with an OAuth token belongs to its authorisation: it is disabled for good, as `app_revoked`, when that is revoked or left unused for 90 days.',
  access,
  body: newEndpoint,
  success: { status: 201, data: webhookEndpointWithSecret, location: '/v1/webhook-endpoints/{id}' },
  refusals: ['insufficient_scope', 'scope_not_permitted_for_owner', 'webhook_endpoint_limit_reached', 'validation_failed'],
  silent,
  example: {
    body: {
      url: 'https://hooks.dealer.example/forecourt',
      description: 'Keeps the website up to date',
      events: ['vehicle.*', 'enquiry.created'],
    },
  },
});

export const getWebhookEndpoint = operation({
  id: 'webhook_endpoints.get',
  method: 'GET',
  path: '/v1/webhook-endpoints/{id}',
  tag,
  summary: 'Read a webhook endpoint',
  access,
  params: byId,
  success: { status: 200, data: webhookEndpoint },
  refusals: ['not_found'],
});

export const updateWebhookEndpoint = operation({
  id: 'webhook_endpoints.update',
  method: 'PATCH',
  path: '/v1/webhook-endpoints/{id}',
  tag,
  summary: 'Change, disable or enable a webhook endpoint',
  description: `A merge patch: an absent field is left, null clears it. \`{"enabled": true}\` enables it again; what it missed is not sent by itself, but by a replay; one that ended with its app (\`app_revoked\`) stays disabled. Disabling, and another \`url\`, cancel what is still to be delivered; so does a choice of \`events\` that leaves its type out. Writing \`events\` makes it receive what this key may read, of the branches it reaches. A change of \`url\`, \`events\`, \`enabled\` or \`status\` ${takesTheirScopes}`,
  access,
  params: byId,
  body: endpointChanges,
  success: { status: 200, data: webhookEndpoint },
  refusals: ['not_found', 'insufficient_scope', 'scope_not_permitted_for_owner', 'request_refused', 'validation_failed'],
  silent,
  example: { body: { description: 'Website and stock screens', enabled: true } },
});

export const deleteWebhookEndpoint = operation({
  id: 'webhook_endpoints.delete',
  method: 'DELETE',
  path: '/v1/webhook-endpoints/{id}',
  tag,
  summary: 'Delete a webhook endpoint',
  description: 'What is still to be delivered to it is cancelled.',
  access,
  params: byId,
  success: { status: 200, data: tombstone },
  refusals: ['not_found'],
  silent,
});

export const rollWebhookSecret = operation({
  id: 'webhook_endpoints.roll_secret',
  method: 'POST',
  path: '/v1/webhook-endpoints/{id}/roll-secret',
  tag,
  summary: 'Replace the signing secret of a webhook endpoint',
  description: `The answer shows the new secret, once. Deliveries are signed with both, in two \`v1\` values, for 24 hours or as long as the body says. It ${takesTheirScopes}`,
  access,
  params: byId,
  body: secretRoll,
  success: { status: 200, data: webhookEndpointWithSecret },
  refusals: ['not_found', 'insufficient_scope', 'scope_not_permitted_for_owner', 'validation_failed'],
  silent,
  example: { body: { keep_previous_for_hours: 24 } },
});

export const testWebhookEndpoint = operation({
  id: 'webhook_endpoints.test',
  method: 'POST',
  path: '/v1/webhook-endpoints/{id}/test',
  tag,
  summary: 'Send a ping to a webhook endpoint',
  description:
    'Sends one `ping` event now, whatever the endpoint subscribes to and though it be disabled, and answers with what came of it. It is not tried again, and does not count towards disabling.',
  access,
  params: byId,
  success: { status: 200, data: webhookDelivery },
  refusals: ['not_found'],
  emits: ['ping'],
});

export const replayEvents = operation({
  id: 'webhook_endpoints.replay',
  method: 'POST',
  path: '/v1/webhook-endpoints/{id}/replay',
  tag,
  summary: 'Send the events of a time again',
  description: `The events of a time within the last 30 days that the endpoint would receive today, at most 100,000 a call, delivered and retried like new ones. It ${takesTheirScopes}`,
  access,
  params: byId,
  body: replayAsked,
  success: { status: 202, data: webhookReplay },
  refusals: ['not_found', 'insufficient_scope', 'scope_not_permitted_for_owner', 'request_refused', 'validation_failed'],
  silent: sendsAgain,
  example: { body: { since: '2026-01-30T00:00:00Z', types: ['enquiry.created'], only_failed: true } },
});

// ---- Deliveries ----

export const deliveryListQuery = listQuery({
  success: flag.optional().describe('Only attempts that succeeded, or that failed.'),
  type: anyOf(eventEntry).optional().describe('Types, families such as `vehicle.*`, or `*`; comma-separated.'),
  event_id: anyOf(byEvent.shape.id).optional(),
  delivery_id: anyOf(id).optional(),
});
export type DeliveryListQuery = z.output<typeof deliveryListQuery>;

const ofEndpoint = z.strictObject({ id, attempt_id: id });

export const listWebhookDeliveries = operation({
  id: 'webhook_deliveries.list',
  method: 'GET',
  path: '/v1/webhook-endpoints/{id}/deliveries',
  tag,
  summary: 'List the attempts to deliver to a webhook endpoint',
  description: `Those of the last 30 days, one per attempt, in the order of \`updated_at\`; \`created_since\` and \`created_before\` mean \`attempted_at\`. It ${takesTheirScopes}`,
  access,
  params: byId,
  query: deliveryListQuery,
  success: { status: 200, data: webhookDelivery, shape: 'page' },
  refusals: ['not_found', 'insufficient_scope', 'scope_not_permitted_for_owner', 'validation_failed'],
});

export const getWebhookDelivery = operation({
  id: 'webhook_deliveries.get',
  method: 'GET',
  path: '/v1/webhook-endpoints/{id}/deliveries/{attempt_id}',
  tag,
  summary: 'Read an attempt to deliver',
  access,
  params: ofEndpoint,
  success: { status: 200, data: webhookDelivery },
  refusals: ['not_found', 'insufficient_scope', 'scope_not_permitted_for_owner'],
});

export const resendWebhookDelivery = operation({
  id: 'webhook_deliveries.resend',
  method: 'POST',
  path: '/v1/webhook-endpoints/{id}/deliveries/{attempt_id}/resend',
  tag,
  summary: 'Send the event of an attempt again',
  description: `Once, beside the retries that are still to come; a failure does not count towards disabling. It ${takesTheirScopes}`,
  access,
  params: ofEndpoint,
  success: { status: 202, data: webhookResend },
  refusals: ['not_found', 'insufficient_scope', 'scope_not_permitted_for_owner', 'request_refused'],
  silent: sendsAgain,
});

export const resendEvent = operation({
  id: 'events.resend',
  method: 'POST',
  path: '/v1/events/{id}/resend',
  tag: 'Events',
  summary: 'Send an event to a webhook endpoint again',
  description: `Whether it was delivered before or not; once, and not tried again. It ${takesTheirScopes}`,
  access,
  params: byEvent,
  body: resendAsked,
  success: { status: 202, data: webhookResend },
  refusals: ['not_found', 'insufficient_scope', 'scope_not_permitted_for_owner', 'request_refused', 'validation_failed'],
  silent: sendsAgain,
  example: { body: { webhook_endpoint_id: '{/v1/webhook-endpoints}' } },
});

export const webhookOperations = [
  listWebhookEndpoints,
  createWebhookEndpoint,
  getWebhookEndpoint,
  updateWebhookEndpoint,
  deleteWebhookEndpoint,
  rollWebhookSecret,
  testWebhookEndpoint,
  replayEvents,
  listWebhookDeliveries,
  getWebhookDelivery,
  resendWebhookDelivery,
  resendEvent,
];
