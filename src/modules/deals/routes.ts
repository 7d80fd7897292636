import { answer } from '#platform/http/answer.ts';
import { createDeal, updateDeal } from './commands.ts';
import * as contract from './contract.ts';
import { getDeal, listDeals } from './reads.ts';

export const dealRoutes = [
  answer(contract.listDeals, (ctx, { query }) => listDeals(ctx, query)),
  answer(contract.getDeal, (ctx, { params }) => getDeal(ctx, params.id)),
  answer(contract.createDeal, (ctx, { body }) => createDeal(ctx, body)),
  answer(contract.updateDeal, (ctx, { params, body }) => updateDeal(ctx, params.id, body)),
];
