import type { Route } from '#platform/http/answer.ts';
import { answer } from '#platform/http/answer.ts';
import { getReferenceList, listReferenceLists } from './commands.ts';
import * as contract from './contract.ts';

export const referenceRoutes: Route[] = [
  answer(contract.listReferenceLists, async () => listReferenceLists()),
  answer(contract.getReferenceList, (ctx, { params }) => getReferenceList(ctx, params.list)),
];
