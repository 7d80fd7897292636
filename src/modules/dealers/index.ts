export type { DealerSummary } from './commands.ts';
export { changeBranch, createBranch, createDealer, createSandbox, setDealer } from './commands.ts';
export { dealerById, operatorContext, operatorOf } from './operator.ts';
export type { Found } from './queries.ts';
export { findDealer, namesOfBranches } from './queries.ts';
export { planNames } from './rules.ts';
