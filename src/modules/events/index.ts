export type { About, Chronicle } from './commands.ts';
export { emit, makeEventDays, tell } from './commands.ts';
export { eventTypes, subscribable } from './lists.ts';
export { isReadable, means } from './rules.ts';
