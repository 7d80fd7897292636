export { changeKey, issueKey, revokeKey, rollKey } from './commands.ts';
export type { Identifier } from './identify.ts';
export { identifier } from './identify.ts';
export { dealerOfKey, hasKeys } from './queries.ts';
