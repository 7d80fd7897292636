import type { Context } from '#platform/context.ts';
import { Refusal } from '#platform/errors.ts';
import type { Route } from '#platform/http/answer.ts';
import { answer } from '#platform/http/answer.ts';
import type { Branch } from './contract.ts';
import * as contract from './contract.ts';
import { readMe } from './me.ts';
import { branchById, pageOfBranches } from './queries.ts';
import { toBranch } from './view.ts';

export const dealerRoutes: Route[] = [
  answer(contract.getMe, (ctx) => readMe(ctx)),
  answer(contract.listBranches, (ctx, { query }) => pageOfBranches(ctx, query)),
  answer(contract.getBranch, (ctx, { params }) => readBranch(ctx, params.id)),
];

async function readBranch(ctx: Context, id: string): Promise<Branch> {
  const branch = await branchById(ctx, id);
  if (!branch) throw new Refusal('not_found');
  return toBranch(branch);
}
