export { changeKey, issueKey, revokeKey, rollKey } from './commands.ts';
export type { Identifier } from './identify.ts';
export { identifier } from './identify.ts';
export type { TokenKind } from './key-text.ts';
export { newTokenText, readTokenText } from './key-text.ts';
export { dealerOfKey, hasKeys } from './queries.ts';
