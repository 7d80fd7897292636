import type { EventType, Scope } from '#platform/contract.ts';
import { eventTypes, familyOf } from './lists.ts';
import { ping } from './shapes.ts';

/** Whether an entry of a subscription or filter means a type: the type itself, its family (`vehicle.*`), or `*`. */
export const means = (entry: string, type: string): boolean => {
  const family = familyOf(type);
  return entry === '*' || entry === type || (family !== null && entry === `${family}.*`);
};

/** Whether these scopes let a key see events of a type; one that needs none is seen by all. */
export const isReadable = ({ scopes: needed }: EventType, scopes: readonly Scope[]): boolean =>
  needed.length === 0 || needed.some((scope) => scopes.includes(scope));

/** The types a key with these scopes reads: of those that are asked for, else of all. */
export const typesRead = (scopes: readonly Scope[], asked: readonly string[] = ['*']): string[] =>
  eventTypes.filter((one) => isReadable(one, scopes) && asked.some((entry) => means(entry, one.type))).map(({ type }) => type);

/** What in the sandbox is the calling dealership's alone: its batches, and the tests of its endpoints. */
export const ownTypes: readonly string[] = eventTypes
  .map(({ type }) => type)
  .filter((type) => familyOf(type) === 'vehicle_batch' || type === ping.type);
