import type { Instant } from '../dates.ts';
import { prepared } from './connect.ts';
import type { Busy } from './line.ts';
import { busyRefusal } from './line.ts';
import type { OpenTransaction } from './open-transaction.ts';

// The row is locked before the clock is read, so that the time of a turn is never earlier than the commit of the turn before.
const take = prepared(`
  with mine as materialized (select dealer_id from dealer_clock where dealer_id = $1 for update)
  update dealer_clock c set last = greatest(coalesce($2::timestamptz, clock_timestamp()), c.last + interval '1 microsecond')
    from mine where c.dealer_id = mine.dealer_id
  returning c.last`);

/** PostgreSQL stopped the statement for its time. */
const outOfTime = '57014';

/**
 * Takes the dealer's turn, held until the transaction ends: one writer per dealer at a time, in the order of their times,
 * so that no row ever appears behind a reader's cursor. A turn not had in time is refused; the request can be retried.
 */
export async function takeTurn(
  { connection, deadline }: OpenTransaction,
  dealerId: string,
  clock: Instant | null,
  busy: Busy,
): Promise<Instant> {
  // The time of the statement, as that of a lock is counted anew for each lock on the way to the row.
  const left = Math.max(1, Math.round(deadline - performance.now()));
  connection.query(`set local statement_timeout = ${left}`).catch(() => undefined);
  const taking = connection.query({ ...take, values: [dealerId, clock] });
  connection.query(`set local statement_timeout = '30s'`).catch(() => undefined);
  try {
    const { rows } = await taking;
    if (rows.length === 0) throw new Error('The dealer has no clock.');
    return rows[0].last;
  } catch (error) {
    if ((error as { code?: string }).code !== outOfTime) throw error;
    throw busyRefusal(busy);
  }
}
