import { Refusal } from '#platform/errors.ts';
import type { Balance, Hold, Moved, Movement, PartMove } from './contract.ts';

// How the stock of parts moves. Pure: the same stock and the same moves always give the same movements.

/**
 * Moves parts for a job. First everything is given back that its lines no longer have, then they take in their order: what cannot be
 * reserved stays out, what cannot be issued is lacking.
 */
export function movesOf(moves: readonly PartMove[], stock: readonly Balance[]): Moved {
  const shelves = shelvesOf(stock);
  const holds = new Map<string, Hold>(moves.map(({ lineId, to }) => [lineId, to]));
  const lacking = new Set<string>();
  const taking: PartMove[] = [];

  for (const move of moves) {
    if (isSame(move.from, move.to)) continue;
    if (move.from && move.to && isInPlace(move.from, move.to)) {
      shelves.move(move, move.from, move.to);
      continue;
    }
    if (move.from) shelves.move(move, move.from, null);
    if (move.to) taking.push(move);
  }
  for (const { to, ...move } of taking) {
    if (to && shelves.free(to.branchId, move.partId) >= thousandths(to.quantity)) shelves.move(move, null, to);
    else if (to?.state === 'RESERVED') holds.set(move.lineId, null);
    else lacking.add(move.partId);
  }
  return { movements: shelves.movements, balances: shelves.changed(), holds, lacking: [...lacking] };
}

/** Puts parts that came in on the shelves of a branch. */
export function received(branchId: string, lines: readonly { part_id: string; quantity: number }[], stock: readonly Balance[]): Moved {
  const shelves = shelvesOf(stock);
  for (const { part_id, quantity } of lines) shelves.book({ ...inward(branchId, part_id), kind: 'RECEIVED', on_hand: quantity });
  return { ...untouched, movements: shelves.movements, balances: shelves.changed() };
}

/** Makes the stock of a branch what was counted there: at least what is put by for jobs. */
export function counted(branchId: string, lines: readonly { part_id: string; on_hand: number }[], stock: readonly Balance[]): Moved {
  const shelves = shelvesOf(stock);
  for (const { part_id, on_hand } of lines) {
    const before = shelves.at(branchId, part_id);
    if (on_hand < before.reserved)
      throw new Refusal('request_refused', `${before.reserved} are reserved for jobs; release them before fewer are counted.`);
    const difference = sum(on_hand, -before.on_hand);
    if (difference !== 0) shelves.book({ ...inward(branchId, part_id), kind: 'COUNTED', on_hand: difference });
  }
  return { ...untouched, movements: shelves.movements, balances: shelves.changed() };
}

const inward = (branch_id: string, part_id: string) => ({ branch_id, part_id, reserved: 0, cause_line_id: null });
const untouched = { holds: new Map<string, Hold>(), lacking: [] };

/** The parts that are lacking, by their names. */
export function checkEnough(lacking: readonly string[]): void {
  if (lacking.length > 0) throw new Refusal('request_refused', `Not enough in stock of part ${lacking.join(', ')}.`);
}

const nothing = (branch_id: string, part_id: string): Balance => ({ branch_id, part_id, on_hand: 0, reserved: 0 });

const isSame = (from: Hold, to: Hold): boolean =>
  from?.state === to?.state && from?.branchId === to?.branchId && from?.quantity === to?.quantity;

/** The same parts on the same shelves: they are put by or fitted, without asking whether there are enough. */
const isInPlace = (from: NonNullable<Hold>, to: NonNullable<Hold>): boolean =>
  from.branchId === to.branchId && from.quantity === to.quantity;

/** Quantities have three decimals; sums of them are made in whole thousandths, as doubles would drift. */
const thousandths = (quantity: number): number => Math.round(quantity * 1000);
const sum = (a: number, b: number): number => (thousandths(a) + thousandths(b)) / 1000;

/** What a hold takes from the shelves. */
const takenBy = (hold: Hold): { on_hand: number; reserved: number } => ({
  on_hand: hold?.state === 'ISSUED' ? -hold.quantity : 0,
  reserved: hold?.state === 'RESERVED' ? hold.quantity : 0,
});

function kindOf(from: Hold, to: Hold): Movement['kind'] {
  if (to?.state === 'ISSUED') return 'ISSUED';
  if (from?.state === 'ISSUED') return 'RETURNED';
  return to ? 'RESERVED' : 'RELEASED';
}

/** The shelves as they are while parts move. */
function shelvesOf(stock: readonly Balance[]) {
  const now = new Map(stock.map((balance) => [keyOf(balance.branch_id, balance.part_id), balance]));
  const touched = new Set<string>();
  const movements: Movement[] = [];
  const at = (branchId: string, partId: string): Balance => now.get(keyOf(branchId, partId)) ?? nothing(branchId, partId);

  const book = (movement: Movement): void => {
    const { branch_id, part_id, on_hand, reserved } = movement;
    const before = at(branch_id, part_id);
    movements.push(movement);
    touched.add(keyOf(branch_id, part_id));
    now.set(keyOf(branch_id, part_id), {
      ...before,
      on_hand: sum(before.on_hand, on_hand),
      reserved: sum(before.reserved, reserved),
    });
  };
  return {
    movements,
    at,
    book,
    free: (branchId: string, partId: string): number => {
      const { on_hand, reserved } = at(branchId, partId);
      return thousandths(on_hand) - thousandths(reserved);
    },
    move: ({ lineId, partId }: Pick<PartMove, 'lineId' | 'partId'>, from: Hold, to: Hold): void => {
      const [given, taken] = [takenBy(from), takenBy(to)];
      book({
        branch_id: (to ?? from)!.branchId,
        part_id: partId,
        kind: kindOf(from, to),
        on_hand: sum(taken.on_hand, -given.on_hand),
        reserved: sum(taken.reserved, -given.reserved),
        cause_line_id: lineId,
      });
    },
    changed: (): Balance[] => [...touched].map((key) => now.get(key)!),
  };
}

const keyOf = (branchId: string, partId: string): string => `${branchId} ${partId}`;
