import { invalid, Refusal } from '#platform/errors.ts';
import type { Branches } from '#platform/reach.ts';
import { reaches } from '#platform/reach.ts';

// At which branch a record lies. Pure.

export interface BranchStanding {
  readonly id: string;
  readonly name: string;
  readonly isDefault: boolean;
  readonly published: boolean;
}

/** The dealership as far as the rules look at it. */
export interface House {
  readonly branches: readonly BranchStanding[];
  readonly transfersByApi: boolean;
}

/** The branch of a new record that names none: the default one if the caller may use it, else the caller's only one. */
export function branchFor(named: string | undefined, { branches }: House, reach: Branches): BranchStanding {
  if (named !== undefined) return branchNamed(named, branches, reach);
  const within = branches.filter(({ id }) => reaches(reach, id));
  const chosen = within.find(({ isDefault }) => isDefault) ?? (within.length === 1 ? within[0] : undefined);
  if (!chosen) throw invalid('branch_id', 'Required: the key has several branches, and the default branch is not among them.');
  return chosen;
}

/** A record moves to a branch the caller reaches, where the dealership lets records be moved at all. */
export function checkBranchMove(from: string, to: string | undefined, { branches, transfersByApi }: House, reach: Branches): void {
  if (to === undefined || to === from) return;
  branchNamed(to, branches, reach);
  if (!transfersByApi)
    throw new Refusal('branch_move_not_permitted', 'The dealership does not let records be moved through the API.', {
      required: { restriction: 'transfers_by_api' },
    });
}

function branchNamed(id: string, branches: readonly BranchStanding[], reach: Branches): BranchStanding {
  const named = branches.find((branch) => branch.id === id);
  if (!named) throw invalid('branch_id', 'The dealership has no such branch.');
  if (!reaches(reach, id)) throw new Refusal('branch_move_not_permitted', undefined, { required: { restriction: 'branches' } });
  return named;
}

/** The name of a record's branch. A branch that is gone keeps its name on the records that stay there. */
export const branchName = (
  { branches }: House,
  branchId: string,
  before: { readonly branch_id: string; readonly branch_name: string | null },
): string | null => (branchId === before.branch_id ? before.branch_name : (branches.find(({ id }) => id === branchId)?.name ?? null));
