import { answer } from '#platform/http/answer.ts';
import { createJobCard, updateJobCard } from './commands.ts';
import * as contract from './contract.ts';
import { getJobCard, listJobCards } from './reads.ts';

export const jobCardRoutes = [
  answer(contract.listJobCards, (ctx, { query }) => listJobCards(ctx, query)),
  answer(contract.getJobCard, (ctx, { params }) => getJobCard(ctx, params.id)),
  answer(contract.createJobCard, (ctx, { body }) => createJobCard(ctx, body)),
  answer(contract.updateJobCard, (ctx, { params, body }) => updateJobCard(ctx, params.id, body)),
];
