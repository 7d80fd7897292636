export type { About, Chronicle } from './commands.ts';
export { emit, makeEventDays, tell } from './commands.ts';
