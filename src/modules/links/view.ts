import type { Kind, Summaries } from './contract.ts';
import type { Found } from './queries.ts';

/** What a record names in one of its fields. */
interface Naming<K extends Kind> {
  readonly id: string | null;
  /** The summary as far as the caller may see it. */
  readonly shown: Summaries[K] | null;
}

/** The summary of what a record names now: while the name stands it stays as it was seen, one named anew is as it was found. */
export function summaryNow<K extends Kind>(kind: K, id: string | null, before: Naming<K>, found: Found): Summaries[K] | null {
  if (id === before.id) return before.shown;
  const named = id === null ? undefined : found.get(id);
  return named?.kind === kind ? (named.shown as Summaries[K]) : null;
}
