import type { Context } from '#platform/context.ts';
import { undoneIfRefused } from '#platform/db/transaction.ts';
import { Refusal } from '#platform/errors.ts';

/** Makes a record of a seed; undefined when it is there: a run that was killed half way has made some of them. */
export async function unlessMade<T>(tx: Context, make: () => Promise<T>): Promise<T | undefined> {
  const made = await undoneIfRefused(tx, make);
  if (!(made instanceof Refusal)) return made;
  if (made.code !== 'external_id_taken') throw made;
  return undefined;
}
