import { recordActivity } from '#modules/activity/index.ts';
import { stampBranch } from '#modules/vehicles/index.ts';
import { followPlan } from '#modules/webhooks/index.ts';
import type { Context, Dealer } from '#platform/context.ts';
import { fromMillis } from '#platform/dates.ts';
import { inTransaction, openTransaction } from '#platform/db/transaction.ts';
import { invalid, Refusal } from '#platform/errors.ts';
import { checked } from '#platform/field-errors.ts';
import { enqueue } from '#platform/jobs/job.ts';
import { uuidv7 } from '#platform/secrets.ts';
import type { Service } from '#platform/service.ts';
import type { Branch, BranchChanges, DealerChanges, NewBranch, NewDealer } from './contract.ts';
import { branchChanges, dealerChanges, newBranch, newDealer } from './contract.ts';
import { operatorOf } from './operator.ts';
import * as rows from './queries.ts';
import { branchCode, changedFields, checkRoomForBranch, checkSettings, isPaid } from './rules.ts';
import { followPlanInSandbox } from './sandbox-plan.ts';
import { toBranch } from './view.ts';

/** What the operator is shown of a dealership. */
export interface DealerSummary {
  readonly id: string;
  readonly code: string;
  readonly branches: readonly { readonly id: string; readonly name: string }[];
}

/** Makes a dealership with its first branch. */
export const createDealer = (service: Service, input: NewDealer): Promise<DealerSummary> => makeDealer(service, input, false);

/** Makes the dealership that test keys reach; there is one. */
export const createSandbox = (service: Service, input: NewDealer): Promise<DealerSummary> => makeDealer(service, input, true);

/** Changes plan, features, and the sandbox's availability. It counts for the next request of every key. */
export const setDealer = (ctx: Context, input: DealerChanges): Promise<DealerSummary> =>
  inTransaction(ctx, async (tx) => {
    const changes = checked(dealerChanges, input);
    checkSettings(tx.dealer.isSandbox, changes);
    const before = rows.settingsOf(await rows.ownDealer(tx));
    const changed = changedFields(before, changes);
    if (changed.length > 0) {
      await rows.saveDealer(tx, changes);
      if (changes.plan !== undefined && isPaid(changes.plan) !== isPaid(before.plan)) await changeSides(tx, isPaid(changes.plan));
      recordActivity(tx, 'updated', 'dealer', tx.dealer.id, changed);
    }
    return summary(tx);
  });

/** Opens a branch, as far as the plan has room for it. */
export const createBranch = (ctx: Context, input: NewBranch): Promise<Branch> =>
  inTransaction(ctx, async (tx) => {
    const branch = checked(newBranch, input);
    const codes = await rows.branchCodes(tx);
    checkRoomForBranch({ plan: (await rows.ownDealer(tx)).plan, isSandbox: tx.dealer.isSandbox }, codes.length);
    const id = await addBranch(tx, branch, { code: branchCode(branch.name, codes), isDefault: codes.length === 0 });
    return toBranch(await standing(tx, id));
  });

/** Changes a branch. Showing or hiding it stamps its vehicles, which come to or leave the website with it. */
export const changeBranch = (ctx: Context, id: string, input: BranchChanges): Promise<Branch> =>
  inTransaction(ctx, async (tx) => {
    const changes = checked(branchChanges, input);
    const branch = await standing(tx, id);
    const changed = changedFields(rows.detailsOf(branch), changes);
    if (changed.length === 0) return toBranch(branch);

    await rows.saveBranch(tx, id, changes);
    if (changes.published !== undefined && changes.published !== branch.published) await stampBranch(tx, id, changes.published);
    recordActivity(tx, 'updated', 'branch', id, changed);
    return toBranch(await standing(tx, id));
  });

async function makeDealer(service: Service, input: NewDealer, isSandbox: boolean): Promise<DealerSummary> {
  const { name, code, plan, currency, timeZone } = checked(newDealer, input);
  const now = service.clock() ?? fromMillis(Date.now());
  const dealer: Dealer = { id: uuidv7(now), code, currency, country: 'GB', timeZone, isSandbox };
  return openTransaction(operatorOf(service, dealer, now), async (making) => {
    if (await rows.codeTaken(making, code)) throw invalid('code', 'Another dealership has this code.');
    await rows.insertClock(making);
    return inTransaction(making, async (tx) => {
      await rows.insertDealer(tx, { name, plan });
      recordActivity(tx, 'created', 'dealer', dealer.id, ['name', 'code', 'plan', 'currency', 'timeZone']);
      await addBranch(tx, { name: 'Main' }, { code: 'MAIN', isDefault: true });
      return summary(tx);
    });
  });
}

async function addBranch(tx: Context, { name, ...details }: NewBranch, kept: { code: string; isDefault: boolean }): Promise<string> {
  const id = uuidv7(tx.now);
  await rows.insertBranch(tx, { id, name, details, ...kept });
  recordActivity(tx, 'created', 'branch', id, ['name', ...Object.keys(details)]);
  return id;
}

/** What a paid plan alone has goes or comes back: here at once, in the sandbox, which is another dealership, soon after. */
async function changeSides(tx: Context, paid: boolean): Promise<void> {
  await followPlan(tx, paid);
  await enqueue(tx, followPlanInSandbox, {});
}

async function summary(tx: Context): Promise<DealerSummary> {
  return { id: tx.dealer.id, code: tx.dealer.code, branches: await rows.namesOfBranches(tx) };
}

async function standing(tx: Context, id: string): Promise<rows.BranchRow> {
  const branch = await rows.branchById(tx, id);
  if (!branch) throw new Refusal('not_found');
  return branch;
}
