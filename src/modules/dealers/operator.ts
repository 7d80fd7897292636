import { permissionCodes, scopeNames } from '#modules/staff/contract.ts';
import type { Caller, Context, Dealer } from '#platform/context.ts';
import type { Instant } from '#platform/dates.ts';
import { readsOf } from '#platform/db/queries.ts';
import { Refusal } from '#platform/errors.ts';
import type { Service } from '#platform/service.ts';
import { findDealer } from './queries.ts';

/** The operator acting for a dealership, bound by no key: what the operator's tool and the product's own work use. */
export async function operatorContext(service: Service, dealerId: string): Promise<Context> {
  const { now, ...dealer } = await dealerById(service, dealerId);
  return operatorOf(service, dealer, now);
}

/** A dealership as it is now, and the time. */
export async function dealerById(service: Service, id: string): Promise<Dealer & { now: Instant }> {
  const found = await findDealer(service, { id });
  if (!found) throw new Refusal('not_found', 'There is no such dealership.');
  return { ...found.dealer, now: found.now };
}

export const operatorOf = (service: Service, dealer: Dealer, now: Instant): Context => ({
  dealer,
  caller: { ...operator, callingDealerId: dealer.id },
  db: readsOf(service.pools.work, dealer.id),
  now,
  requestId: null,
  service,
});

const operator: Omit<Caller, 'callingDealerId'> = {
  kind: 'system',
  id: null,
  name: 'Forecourt',
  granted: scopeNames,
  scopes: scopeNames,
  permissions: permissionCodes,
  branches: 'all',
  owner: null,
  key: null,
};
