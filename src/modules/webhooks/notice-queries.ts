import type { Context } from '#platform/context.ts';

/** Whose endpoint it is: in the sandbox another dealership than the record's. Undefined when it is gone. */
export async function whoseEndpoint(ctx: Context, id: string): Promise<string | undefined> {
  const found = await ctx.db
    .selectFrom('webhook_endpoint')
    .select('calling_dealer_id')
    .where('dealer_id', '=', ctx.dealer.id)
    .where('id', '=', id)
    .executeTakeFirst();
  return found?.calling_dealer_id;
}
