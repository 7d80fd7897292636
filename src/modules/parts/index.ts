export { changePart, countParts, createPart, eraseParts, moveParts, receiveParts } from './commands.ts';
export type { BranchStock, PartOfLine, PartWithStock } from './queries.ts';
export { partsNumbered } from './queries.ts';
export { listParts, partStock } from './reads.ts';
