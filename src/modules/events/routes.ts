import { answer } from '#platform/http/answer.ts';
import * as contract from './contract.ts';
import { getEvent, listEvents } from './reads.ts';

export const eventRoutes = [
  answer(contract.listEvents, (ctx, { query }) => listEvents(ctx, query)),
  answer(contract.getEvent, (ctx, { params }) => getEvent(ctx, params.id)),
];
