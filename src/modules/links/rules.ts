import type { FieldErrors } from '#platform/errors.ts';
import { invalidFields } from '#platform/errors.ts';
import type { Branches } from '#platform/reach.ts';
import { reaches } from '#platform/reach.ts';
import type { Kind, Link } from './contract.ts';

// What a record may name. Pure.

/** A record that was named, as it was found in the dealership, wherever that lies. */
export interface FoundThing {
  readonly kind: Kind;
  /** Null of staff. */
  readonly branch_id: string | null;
  /** Of staff: whether and where they work. */
  readonly works: { readonly status: string; readonly all_branches: boolean; readonly branch_ids: readonly string[] } | null;
}

/** The links a body makes: those of these fields that name something. */
export const linksIn = <F extends string>(
  body: { readonly [field in NoInfer<F>]?: string | readonly string[] | null | undefined },
  kinds: { readonly [field in F]: Kind },
): Link[] =>
  (Object.keys(kinds) as F[]).flatMap((field) => {
    const named = body[field];
    const ids: readonly string[] = typeof named === 'string' ? [named] : (named ?? []);
    return ids.map((id): Link => ({ field, kind: kinds[field], id }));
  });

/** Those among them that a record did not make before. */
export const newLinks = (links: readonly Link[], before: { readonly [field: string]: unknown }): Link[] =>
  links.filter(({ field, id }) => {
    const named = before[field];
    return Array.isArray(named) ? !named.includes(id) : named !== id;
  });

/** Only what the caller sees is named, and only who works at the record's branch is given it. */
export function checkLinks(links: readonly Link[], found: ReadonlyMap<string, FoundThing>, branchId: string, reach: Branches): void {
  const errors: FieldErrors = {};
  for (const { field, kind, id } of links) {
    const named = found.get(id);
    const thing = named?.kind === kind ? named : undefined;
    const wrong = kind === 'staff' ? wrongWithStaff(thing, branchId) : wrongWithRecord(kind, thing, reach);
    if (wrong) errors[field] = [wrong];
  }
  if (Object.keys(errors).length > 0) throw invalidFields(errors);
}

const wrongWithRecord = (kind: Kind, thing: FoundThing | undefined, reach: Branches): string | undefined =>
  thing && thing.branch_id !== null && reaches(reach, thing.branch_id)
    ? undefined
    : `No ${kind.replaceAll('_', ' ')} with this id is visible to the key.`;

function wrongWithStaff(thing: FoundThing | undefined, branchId: string): string | undefined {
  const works = thing?.works;
  if (works?.status !== 'active') return 'The dealership has no such member of staff.';
  if (works.all_branches || works.branch_ids.includes(branchId)) return undefined;
  return 'This member of staff does not work at the branch of the record.';
}
