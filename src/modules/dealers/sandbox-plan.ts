import { z } from 'zod';
import { followPlan } from '#modules/webhooks/index.ts';
import type { Context } from '#platform/context.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { job } from '#platform/jobs/job.ts';
import { operatorOf } from './operator.ts';
import { findDealer, ownDealer } from './queries.ts';
import { isPaid } from './rules.ts';

/** Asked for when a dealership comes to a paid plan, or leaves it. */
export const followPlanInSandbox = job('dealers.follow_plan_in_sandbox', z.object({}));

/** Lets what a dealership has in the sandbox follow its plan, as that is when the sandbox's turn is had. */
export async function followInSandbox({ service, dealer }: Context): Promise<void> {
  const sandbox = await findDealer(service, 'sandbox');
  if (!sandbox) return;
  const operator = operatorOf(service, sandbox.dealer, sandbox.now);
  const caller = { ...operator.caller, callingDealerId: dealer.id };
  await inTransaction({ ...operator, caller }, async (tx) => followPlan(tx, isPaid((await ownDealer(tx)).calling_plan)));
}
