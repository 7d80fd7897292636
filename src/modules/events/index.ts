export type { About } from './commands.ts';
export { emit, makeEventDays } from './commands.ts';
