import { createDealer, operatorContext } from '#modules/dealers/index.ts';
import { issueKey } from '#modules/keys/index.ts';
import { createUser } from '#modules/staff/index.ts';
import type { Context, Reader } from '#platform/context.ts';
import { readerOf } from '#platform/context.ts';
import { randomText } from '#platform/secrets.ts';
import type { Service } from '#platform/service.ts';

export interface Dealer {
  readonly id: string;
  readonly branchId: string;
  readonly ctx: Context;
  /** A secret key of all scopes, with the highest allowance there is. */
  readonly key: string;
}

/** Makes dealerships as the operator makes them, each with a member of staff and a key. */
export async function newDealers(service: Service, count: number): Promise<Dealer[]> {
  const dealers: Dealer[] = [];
  for (let n = 0; n < count; n++) dealers.push(await newDealer(service));
  return dealers;
}

/** For whom an answer to the dealer's key is written. */
export function readerBy({ ctx }: Dealer): Omit<Reader, 'now'> {
  const { now: _now, ...reader } = readerOf({ ...ctx, caller: { ...ctx.caller, kind: 'secret' } });
  return reader;
}

async function newDealer(service: Service): Promise<Dealer> {
  const code = `bench-${randomText(12).toLowerCase()}`;
  const { id, branches } = await createDealer(service, { name: 'Bench Motors', code, plan: 'PROFESSIONAL' });
  const ctx = await operatorContext(service, id);
  const owner = {
    email: `owner@${code}.example`,
    name: 'The Owner',
    role: 'ADMINISTRATOR',
    password: randomText(16),
    branches: 'all',
  } as const;
  const { id: ownerId } = await createUser(ctx, owner);
  const { key } = await issueKey(ctx, { name: 'Bench', ownerId, kind: 'secret', environment: 'live', rateLimit: 1_000_000 });
  return { id, branchId: branches[0]!.id, ctx, key };
}
