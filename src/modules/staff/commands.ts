import { recordActivity } from '#modules/activity/index.ts';
import type { Context } from '#platform/context.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { invalid, Refusal } from '#platform/errors.ts';
import { checked } from '#platform/field-errors.ts';
import type { Branches } from '#platform/reach.ts';
import { uuidv7 } from '#platform/secrets.ts';
import type { NewUser, UserChanges } from './contract.ts';
import { newUser, userChanges } from './contract.ts';
import { hashed } from './passwords.ts';
import { insertUser, knownBranches, saveUser, userByEmail } from './queries.ts';
import { withSingles } from './rules.ts';
import { deleteSessionsOf } from './session-queries.ts';

/** Takes on a member of staff. */
export async function createUser(ctx: Context, input: NewUser): Promise<{ id: string }> {
  const { password, ...user } = checked(newUser, input);
  const passwordHash = await hashed(password);

  return inTransaction(ctx, async (tx) => {
    const namesake = await userByEmail(tx, user.email);
    if (namesake && namesake.status !== 'deleted') throw invalid('email', 'Another member of staff has this e-mail address.');
    await checkBranches(tx, user.branches);
    const id = uuidv7(tx.now);
    await insertUser(tx, { ...user, id, passwordHash });
    recordActivity(tx, 'created', 'staff', id, ['email', 'name', 'role', 'branches']);
    return { id };
  });
}

/** Changes what a member of staff may do, or whether they still work here. It counts for the next request of every key they own;
 * another password or status ends their sessions. */
export async function setUser(ctx: Context, email: string, input: UserChanges): Promise<{ id: string }> {
  const { with: given, without: taken, password, ...changes } = checked(userChanges, input);
  const passwordHash = password === undefined ? undefined : await hashed(password);

  return inTransaction(ctx, async (tx) => {
    const user = await userByEmail(tx, email);
    if (!user) throw new Refusal('not_found', 'No member of staff has this e-mail address.');
    await checkBranches(tx, changes.branches ?? 'all');
    const singles = given || taken ? withSingles(user, { with: given, without: taken }) : {};

    const now = { role: user.role, status: user.status, granted: user.granted, withheld: user.withheld, branches: branchesOf(user) };
    const wanted = { ...changes, ...singles };
    const changed = (Object.keys(wanted) as (keyof typeof wanted)[]).filter((field) => differs(wanted[field], now[field]));
    if (changed.length === 0 && passwordHash === undefined) return { id: user.id };

    await saveUser(tx, user.id, { ...wanted, passwordHash });
    if (passwordHash !== undefined || changed.includes('status')) await deleteSessionsOf(tx, user.id);
    recordActivity(tx, 'updated', 'staff', user.id, [...changed, ...(passwordHash === undefined ? [] : ['password'])]);
    return { id: user.id };
  });
}

async function checkBranches(tx: Context, branches: Branches): Promise<void> {
  if (branches === 'all') return;
  const known = await knownBranches(tx, branches);
  const unknown = branches.filter((id) => !known.includes(id));
  if (unknown.length > 0) throw invalid('branches', `Not branches of this dealership: ${unknown.join(', ')}.`);
}

const branchesOf = (user: { all_branches: boolean; branch_ids: readonly string[] }): Branches =>
  user.all_branches ? 'all' : user.branch_ids;

const differs = (wanted: unknown, now: unknown): boolean => wanted !== undefined && JSON.stringify(wanted) !== JSON.stringify(now);
