import type { AttemptRow } from '#modules/deliveries/index.ts';
import { attemptById, pageOfAttempts } from '#modules/deliveries/index.ts';
import { eventTypes, typesRead } from '#modules/events/index.ts';
import type { Context } from '#platform/context.ts';
import type { Page } from '#platform/contract.ts';
import { Refusal } from '#platform/errors.ts';
import type { DeliveryListQuery, EndpointListQuery, WebhookDelivery, WebhookEndpoint } from './contract.ts';
import type { ShownRow } from './queries.ts';
import { pageOfEndpoints, visibleEndpoint } from './queries.ts';
import { checkReads } from './subscription.ts';
import { toDelivery, toEndpoint } from './view.ts';

/** A page of the endpoints within the caller's reach. */
export const listEndpoints = (ctx: Context, query: EndpointListQuery): Promise<Page<WebhookEndpoint>> =>
  pageOfEndpoints(ctx, query, toEndpoint);

/** One endpoint, if it exists for this caller. */
export const getEndpoint = async (ctx: Context, id: string): Promise<WebhookEndpoint> => toEndpoint(await standing(ctx, id));

/** An endpoint as it stands, if it exists for this caller. */
export async function standing(ctx: Context, id: string): Promise<ShownRow> {
  const endpoint = await visibleEndpoint(ctx, id);
  if (!endpoint) throw new Refusal('not_found');
  return endpoint;
}

/** The same for one who may read all that it receives. */
export async function readable(ctx: Context, id: string): Promise<ShownRow> {
  const endpoint = await standing(ctx, id);
  checkReads(ctx.caller, endpoint);
  return endpoint;
}

/** A page of the attempts at an endpoint. What it received before may be more than it receives now, and more than the caller reads. */
export async function listDeliveries(ctx: Context, id: string, query: DeliveryListQuery): Promise<Page<WebhookDelivery>> {
  await readable(ctx, id);
  const types = typesRead(ctx.caller.scopes, query.type);
  return pageOfAttempts(ctx, id, { ...query, types: types.length === eventTypes.length ? null : types }, toDelivery);
}

/** One attempt. */
export async function getDelivery(ctx: Context, id: string, attemptId: string): Promise<WebhookDelivery> {
  await readable(ctx, id);
  return toDelivery(await readableAttempt(ctx, id, attemptId));
}

/** An attempt at an endpoint whose type the caller may read. */
export async function readableAttempt(ctx: Context, id: string, attemptId: string): Promise<AttemptRow> {
  const attempt = await attemptById(ctx, id, attemptId);
  if (!attempt || !typesRead(ctx.caller.scopes).includes(attempt.event_type)) throw new Refusal('not_found');
  return attempt;
}
