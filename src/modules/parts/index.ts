export { changePart, countParts, createPart, eraseParts, moveParts, receiveParts } from './commands.ts';
export type { BranchStock, PartWithStock } from './queries.ts';
export { listParts, partStock } from './reads.ts';
