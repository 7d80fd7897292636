export type { Action } from './commands.ts';
export { recordActivity } from './commands.ts';
