import { z } from 'zod';
import { dateTime, id, moment, text, webAddress, whole } from '#platform/contract.ts';

/** How many endpoints a dealership may have; those that are disabled count. */
export const mostEndpoints = 20;

/** How long events, and the log of their deliveries, are kept. */
export const keptDays = 30;

/** How many events one replay may cover. */
export const mostReplayed = 100_000;

export const disabledReasons = ['delivery_failures', 'manual', 'app_revoked', 'plan'] as const;
export type DisabledReason = (typeof disabledReasons)[number];

export const deliveryErrors = ['dns', 'connect', 'tls', 'timeout', 'blocked_address', 'redirect', 'status'] as const;

// ---- Requests ----

const url = webAddress
  .refine((href) => href.startsWith('https:'), { error: 'Events are delivered by https alone.' })
  .refine((href) => href.length <= 2048, { error: 'At most 2048 characters, with what must be escaped.' })
  .describe('An https address of at most 2048 characters, at public addresses alone; any port, no user information, no fragment.');

const description = text(255).nullable();

/** Event types as they are subscribed to or asked for. Which there are, and may be read, is a rule. */
const entries = z
  .array(text(100))
  .min(1, { error: 'At least one.' })
  .max(100, { error: 'At most 100.' })
  .describe('Each a type (`vehicle.created`), a family (`vehicle.*`), or `*` for every type the key may read.');

const enabled = z.boolean({ error: 'Either true or false.' }).describe('Whether events are sent.');

/** The body of a creation. */
export const newEndpoint = z.strictObject({ url, description, events: entries, enabled }).partial().required({ url: true, events: true });
export type NewEndpoint = z.output<typeof newEndpoint>;

/** The body of a change: any of the writable fields. */
export const endpointChanges = z
  .strictObject({
    url,
    description,
    events: entries,
    enabled,
    status: z.enum(['active', 'disabled'], { error: 'Either active or disabled.' }).describe('Another word for `enabled`.'),
  })
  .partial()
  .superRefine(({ enabled: yes, status }, ctx) => {
    if (yes === undefined || status === undefined || yes === (status === 'active')) return;
    ctx.addIssue({ code: 'custom', path: ['status'], message: 'Says something else than `enabled`.' });
  });
export type EndpointChanges = z.output<typeof endpointChanges>;

/** The body of a roll, which may be left out. */
export const secretRoll = z
  .strictObject({
    keep_previous_for_hours: whole(0, 72).describe('How long deliveries are signed with the previous secret too; 24 unless given.'),
  })
  .partial()
  .optional();
export type SecretRoll = z.output<typeof secretRoll>;

/** The body of a replay. */
export const replayAsked = z.strictObject({
  since: moment.describe(`From when on events are sent again: at most ${keptDays} days ago.`),
  until: moment.optional().describe('Until when, this moment included; until now unless given.'),
  types: entries.optional().describe('Only these types or families; all that the endpoint receives unless given.'),
  only_failed: z
    .boolean({ error: 'Either true or false.' })
    .default(true)
    .describe('Only events that never arrived at the endpoint, those among them that happened while it was disabled.'),
});
export type ReplayAsked = z.output<typeof replayAsked>;

/** The body of a request to send an event again. */
export const resendAsked = z.strictObject({ webhook_endpoint_id: id });

// ---- Responses ----

const uuid = z.string().meta({ format: 'uuid' });

export const webhookEndpoint = z
  .object({
    id: uuid,
    url: z.string(),
    description: z.string().nullable(),
    events: z.array(z.string()),
    status: z.enum(['active', 'disabled']),
    enabled: z.boolean(),
    disabled_reason: z
      .enum(disabledReasons)
      .nullable()
      .describe('`plan`: active again by itself on a paid plan. `delivery_failures`: nothing was delivered for three days.'),
    disabled_at: dateTime.nullable(),
    failing_since: dateTime.nullable().describe('Since when no delivery succeeded; null when the last one did.'),
    last_success_at: dateTime.nullable(),
    last_attempt_at: dateTime.nullable(),
    all_branches: z.boolean(),
    branch_ids: z.array(uuid).describe('The branches whose events are sent: those of the key that created it or last wrote `events`.'),
    created_by: z.object({ kind: z.enum(['key', 'oauth_app', 'user']), id: uuid.nullable(), name: z.string() }),
    secret_hint: z.string().describe('The last four characters of the signing secret.'),
    created_at: dateTime,
    updated_at: dateTime,
  })
  .meta({ id: 'WebhookEndpoint' });
export type WebhookEndpoint = z.output<typeof webhookEndpoint>;

/** Who made an endpoint. */
export type Creator = WebhookEndpoint['created_by'];

export const webhookEndpointWithSecret = webhookEndpoint
  .extend({ secret: z.string().describe('The signing secret, `whsec_…`, shown here and never again.') })
  .meta({ id: 'WebhookEndpointWithSecret' });
export type WebhookEndpointWithSecret = z.output<typeof webhookEndpointWithSecret>;

export const webhookDelivery = z
  .object({
    id: uuid,
    delivery_id: uuid.describe('Joins the attempts of one event at one endpoint.'),
    event_id: z.string(),
    event_type: z.string(),
    attempt: z.int().describe('1 is the first.'),
    manual: z.boolean().describe('Whether it was asked for: by a test or a resend.'),
    success: z.boolean(),
    response_status: z.int().nullable(),
    request_headers: z.record(z.string(), z.string()),
    request_body: z.string(),
    response_body: z.string().nullable().describe('Its first 10 KiB.'),
    error: z.enum(deliveryErrors).nullable(),
    duration_ms: z.int(),
    attempted_at: dateTime,
    next_attempt_at: dateTime.nullable(),
    updated_at: dateTime,
  })
  .meta({ id: 'WebhookDelivery', description: 'One attempt to deliver an event.' });
export type WebhookDelivery = z.output<typeof webhookDelivery>;

/** What a resend was accepted as. */
export const webhookResend = z
  .object({ webhook_endpoint_id: uuid, event_id: z.string(), delivery_id: uuid.describe('Its attempts have it as `delivery_id`.') })
  .meta({ id: 'WebhookResend' });
export type WebhookResend = z.output<typeof webhookResend>;

export const webhookReplay = z.object({ queued: z.int().describe('How many events are sent again.') }).meta({ id: 'WebhookReplay' });
export type WebhookReplay = z.output<typeof webhookReplay>;
