import { sql } from 'kysely';
import type { Context } from '#platform/context.ts';
import type { Branches } from '#platform/reach.ts';
import type { NewUser, UserChanges } from './contract.ts';

const members = (ctx: Context) => ctx.db.selectFrom('staff').where('staff.dealer_id', '=', ctx.dealer.id);

/** The member of staff with this e-mail address; of several deleted ones the last. */
export const userByEmail = (ctx: Context, email: string) =>
  members(ctx)
    .selectAll()
    .where('email', '=', email.trim().toLowerCase())
    .orderBy(sql`status = 'deleted'`)
    .orderBy('updated_at', 'desc')
    .limit(1)
    .executeTakeFirst();

/** Everybody who works here now. */
export const activeMembers = (ctx: Context) =>
  members(ctx)
    .select(['id', 'name', 'email', 'role', 'granted', 'withheld'])
    .where('status', '=', 'active')
    .orderBy('created_at')
    .orderBy('id')
    .execute();

/** Which of these ids are branches of the dealership. */
export async function knownBranches(ctx: Context, ids: readonly string[]): Promise<string[]> {
  const rows = await ctx.db
    .selectFrom('branch')
    .select('id')
    .where('dealer_id', '=', ctx.dealer.id)
    .where('id', 'in', [...ids])
    .where('deleted_at', 'is', null)
    .execute();
  return rows.map((row) => row.id);
}

interface UserRow extends Omit<Required<NewUser>, 'password' | 'branches'> {
  readonly id: string;
  readonly passwordHash: string;
  readonly branches: Branches;
}

export async function insertUser(tx: Context, { id, email, name, role, passwordHash, branches }: UserRow): Promise<void> {
  await tx.db
    .insertInto('staff')
    .values({
      dealer_id: tx.dealer.id,
      id,
      email,
      name,
      role,
      ...branchColumns(branches),
      password_hash: passwordHash,
      created_at: tx.now,
      updated_at: tx.now,
    })
    .execute();
}

interface Saved extends Pick<UserChanges, 'role' | 'status'> {
  readonly granted?: readonly string[];
  readonly withheld?: readonly string[];
  readonly branches?: Branches | undefined;
  readonly passwordHash?: string | undefined;
}

export async function saveUser(tx: Context, id: string, { role, status, granted, withheld, branches, passwordHash }: Saved): Promise<void> {
  await tx.db
    .updateTable('staff')
    .set({
      ...(role && { role }),
      ...(status && { status }),
      ...(granted && { granted: [...granted] }),
      ...(withheld && { withheld: [...withheld] }),
      ...(branches && branchColumns(branches)),
      ...(passwordHash && { password_hash: passwordHash }),
      updated_at: tx.now,
    })
    .where('dealer_id', '=', tx.dealer.id)
    .where('id', '=', id)
    .execute();
}

const branchColumns = (branches: Branches) => ({
  all_branches: branches === 'all',
  branch_ids: branches === 'all' ? [] : [...branches],
});
