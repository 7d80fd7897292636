import type { Context } from '#platform/context.ts';
import type { Permission } from './contract.ts';
import { activeMembers, userByEmail } from './queries.ts';
import { managersAmong } from './rules.ts';

export { createUser, setUser } from './commands.ts';
export type { Standing } from './rules.ts';
export { allowsScope, isProvedLately, permissionsOf, roleName } from './rules.ts';
export type { NotProved, NotSignedIn, Session, SignedIn, SignIn } from './sessions.ts';
export { contextOf, proveAgain, sessionOf, signIn, signOut } from './sessions.ts';

/** The id of the member of staff with this e-mail address. */
export const userIdByEmail = async (ctx: Context, email: string): Promise<string | undefined> => (await userByEmail(ctx, email))?.id;

/** Whom to tell of what needs this permission: the active members of staff who have it, or the administrators where nobody has. */
export async function whoManages(ctx: Context, permission: Permission): Promise<{ id: string; name: string; email: string }[]> {
  return managersAmong(await activeMembers(ctx), permission).map(({ id, name, email }) => ({ id, name, email }));
}
