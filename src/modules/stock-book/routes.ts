import { answer } from '#platform/http/answer.ts';
import * as contract from './contract.ts';
import { listStockBook } from './reads.ts';

export const stockBookRoutes = [answer(contract.listStockBook, (ctx, { query }) => listStockBook(ctx, query))];
