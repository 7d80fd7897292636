import type { Context } from '#platform/context.ts';
import { userByEmail } from './queries.ts';

export { createUser, setUser } from './commands.ts';
export type { Standing } from './rules.ts';
export { allowsScope, permissionsOf } from './rules.ts';

/** The id of the member of staff with this e-mail address. */
export const userIdByEmail = async (ctx: Context, email: string): Promise<string | undefined> => (await userByEmail(ctx, email))?.id;
