import type { Context } from '../context.ts';
import { Refusal } from '../errors.ts';
import type { Connection } from './connect.ts';
import { prepared } from './connect.ts';
import type { Busy } from './line.ts';
import { patienceMs, placeInLine } from './line.ts';
import type { OpenTransaction } from './open-transaction.ts';
import { boundTo } from './queries.ts';
import { takeTurn } from './turn.ts';

/** Writes rows that were gathered during a transaction, in one statement, before it commits. */
export type Writer<T = unknown> = (ctx: Context, rows: readonly T[]) => Promise<void>;

/**
 * Does the work in one transaction that holds the dealer's turn: its time is `ctx.now` from here on.
 * Joins the transaction that is already open, so that commands compose.
 */
export async function inTransaction<T>(ctx: Context, work: (tx: Context) => Promise<T>, busy: Busy = 'service_unavailable'): Promise<T> {
  if (ctx.tx) return work(await withTurn(ctx, ctx.tx, busy));
  return openTransaction(ctx, async (tx) => work(await withTurn(tx, tx.tx, busy)), busy);
}

/** Opens a transaction without taking the turn: for what must be settled before waiting for it, such as an idempotency key. */
export async function openTransaction<T>(
  ctx: Context,
  work: (tx: Context & { tx: OpenTransaction }) => Promise<T>,
  busy: Busy = 'service_unavailable',
): Promise<T> {
  const deadline = performance.now() + patienceMs;
  const leave = await placeInLine(ctx.service.pools.work, ctx.dealer.id, busy);
  try {
    return await onConnection(ctx, deadline, work);
  } finally {
    leave();
  }
}

/** The same ahead of all who wait: for what is short, takes no turn, and must not wait for whoever writes at the dealership. */
export const openAhead = <T>(ctx: Context, work: (tx: Context & { tx: OpenTransaction }) => Promise<T>): Promise<T> =>
  onConnection(ctx, performance.now() + patienceMs, work);

async function onConnection<T>(ctx: Context, deadline: number, work: (tx: Context & { tx: OpenTransaction }) => Promise<T>): Promise<T> {
  const connection = await ctx.service.pools.work.connect();
  let broken: Error | undefined;
  const lease = leaseOf(connection);
  const open: OpenTransaction = { connection: lease, deadline, turn: null, gathered: new Map() };
  try {
    const begun = connection.query(`begin; select set_config('forecourt.dealer_id', '${ctx.dealer.id}', true)`);
    begun.catch(() => undefined); // Its failure shows in the next statement, which is already on its way.
    const tx = { ...ctx, tx: open, db: boundTo(lease) };
    const result = await work(tx);
    await writeGathered({ ...tx, now: open.turn ?? tx.now });
    lease.end();
    await connection.query('commit');
    return result;
  } catch (error) {
    lease.end();
    await connection.query('rollback').catch((fault: Error) => {
      broken = fault;
    });
    throw error;
  } finally {
    connection.release(broken);
  }
}

/** A connection until its transaction is over. Whoever goes on then, because what was asked beside it failed, would meet another's. */
function leaseOf(connection: Connection): Connection & { end(): void } {
  let over = false;
  const query = (...asked: [string]) => (over ? Promise.reject(new Error('The transaction is over.')) : connection.query(...asked));
  return {
    query: query as Connection['query'],
    end() {
      over = true;
    },
  };
}

/** Keeps a row for the writer, which is called once with all of them before the transaction commits. */
export function gather<T>(tx: Context, writer: Writer<T>, row: T): void {
  const { gathered } = transactionOf(tx);
  const rows = gathered.get(writer);
  if (rows) rows.push(row);
  else gathered.set(writer, [row]);
}

/** Does the work so that whatever it throws undoes it alone, and the transaction can go on. */
export async function undoneIfThrown<T>(tx: Context, work: () => Promise<T>): Promise<T> {
  const { connection, gathered } = transactionOf(tx);
  const lengths = new Map([...gathered].map(([writer, rows]) => [writer, rows.length]));
  connection.query('savepoint work').catch(() => undefined);
  try {
    const result = await work();
    connection.query('release savepoint work').catch(() => undefined);
    return result;
  } catch (error) {
    for (const [writer, rows] of gathered) rows.length = lengths.get(writer) ?? 0;
    await connection.query('rollback to savepoint work');
    throw error;
  }
}

/** The same, with a refusal as a value. */
export const undoneIfRefused = <T>(tx: Context, work: () => Promise<T>): Promise<T | Refusal> =>
  undoneIfThrown(tx, work).catch((error: unknown) => {
    if (error instanceof Refusal) return error;
    throw error;
  });

async function withTurn(ctx: Context, open: OpenTransaction, busy: Busy): Promise<Context> {
  open.turn ??= await takeTurn(open, ctx.dealer.id, ctx.service.clock(), busy);
  return ctx.now === open.turn ? ctx : { ...ctx, now: open.turn };
}

/** A writer may gather rows for another (an event its deliveries), hence the loop. */
async function writeGathered(tx: Context): Promise<void> {
  const { gathered } = transactionOf(tx);
  while (gathered.size > 0) {
    const batch = [...gathered];
    gathered.clear();
    // Sent together, so that they cost one wait.
    await all(batch.map(([writer, rows]) => (rows.length > 0 ? (writer as Writer)(tx, rows) : undefined)));
  }
}

/** Fails with the first that fails, when all have ended: nothing is sent any more over a connection that was given back. */
async function all(works: readonly (Promise<void> | undefined)[]): Promise<void> {
  try {
    await Promise.all(works);
  } finally {
    await Promise.allSettled(works);
  }
}

/** The connection of the open transaction, for what writes through a library of its own. */
export const transactionConnection = (tx: Context): Connection => transactionOf(tx).connection;

function transactionOf(tx: Context): OpenTransaction {
  if (!tx.tx) throw new Error('This is done inside a transaction only.');
  return tx.tx;
}

/** The next numbers of a series of this dealer, without gaps; the turn keeps everyone else away until the commit. Returns the first. */
export async function takeNumbers(tx: Context, series: string, count: number): Promise<number> {
  const { rows } = await transactionOf(tx).connection.query({
    ...prepared(`insert into counter as c (dealer_id, series, last) values ($1, $2, $3)
                 on conflict (dealer_id, series) do update set last = c.last + excluded.last returning last`),
    values: [tx.dealer.id, series, count],
  });
  return rows[0].last - count + 1;
}
