import type { Context } from '#platform/context.ts';

/** An endpoint as far as its failing matters; nobody else changes it until the transaction ends. */
export const holdEndpoint = (tx: Context, id: string) =>
  tx.db
    .selectFrom('webhook_endpoint')
    .select(['id', 'url', 'description', 'enabled'])
    .where('dealer_id', '=', tx.dealer.id)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
