import type { QueryResultRow } from 'pg';
import type { Service } from '../service.ts';
import { prepared } from './connect.ts';

/**
 * One statement over all dealers, in a transaction and an exchange of its own. It goes from index to index as its text spells out,
 * whatever the planner believes of tables that are empty one minute and full the next. `lock`: only one at a time has it, from
 * before the statement looks until what it wrote is seen by all.
 */
export async function alongIndexes<R extends QueryResultRow>(
  { pools }: Service,
  text: string,
  values: unknown[],
  lock?: string,
): Promise<R[]> {
  const connection = await pools.doors.connect();
  let broken: Error | undefined;
  try {
    // Sent together. What fails undoes all of it: the commit of a transaction that failed is its end.
    const sent = [
      connection.query(`begin; select ${settings}${lock ? `; select pg_advisory_xact_lock(hashtextextended('${lock}', 0))` : ''}`),
      connection.query<R>({ ...prepared(text), values }),
      connection.query('commit'),
    ] as const;
    const [begun, asked, ended] = await Promise.allSettled(sent);
    const failed = [asked, begun, ended].find((end) => end.status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
    return asked.status === 'fulfilled' ? asked.value.rows : [];
  } catch (error) {
    // One that the server still answers on can be used again.
    await connection.query('rollback').catch((fault: Error) => {
      broken = fault;
    });
    throw error;
  } finally {
    connection.release(broken);
  }
}

const settings = ['enable_seqscan', 'enable_bitmapscan', 'enable_hashjoin', 'enable_mergejoin', 'jit']
  .map((name) => `set_config('${name}', 'off', true)`)
  .join(', ');
