export type { HouseRow } from './queries.ts';
export { houseOf } from './queries.ts';
export type { BranchStanding, House } from './rules.ts';
export { branchFor, branchName, checkBranchMove } from './rules.ts';
