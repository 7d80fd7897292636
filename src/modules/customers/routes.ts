import { answer } from '#platform/http/answer.ts';
import { createCustomer, deleteCustomer, updateCustomer } from './commands.ts';
import * as contract from './contract.ts';
import { getCustomer, listCustomers } from './reads.ts';

export const customerRoutes = [
  answer(contract.listCustomers, (ctx, { query }) => listCustomers(ctx, query)),
  answer(contract.getCustomer, (ctx, { params }) => getCustomer(ctx, params.id)),
  answer(contract.createCustomer, (ctx, { body }) => createCustomer(ctx, body)),
  answer(contract.updateCustomer, (ctx, { params, body }) => updateCustomer(ctx, params.id, body)),
  answer(contract.deleteCustomer, (ctx, { params }) => deleteCustomer(ctx, params.id)),
];
