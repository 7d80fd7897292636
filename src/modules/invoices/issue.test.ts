import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Context } from '#platform/context.ts';
import { inTransaction, transactionConnection, undoneIfThrown } from '#platform/db/transaction.ts';
import { Refusal } from '#platform/errors.ts';
import { dealership } from '../../../test/support/dealership.ts';
import { completedJobCard, orderedDeal } from '../../../test/support/selling.ts';
import { creditInvoice, draftInvoice, issueDraft, raisePartsInvoice, raiseSalesInvoice, raiseWorkshopInvoice } from './index.ts';

const cashSale = { bill_to: { name: 'Cash sale' }, lines: [{ description: 'A bulb', unit_price: 100 }] };

const raise = (ctx: Context) => raisePartsInvoice(ctx, cashSale);

/** How a raise may fail, after it has taken its number. */
const failures: readonly ((ctx: Context) => Promise<unknown>)[] = [
  (ctx) =>
    inTransaction(ctx, async (tx) => {
      await raise(tx);
      throw new Error('The process stumbles.');
    }),
  (ctx) =>
    inTransaction(ctx, async (tx) => {
      await raise(tx);
      throw new Refusal('request_refused');
    }),
  // Undone alone, in a transaction that goes on and commits.
  (ctx) =>
    inTransaction(ctx, (tx) =>
      undoneIfThrown(tx, async () => {
        await raise(tx);
        throw new Error('The process stumbles.');
      }).catch(() => undefined),
    ),
];

/** The server cuts the connection off in the middle. Rarer, since the next has to be opened. */
const cutOff = (ctx: Context) =>
  inTransaction(ctx, async (tx) => {
    await raise(tx);
    await transactionConnection(tx).query('select pg_terminate_backend(pg_backend_pid())');
  });

const wayOf = (n: number) => (n % 50 === 7 ? cutOff : n % 4 === 3 ? failures[Math.floor(n / 4) % failures.length]! : raise);

/** As a client does it: again, as long as the dealership is busy. */
async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== 'stock_busy') throw error;
    }
  }
}

test('1,000 raised at once, a share of them failing, leave numbers without a gap and none twice', async () => {
  const { ctx, service, id } = await dealership();
  const ways = Array.from({ length: 1_000 }, (_, n) => wayOf(n));
  const outcomes = await Promise.allSettled(ways.map((way) => patiently(() => way(ctx))));
  const thrown = outcomes.flatMap((outcome, n) => (outcome.status === 'rejected' && ways[n] === raise ? [outcome.reason] : []));
  assert.deepEqual(thrown, [], 'what was not made to fail succeeds');

  const { rows } = await service.pools.doors.query('select number, updated_at from invoice where dealer_id = $1 order by number', [id]);
  const raised = ways.filter((way) => way === raise).length;
  const expected = Array.from({ length: raised }, (_, n) => `PRT-${String(n + 1).padStart(6, '0')}`);
  assert.deepEqual(
    rows.map(({ number }) => number),
    expected,
  );
  const times = rows.map(({ updated_at }) => updated_at as string);
  assert.deepEqual(times, [...new Set(times)].sort(), 'and they follow the order of the commits');
  const left = await service.pools.doors.query(
    `select (select count(*) from invoice_line where dealer_id = $1) as lines,
       (select count(*) from activity where dealer_id = $1 and record_type = 'invoice') as activities`,
    [id],
  );
  assert.deepEqual(left.rows[0], { lines: raised, activities: raised }, 'of what failed nothing is left');
});

test('no deal has two sales that stand, and no job card two bills, whoever writes', async () => {
  const d = await dealership();
  const sale = await raiseSalesInvoice(d.ctx, (await orderedDeal(d)).id);
  const bill = await raiseWorkshopInvoice(d.ctx, (await completedJobCard(d, [{ unit_price: 5_000 }])).id);
  const copy = (id: string, status: string) =>
    d.service.pools.doors.query(
      `insert into invoice select r.* from invoice i, jsonb_populate_record(null::invoice,
         to_jsonb(i) || jsonb_build_object('id', gen_random_uuid(), 'number', 'COPY-' || i.number, 'status', $3::text)) r
       where i.dealer_id = $1 and i.id = $2`,
      [d.id, id, status],
    );
  for (const { id } of [sale, bill]) {
    for (const status of ['ISSUED', 'PART_PAID', 'PAID']) await assert.rejects(copy(id, status), { code: '23505' });
    await copy(id, 'CREDITED');
  }
});

test('each type of invoice has a series of its own, and each dealership its own numbers', async () => {
  const [mine, theirs] = [await dealership(), await dealership()];
  const first = await raise(mine.ctx);
  const note = await creditInvoice(mine.ctx, first.id);
  const draft = await draftInvoice(mine.ctx, cashSale);
  const numbers = [first, note, await raise(mine.ctx), await issueDraft(mine.ctx, draft.id), await raise(theirs.ctx)].map(
    ({ number }) => number,
  );
  assert.deepEqual(numbers, ['PRT-000001', 'CRN-000001', 'PRT-000002', 'PRT-000003', 'PRT-000001']);
});
