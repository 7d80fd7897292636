import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Claimed, Ended } from '#modules/deliveries/index.ts';
import { attemptId, claimDeliveries, nextAfter, settleDeliveries } from '#modules/deliveries/index.ts';
import { emit } from '#modules/events/index.ts';
import { sealSecret } from '#modules/webhooks/secret.ts';
import type { Context } from '#platform/context.ts';
import { eventType } from '#platform/contract.ts';
import { fromMillis } from '#platform/dates.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { uuidv7 } from '#platform/secrets.ts';
import type { Service } from '#platform/service.ts';
import type { Dealership } from './dealership.ts';

interface Fields {
  readonly url?: string;
  readonly description?: string;
  readonly events?: readonly string[];
  readonly readableTypes?: readonly string[];
  readonly branches?: 'all' | readonly string[];
  readonly enabled?: boolean;
  readonly callingDealerId?: string;
  readonly secret?: string;
}

/** An endpoint as its row, for what the API would not make or make slowly. Returns its id. */
export async function endpointRow({ service, id: dealerId }: Pick<Dealership, 'service' | 'id'>, fields: Fields = {}): Promise<string> {
  const {
    url = 'https://hooks.example:1/',
    events = ['*'],
    readableTypes = ['vehicle.created'],
    branches = 'all',
    enabled = true,
  } = fields;
  const id = randomUUID();
  await service.pools.doors.query(
    `insert into webhook_endpoint (dealer_id, id, calling_dealer_id, url, description, events, readable_types, all_branches, branch_ids, enabled,
       disabled_reason, disabled_at, created_by, secret_hint, secret_enc, created_at, updated_at)
     values ($1, $2, $3, $4, $12, $5, $6, $7, $8, $9, $10, case when $9 then null else now() end, '{}', 'hint', $11, now(), now())`,
    [
      ...[
        dealerId,
        id,
        fields.callingDealerId ?? dealerId,
        url,
        events,
        readableTypes,
        branches === 'all',
        branches === 'all' ? [] : branches,
      ],
      ...[enabled, enabled ? null : 'manual', sealSecret(service, dealerId, id, fields.secret ?? 'whsec_c2VjcmV0'), fields.description],
    ],
  );
  return id;
}

/** A type that tests may emit: it is read like the real one. */
export const typeNamed = (type: string) => eventType({ type, summary: type, object: z.object({ n: z.int() }), scopes: [] });

/** Lets something happen so often, in one transaction. */
export const happen = (ctx: Context, times = 1, type = 'vehicle.created', branchId: string | null = null): Promise<void> =>
  inTransaction(ctx, async (tx) => {
    for (let n = 0; n < times; n++) emit(tx, typeNamed(type), { n }, { resourceId: uuidv7(tx.now), branchId });
  });

/** What waits or is under way at endpoints, in the order in which it fell due. */
export async function deliveriesAt({ pools }: Service, endpointIds: readonly string[]) {
  const { rows } = await pools.doors.query('select * from delivery where endpoint_id = any($1) order by next_at, event_at, id', [
    endpointIds,
  ]);
  return rows as { id: string; endpoint_id: string; event_id: string; manual: boolean; state: string; attempt: number; next_at: string }[];
}

/** Takes what a courier would take, and says what it takes. */
export const claimAs = async (
  service: Service,
  ownerId: string,
  ask: Partial<Parameters<typeof claimDeliveries>[1]> = {},
): Promise<readonly Claimed[]> =>
  (await claimDeliveries(service, { ownerId, places: 100, troubledPlaces: 100, slow: [], ended: [], from: null, retries: true, ...ask }))
    .taken;

/** What a courier writes of an attempt that it made. */
export function ended(service: Service, delivery: Claimed, success: boolean, fields: Partial<Ended> = {}): Ended {
  const attempted_at = service.clock() ?? fromMillis(Date.now());
  const { dealer_id, id, manual, endpoint_id, event_id, event_at, type, attempt, lease_until } = delivery;
  return {
    attempt_id: attemptId(attempted_at),
    ...{ dealer_id, id, manual, endpoint_id, event_id, event_at, event_type: type, attempt, lease_until, attempted_at },
    ended_ms_ago: 0,
    success,
    response_status: success ? 200 : 500,
    request_headers: {},
    request_body: '{}',
    response_body: null,
    error: success ? null : 'status',
    duration_ms: 1,
    delay_seconds: nextAfter(delivery, success),
    ...fields,
  };
}

/** Settles them all alike. */
export const settleAs = (service: Service, ownerId: string, deliveries: readonly Claimed[], success: boolean) =>
  settleDeliveries(
    service,
    ownerId,
    deliveries.map((delivery) => ended(service, delivery, success)),
  );
