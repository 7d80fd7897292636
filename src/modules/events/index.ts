export type { About, Chronicle } from './commands.ts';
export { dropOldEventDays, emit, makeEventDays, tell } from './commands.ts';
export { eventTypes, familyOf, subscribable } from './lists.ts';
export type { StoredEvent } from './queries.ts';
export { storedEventColumns } from './queries.ts';
export { findEvent } from './reads.ts';
export { isReadable, means, typesRead } from './rules.ts';
export { eventText } from './view.ts';
