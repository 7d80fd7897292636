import { findDealer, operatorContext, setDealer } from '#modules/dealers/index.ts';
import { setUser } from '#modules/staff/index.ts';
import type { Context } from '#platform/context.ts';
import { house } from './dealership.ts';

/** The dealership that test keys reach, seen by the operator. It has several branches. */
export interface Sandbox {
  readonly id: string;
  readonly ctx: Context;
  /** Whom test keys act as. */
  readonly user: { readonly id: string; readonly email: string; readonly name: string };
  available(yes: boolean): Promise<void>;
  /** Takes permissions from its user, or gives them back. */
  permit(change: { with?: string[]; without?: string[] }): Promise<void>;
}

export async function sandbox(): Promise<Sandbox> {
  const { service } = await house();
  const found = await findDealer(service, 'sandbox');
  if (!found) throw new Error('The house has no sandbox.');
  const { id } = found.dealer;
  const ctx = await operatorContext(service, id);
  const { rows } = await service.pools.doors.query(
    'select s.id, s.email, s.name from staff s join dealer d on d.id = s.dealer_id and d.acts_as_id = s.id where d.id = $1',
    [id],
  );
  const user = rows[0];
  return {
    id,
    ctx,
    user,
    available: async (yes) => void (await setDealer(ctx, { available: yes })),
    permit: async (change) => void (await setUser(ctx, user.email, change as never)),
  };
}
