import type { z } from 'zod';
import { recordActivity } from '#modules/activity/index.ts';
import type { Context } from '#platform/context.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import type { FieldErrors } from '#platform/errors.ts';
import { invalidFields, Refusal } from '#platform/errors.ts';
import type { Arrangement, ReferenceCode, referenceList } from './contract.ts';
import type { ShippedList } from './lists.ts';
import { shippedLists } from './lists.ts';
import { hasOwnCode, ownCodes, saveCodes } from './queries.ts';
import { arranged, codesThatDiffer } from './rules.ts';
import { toCodes } from './view.ts';

/** The names of all lists. */
export const listReferenceLists = (): z.output<typeof referenceList>[] =>
  Object.entries(shippedLists).map(([name, { title, description }]) => ({ name, title, description }));

/** One list as the dealer has arranged it. */
export async function getReferenceList(ctx: Context, name: string): Promise<ReferenceCode[]> {
  const { list, shipped } = listNamed(name);
  return toCodes(shipped, await ownCodes(ctx, list));
}

/** Gives a whole list the dealer's names, order and hiding. */
export const arrangeList = (ctx: Context, name: string, entries: Arrangement): Promise<ReferenceCode[]> =>
  inTransaction(ctx, async (tx) => {
    const { list, shipped } = listNamed(name);
    const codes = toCodes(shipped, await ownCodes(tx, list));
    const placed = arranged({ codes, takesDealerCodes: shipped.takesDealerCodes }, entries);
    const changed = codesThatDiffer(codes, placed);
    if (changed.length === 0) return codes;

    await saveCodes(tx, list, placed);
    recordActivity(
      tx,
      'updated',
      'reference_list',
      tx.dealer.id,
      changed.map((code) => `${list}.${code}`),
    );
    return toCodes(shipped, placed);
  });

/** Whether a code is one the dealer has added to the list. */
export const isDealerCode = async (ctx: Context, list: string, code: string): Promise<boolean> =>
  code.startsWith('X_') && (await hasOwnCode(ctx, list, code));

/** A code of the dealer's own must have been made: of these fields of a body, each with its list. */
export async function checkDealerCodes<F extends string>(
  ctx: Context,
  lists: { readonly [field in F]: string },
  body: { readonly [field in NoInfer<F>]?: string | null | undefined },
): Promise<void> {
  const errors: FieldErrors = {};
  for (const field of Object.keys(lists) as F[]) {
    const code = body[field];
    if (!code?.startsWith('X_') || (await isDealerCode(ctx, lists[field], code))) continue;
    errors[field] = [`Not a code of the reference list "${lists[field]}".`];
  }
  if (Object.keys(errors).length > 0) throw invalidFields(errors);
}

function listNamed(name: string): { list: string; shipped: ShippedList } {
  const list = name.replaceAll('_', '-');
  const shipped = Object.hasOwn(shippedLists, list) ? shippedLists[list] : undefined;
  if (!shipped) throw new Refusal('not_found', 'There is no reference list of that name. GET /v1/reference names them.');
  return { list, shipped };
}
