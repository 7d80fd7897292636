import { recordActivity } from '#modules/activity/index.ts';
import { branchFor, houseOf } from '#modules/house/index.ts';
import type { Context } from '#platform/context.ts';
import { erase } from '#platform/db/records.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import type { FieldErrors } from '#platform/errors.ts';
import { invalid, invalidFields, Refusal } from '#platform/errors.ts';
import { checked } from '#platform/field-errors.ts';
import { said } from '#platform/merge-patch.ts';
import { uuidv7 } from '#platform/secrets.ts';
import type { Balance, Delivery, Hold, Moved, NewPart, PartChanges, PartMove, Stocktake } from './contract.ts';
import { delivery, newPart, partChanges, stocktake } from './contract.ts';
import type { Cause, PartRow, PartWithStock } from './queries.ts';
import { balancesOf, blankPart, idOfNumber, namesOfParts, partById, saveMoved, saveParts } from './queries.ts';
import * as rules from './rules.ts';

// A turn that is not had in time is answered `stock_busy` by everything that writes parts.

/** Takes a part into the catalogue, of which nothing lies on the shelves yet. */
export async function createPart(ctx: Context, input: NewPart): Promise<PartWithStock> {
  const body = checked(newPart, input);
  return inTransaction(
    ctx,
    async (tx) => {
      const part = { ...blankPart, ...body, dealer_id: tx.dealer.id, id: uuidv7(tx.now), created_at: tx.now, updated_at: tx.now };
      await checkNumber(tx, part);
      await saveParts(tx, [part]);
      recordActivity(tx, 'created', 'part', part.id, Object.keys(body));
      return { ...part, stock: [] };
    },
    'stock_busy',
  );
}

/** Changes what a part is called or costs; job lines keep what they were made with. */
export async function changePart(ctx: Context, id: string, input: PartChanges): Promise<PartWithStock> {
  const body = said(checked(partChanges, input));
  return inTransaction(
    ctx,
    async (tx) => {
      const before = await partById(tx, id);
      if (!before) throw new Refusal('not_found');
      const changed = (Object.keys(body) as (keyof typeof body)[]).filter((field) => body[field] !== before[field]);
      if (changed.length === 0) return before;
      const { stock, ...part } = { ...before, ...body, updated_at: tx.now };
      await checkNumber(tx, part);
      await saveParts(tx, [part]);
      recordActivity(tx, 'updated', 'part', id, changed);
      return { ...part, stock };
    },
    'stock_busy',
  );
}

/** Puts a delivery on the shelves. Jobs that wait for the parts take them with their next step. */
export async function receiveParts(ctx: Context, input: Delivery): Promise<void> {
  const { branch_id, note, lines } = checked(delivery, input);
  return book(ctx, branch_id, lines, { kind: 'delivery', note }, (branchId, stock) => rules.received(branchId, lines, stock));
}

/** Makes the stock what was counted. */
export async function countParts(ctx: Context, input: Stocktake): Promise<void> {
  const { branch_id, note, lines } = checked(stocktake, input);
  return book(ctx, branch_id, lines, { kind: 'stocktake', note }, (branchId, stock) => rules.counted(branchId, lines, stock));
}

/** Reserves, issues and takes back parts for the lines of a job card or an invoice, and says what each line has now. Inside its transaction. */
export async function moveParts(
  tx: Context,
  cause: { readonly kind: 'job_card' | 'invoice'; readonly id: string },
  moves: readonly PartMove[],
): Promise<ReadonlyMap<string, Hold>> {
  const stock = await balancesOf(
    tx,
    moves.map(({ partId }) => partId),
    moves.flatMap(({ from, to }) => [from, to].flatMap((hold) => (hold ? [hold.branchId] : []))),
  );
  const moved = rules.movesOf(moves, stock);
  if (moved.lacking.length > 0) rules.checkEnough([...(await namesOfParts(tx, moved.lacking)).values()]);
  await saveMoved(tx, moved, { ...cause, note: null });
  return moved.holds;
}

/** Empties the shelves and the catalogue for the sandbox's reset. */
export const eraseParts = (ctx: Context): Promise<void> => erase(ctx, ['stock_movement', 'part_stock', 'part']);

async function checkNumber(tx: Context, { id, part_number }: PartRow): Promise<void> {
  const holder = await idOfNumber(tx, part_number);
  if (holder !== undefined && holder !== id) throw invalid('part_number', 'Another part goes by this number.');
}

/** Writes down what somebody noted at a branch: one delivery or stocktake, whatever the number of its lines. */
const book = (
  ctx: Context,
  namedBranch: string | undefined,
  lines: readonly { part_id: string }[],
  why: Omit<Cause, 'id'>,
  move: (branchId: string, stock: readonly Balance[]) => Moved,
): Promise<void> =>
  inTransaction(
    ctx,
    async (tx) => {
      const ids = lines.map(({ part_id }) => part_id);
      const [house, known] = await Promise.all([houseOf(tx), namesOfParts(tx, ids)]);
      const branch = branchFor(namedBranch, house, tx.caller.branches);
      checkKnown(ids, known);
      const moved = move(branch.id, await balancesOf(tx, ids, [branch.id]));
      await saveMoved(tx, moved, { ...why, id: uuidv7(tx.now) });
      for (const { part_id } of moved.balances) recordActivity(tx, 'updated', 'part', part_id, ['stock']);
    },
    'stock_busy',
  );

function checkKnown(ids: readonly string[], known: ReadonlyMap<string, string>): void {
  const errors: FieldErrors = {};
  for (const [index, id] of ids.entries()) if (!known.has(id)) errors[`lines.${index}.part_id`] = ['The dealership has no such part.'];
  if (Object.keys(errors).length > 0) throw invalidFields(errors);
}
