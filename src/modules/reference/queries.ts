import type { Context } from '#platform/context.ts';
import type { OwnCode } from './view.ts';

const ownRows = (ctx: Context, list: string) =>
  ctx.db.selectFrom('reference_code').where('reference_code.dealer_id', '=', ctx.dealer.id).where('list', '=', list);

/** What the dealer made of a list. */
export const ownCodes = (ctx: Context, list: string): Promise<OwnCode[]> =>
  ownRows(ctx, list).select(['code', 'name', 'description', 'position', 'is_active']).orderBy('position').execute();

export const hasOwnCode = async (ctx: Context, list: string, code: string): Promise<boolean> =>
  (await ownRows(ctx, list).select('code').where('code', '=', code).executeTakeFirst()) !== undefined;

export async function saveCodes(tx: Context, list: string, codes: readonly OwnCode[]): Promise<void> {
  await tx.db
    .insertInto('reference_code')
    .values(codes.map((code) => ({ dealer_id: tx.dealer.id, list, ...code })))
    .onConflict((conflict) =>
      conflict.columns(['dealer_id', 'list', 'code']).doUpdateSet(({ ref }) => ({
        name: ref('excluded.name'),
        description: ref('excluded.description'),
        position: ref('excluded.position'),
        is_active: ref('excluded.is_active'),
      })),
    )
    .execute();
}
