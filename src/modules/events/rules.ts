import type { EventType, Scope } from '#platform/contract.ts';

/** Whether an entry of a subscription or filter means a type: the type itself, its family (`vehicle.*`), or `*`. */
export const means = (entry: string, type: string): boolean => entry === '*' || entry === type || entry === `${familyOf(type)}.*`;

/** Whether these scopes let a key see events of a type; one that needs none is seen by all. */
export const isReadable = ({ scopes: needed }: EventType, scopes: readonly Scope[]): boolean =>
  needed.length === 0 || needed.some((scope) => scopes.includes(scope));

const familyOf = (type: string): string => type.slice(0, type.lastIndexOf('.'));
