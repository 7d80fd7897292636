export { createDeal, updateDeal } from './commands.ts';
export type { DealChanges, NewDeal } from './contract.ts';
export { stampDeals } from './queries.ts';
export { getDeal, listDeals } from './reads.ts';
export type { SoldDeal } from './sale.ts';
export { cancelByCredit, deleteDeal, deliverDeal, eraseDeals, receivePartExchange, sellDeal } from './sale.ts';
