import type { Instant } from '../dates.ts';
import type { Code } from '../errors.ts';
import { Refusal } from '../errors.ts';
import type { Connection } from './connect.ts';
import { prepared } from './connect.ts';

// The row is locked before the clock is read, so that the time of a turn is never earlier than the commit of the turn before.
const take = prepared(`
  with mine as materialized (select dealer_id from dealer_clock where dealer_id = $1 for update)
  update dealer_clock c set last = greatest(coalesce($2::timestamptz, clock_timestamp()), c.last + interval '1 microsecond')
    from mine where c.dealer_id = mine.dealer_id
  returning c.last`);

const lockNotAvailable = '55P03';

/**
 * Takes the dealer's turn, held until the transaction ends: one writer per dealer at a time, in the order of their times,
 * so that no row ever appears behind a reader's cursor. A turn not had within 5 s is refused; the request can be retried.
 */
export async function takeTurn(connection: Connection, dealerId: string, clock: Instant | null, busy: Code): Promise<Instant> {
  try {
    const { rows } = await connection.query({ ...take, values: [dealerId, clock] });
    if (rows.length === 0) throw new Error('The dealer has no clock.');
    return rows[0].last;
  } catch (error) {
    if ((error as { code?: string }).code !== lockNotAvailable) throw error;
    throw new Refusal(busy, 'The dealership is being written to. Retry shortly; it is safe to.', { retryAfterSeconds: 5 });
  }
}
