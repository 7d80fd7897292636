import { z } from 'zod';
import { recordActivity } from '#modules/activity/index.ts';
import { operatorContext } from '#modules/dealers/index.ts';
import type { KnownScope } from '#modules/staff/contract.ts';
import { disableEndpointsOfApp } from '#modules/webhooks/index.ts';
import type { Context } from '#platform/context.ts';
import type { Instant } from '#platform/dates.ts';
import { inTransaction, openAhead } from '#platform/db/transaction.ts';
import { Refusal } from '#platform/errors.ts';
import { enqueue, job } from '#platform/jobs/job.ts';
import type { Service } from '#platform/service.ts';
import type { End, Ending } from './queries.ts';
import { authorisationById, connections, endAuthorisation, overdue, standingOf } from './queries.ts';

/** What a dealership is connected to: who approved it, and what it may do. */
export interface ConnectedApp {
  readonly id: string;
  readonly app: { readonly name: string; readonly website: string };
  readonly scopes: readonly KnownScope[];
  readonly approvedBy: { readonly id: string; readonly name: string };
  readonly approvedAt: Instant;
  readonly lastUsedAt: Instant | null;
}

/** The apps a dealership is connected to, each with what it was authorised to. */
export async function connectedApps(ctx: Context): Promise<ConnectedApp[]> {
  return (await connections(ctx)).map((row) => ({
    id: row.id,
    app: { name: row.name, website: row.website_url },
    scopes: row.scopes as KnownScope[],
    approvedBy: { id: row.staff_id, name: row.staff_name },
    approvedAt: row.approved_at,
    lastUsedAt: row.last_used_at,
  }));
}

/** Ends what an app was authorised to; administrators do. It counts for the next request of the app. */
export async function disconnectApp(ctx: Context, id: string): Promise<void> {
  const { kind, id: callerId } = ctx.caller;
  const standing = callerId === null ? undefined : await standingOf(ctx, callerId);
  if (kind !== 'system' && standing?.role !== 'ADMINISTRATOR') throw new Refusal('request_refused', 'An administrator disconnects apps.');
  if (!(await authorisationById(ctx, id))) throw new Refusal('not_found');
  await endConnection(ctx, id, 'dealer');
}

/**
 * The one way an authorisation ends, with all its tokens at once, and soon after with the webhook endpoints the app made with it. Whoever
 * writes at the dealership, or waits to, holds up no revocation.
 */
export const endConnection = (ctx: Context, id: string, by: End): Promise<void> =>
  openAhead(ctx, async (tx) => {
    if (!(await endAuthorisation(tx, id, by))) return;
    recordActivity(tx, 'updated', 'oauth_authorisation', id, ['revoked_at']);
    await enqueue(tx, silenceApp, { authorisationId: id });
  });

/** Ends many, at any dealers. One that cannot be ended now keeps none of the others; it is found again by whoever asks again. */
export async function endConnections(service: Service, endings: readonly Ending[]): Promise<void> {
  const faults: unknown[] = [];
  for (const { dealer_id: dealerId, id, by } of endings)
    try {
      await endConnection(await operatorContext(service, dealerId), id, by);
    } catch (error) {
      faults.push(error);
    }
  if (faults.length > 0)
    throw new AggregateError(faults, `${faults.length} of ${endings.length} authorisations are not ended yet: ${faults[0]}`);
}

/** Ends what was left unused until its last refresh token expired, and what an end of its app has not reached. */
export const endOverdue = async (service: Service): Promise<void> => endConnections(service, await overdue(service));

/** Asked for when an authorisation is over. */
export const silenceApp = job('oauth.silence_app', z.object({ authorisationId: z.guid() }));

/** Nothing is delivered any more to where the app wanted it. */
export const silence = (ctx: Context, authorisationId: string): Promise<void> =>
  inTransaction(ctx, (tx) => disableEndpointsOfApp(tx, authorisationId));
