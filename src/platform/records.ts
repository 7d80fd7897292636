import type { Tombstone } from './contract.ts';
import type { Instant } from './dates.ts';
import { toDateTime } from './dates.ts';
import type { FieldErrors } from './errors.ts';
import { Refusal } from './errors.ts';

// What holds for the records of every resource.

/** A write of a record as it will be saved and told. */
export interface Change<R> {
  /** Null of a new one. */
  readonly before: R | null;
  readonly after: R;
  /** The fields of the API that differ; of a new record those that hold something. */
  readonly changed: readonly string[];
}

/**
 * The ids in one of its fields, before and after, of records that show something of it, where a write changes that: it is new, gone,
 * names another, or differs in a field they show.
 */
export function showing<
  F extends string,
  R extends { readonly [field in F | 'id']: string | null } & { readonly deleted_at: Instant | null },
>({ before, after }: Change<R>, link: F, shown: readonly (keyof R)[] = []): (string | null)[] {
  const isSame = before && ([link, 'deleted_at', ...shown] as (keyof R)[]).every((field) => before[field] === after[field]);
  return isSame ? [] : [...new Set([before?.[link] ?? null, after[link]])];
}

/** What is left of a record that was deleted. */
export const toTombstone = ({
  id,
  deleted_at,
  updated_at,
}: {
  id: string;
  deleted_at: Instant | null;
  updated_at: Instant;
}): Tombstone => ({
  id,
  deleted: true,
  deleted_at: toDateTime(deleted_at ?? updated_at),
});

/** An external id is one live record's alone. `holderId` is whoever has it now. */
export function checkExternalId({ id }: { readonly id: string }, holderId: string | undefined): void {
  if (holderId !== undefined && holderId !== id) throw new Refusal('external_id_taken');
}

const mostMetadata = 50;

/** What is wrong with the metadata of a record as it would be: a patch may say less than it makes. */
export const wrongMetadata = ({ metadata }: { readonly metadata: Readonly<Record<string, string>> }): FieldErrors =>
  Object.keys(metadata).length > mostMetadata ? { metadata: [`At most ${mostMetadata} keys.`] } : {};
