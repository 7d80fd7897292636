import { recordActivity } from '#modules/activity/index.ts';
import { cancelDeliveries, cancelOtherTypes, forgetFailures } from '#modules/deliveries/index.ts';
import { ping } from '#modules/events/contract.ts';
import type { Caller, Context } from '#platform/context.ts';
import type { Tombstone } from '#platform/contract.ts';
import { fromMillis, toMillis } from '#platform/dates.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { Refusal } from '#platform/errors.ts';
import { toTombstone } from '#platform/records.ts';
import { uuidv7 } from '#platform/secrets.ts';
import { checkAddress } from './address.ts';
import { changedFields, saved, written } from './changes.ts';
import type {
  Creator,
  DisabledReason,
  EndpointChanges,
  NewEndpoint,
  SecretRoll,
  WebhookEndpoint,
  WebhookEndpointWithSecret,
} from './contract.ts';
import type { EndpointRow } from './queries.ts';
import * as rows from './queries.ts';
import { readable, standing } from './reads.ts';
import { checkPaid, checkRoom, checkUnended } from './rules.ts';
import { hintOf, newSecret, sealSecret } from './secret.ts';
import { receivedBy, subscriptionOf } from './subscription.ts';
import { toEndpoint } from './view.ts';

/** What is asked before an endpoint is made, with no transaction open. */
export async function vetNewEndpoint(ctx: Context, { url, events }: NewEndpoint): Promise<void> {
  subscriptionOf(ctx.caller, events);
  await checkAddress(ctx, url);
}

/** Makes an endpoint that receives what the caller may read. Its secret is shown here and never again. */
export const createEndpoint = (ctx: Context, body: NewEndpoint): Promise<WebhookEndpointWithSecret> =>
  inTransaction(ctx, async (tx) => {
    const subscription = subscriptionOf(tx.caller, body.events);
    // Asked again: the plan may have fallen since the request came in.
    checkPaid(await rows.callingPlan(tx));
    await checkConnected(tx);
    checkRoom(await rows.countEndpoints(tx));
    const { id: dealerId } = tx.dealer;
    const { enabled = true } = body;
    const id = uuidv7(tx.now);
    const secret = newSecret();
    const row: EndpointRow = {
      dealer_id: dealerId,
      id,
      calling_dealer_id: tx.caller.callingDealerId,
      url: body.url,
      description: body.description ?? null,
      ...subscription,
      enabled,
      disabled_reason: enabled ? null : 'manual',
      disabled_at: enabled ? null : tx.now,
      created_by: creatorOf(tx.caller),
      secret_hint: hintOf(secret),
      secret_enc: sealSecret(tx.service, dealerId, id, secret),
      old_secret_enc: null,
      old_secret_until: null,
      created_at: tx.now,
      updated_at: tx.now,
    };
    await rows.insertEndpoint(tx, row);
    recordActivity(tx, 'created', record, id, []);
    return { ...toEndpoint({ ...row, failing_since: null, last_success_at: null, last_attempt_at: null }), secret };
  });

/** What is asked before an endpoint changes, with no transaction open. */
export async function vetChanges(ctx: Context, id: string, changes: EndpointChanges): Promise<void> {
  checkSubscription(ctx, changes);
  const { url } = await changeable(ctx, id, changes);
  if (changes.url !== undefined && changes.url !== url) await checkAddress(ctx, changes.url);
}

/** The one way an endpoint's own fields change. */
export const updateEndpoint = (ctx: Context, id: string, changes: EndpointChanges): Promise<WebhookEndpoint> =>
  inTransaction(ctx, async (tx) => {
    const subscription = checkSubscription(tx, changes);
    const before = await changeable(tx, id, changes);
    const after = written(before, changes, subscription, tx.now);
    if (after.enabled) checkUnended(before);
    const changed = changedFields(before, after);
    if (changed.length === 0) return toEndpoint(before);
    await rows.saveEndpoint(tx, id, saved(after));
    if (after.enabled && !before.enabled) checkPaid(await rows.callingPlan(tx));
    await checkConnected(tx);
    // What was meant for another address does not follow to this one, nor goes out what it no longer asks for.
    if (after.url !== before.url || (before.enabled && !after.enabled)) await cancelDeliveries(tx, [id]);
    else if (subscription) await cancelOtherTypes(tx, id, [...receivedBy(after).map(({ type }) => type), ping.type]);
    // What failed at another address, or before it was mended, says nothing of what comes.
    if (after.url !== before.url || (after.enabled && !before.enabled)) await forgetFailures(tx, [id]);
    recordActivity(tx, 'updated', record, id, changed);
    return toEndpoint({ ...after, updated_at: tx.now });
  });

/** Ends an endpoint, and what is still to be delivered to it. */
export const deleteEndpoint = (ctx: Context, id: string): Promise<Tombstone> =>
  inTransaction(ctx, async (tx) => {
    await standing(tx, id);
    await cancelDeliveries(tx, [id]);
    await forgetFailures(tx, [id]);
    await rows.deleteEndpoint(tx, id);
    recordActivity(tx, 'deleted', record, id, []);
    return toTombstone({ id, deleted_at: tx.now, updated_at: tx.now });
  });

/** Replaces the secret of an endpoint; for a while deliveries are signed with the one before too. */
export const rollSecret = (ctx: Context, id: string, asked: SecretRoll): Promise<WebhookEndpointWithSecret> =>
  inTransaction(ctx, async (tx) => {
    const before = await readable(tx, id);
    const hours = asked?.keep_previous_for_hours ?? usualOverlapHours;
    const secret = newSecret();
    const replaced = {
      secret_hint: hintOf(secret),
      secret_enc: sealSecret(tx.service, tx.dealer.id, id, secret),
      old_secret_enc: hours > 0 ? before.secret_enc : null,
      old_secret_until: hours > 0 ? fromMillis(toMillis(tx.now) + hours * 3_600_000) : null,
    };
    await rows.saveEndpoint(tx, id, replaced);
    recordActivity(tx, 'updated', record, id, ['secret']);
    return { ...toEndpoint({ ...before, ...replaced, updated_at: tx.now }), secret };
  });

/** Disables endpoints, and cancels what is still to be delivered to them. Inside a transaction. */
export async function disableEndpoints(tx: Context, ids: readonly string[], reason: Exclude<DisabledReason, 'manual'>): Promise<void> {
  if (ids.length === 0) return;
  const disabled = await rows.disableAll(tx, ids, reason);
  await cancelDeliveries(tx, disabled);
  for (const id of disabled) recordActivity(tx, 'updated', record, id, ability);
}

/** Lets the endpoints of the calling dealership follow its plan: on the free one they are disabled, on a paid one they are as before. Inside a transaction. */
export async function followPlan(tx: Context, paid: boolean): Promise<void> {
  if (!paid) return disableEndpoints(tx, await rows.idsOf(tx, 'enabled'), 'plan');
  const silenced = await rows.idsOf(tx, 'plan');
  if (silenced.length === 0) return;
  await rows.enableAll(tx, silenced);
  await forgetFailures(tx, silenced);
  for (const id of silenced) recordActivity(tx, 'updated', record, id, ability);
}

/** Disables what an app made with an authorisation that is over, for good: neither a paid plan nor anybody brings it back. Inside a transaction. */
export const disableEndpointsOfApp = async (tx: Context, authorisationId: string): Promise<void> =>
  disableEndpoints(tx, await rows.idsMadeWith(tx, authorisationId), 'app_revoked');

const record = 'webhook_endpoint';

/** What an app makes or changes while its authorisation ends would be left over when its endpoints have been disabled. */
async function checkConnected(tx: Context): Promise<void> {
  const { kind, id } = tx.caller;
  if (kind === 'oauth' && id !== null && (await rows.isOver(tx, id))) throw new Refusal('api_key_revoked');
}

/** What a change makes of the subscription; null when it leaves it. */
const checkSubscription = ({ caller }: Context, { events }: EndpointChanges) => (events ? subscriptionOf(caller, events) : null);

const ability = ['enabled', 'disabled_reason', 'disabled_at'];
const usualOverlapHours = 24;

/** An endpoint this caller may change so: what decides about what is sent, and where to, takes one who may read all of it. */
const changeable = (ctx: Context, id: string, { description: _theirs, ...deciding }: EndpointChanges) =>
  Object.keys(deciding).length > 0 ? readable(ctx, id) : standing(ctx, id);

const creatorOf = ({ kind, id, name }: Caller): Creator => ({ kind: creators[kind], id, name });

const creators = { secret: 'key', publishable: 'key', oauth: 'oauth_app', user: 'user', system: 'user' } as const;
