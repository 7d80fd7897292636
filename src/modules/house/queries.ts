import { sql } from 'kysely';
import type { Context } from '#platform/context.ts';

export interface HouseRow {
  readonly plan: string;
  readonly transfersByApi: boolean;
  readonly branches: readonly { readonly id: string; readonly name: string; readonly isDefault: boolean; readonly published: boolean }[];
}

/** The dealership as it is now: its plan, its branches, and whether records move between them. */
export async function houseOf(ctx: Context): Promise<HouseRow> {
  const { rows } = await sql<HouseRow>`
    select dealer.plan, dealer.transfers_by_api as "transfersByApi",
      (select coalesce(json_agg(json_build_object('id', b.id, 'name', b.name, 'isDefault', b.is_default, 'published', b.published)), '[]')
         from branch b where b.dealer_id = dealer.id and b.deleted_at is null) as branches
    from dealer where dealer.id = ${ctx.dealer.id}`.execute(ctx.db);
  const [house] = rows;
  if (!house) throw new Error('The dealership is not there.');
  return house;
}
