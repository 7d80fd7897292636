import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Context } from '#platform/context.ts';
import type { Dealership } from '../../../test/support/dealership.ts';
import { dealership } from '../../../test/support/dealership.ts';
import { movementsOf, partWith, shelf } from '../../../test/support/workshop.ts';
import { partListQuery } from './contract.ts';
import { changePart, countParts, createPart, listParts, partStock, receiveParts } from './index.ts';

const nobody = '00000000-0000-4000-8000-000000000000';
const filter = { part_number: 'of-10  42', description: 'Oil filter', unit_price: 1_150 };

/** What a member of staff of some branches alone does. */
const at = ({ ctx }: Dealership, ...branchIds: string[]): Context => ({ ...ctx, caller: { ...ctx.caller, branches: branchIds } });

const activities = async ({ service, id }: Dealership) => {
  const { rows } = await service.pools.doors.query(
    "select action, fields from activity where dealer_id = $1 and record_type = 'part' order by at",
    [id],
  );
  return rows.map(({ action, fields }) => [action, fields.join()]);
};

test('a part is known by its number, and its price changes without a change of its stock', async () => {
  const dealer = await dealership();
  const part = await createPart(dealer.ctx, filter);
  assert.deepEqual([part.part_number, part.unit_cost, part.vat_code, part.stock], ['OF-10 42', 0, 'STANDARD', []]);
  await assert.rejects(createPart(dealer.ctx, { ...filter, part_number: 'OF-10 42' }), { code: 'validation_failed' });
  const other = await createPart(dealer.ctx, { ...filter, part_number: 'X' });
  await assert.rejects(changePart(dealer.ctx, other.id, { part_number: 'of-10 42' }), { code: 'validation_failed' });
  await assert.rejects(changePart(dealer.ctx, nobody, { unit_price: 1 }), { code: 'not_found' });
  await assert.rejects(createPart(dealer.ctx, { ...filter, unit_price: 1.5 }), { code: 'validation_failed' });

  const changed = await changePart(dealer.ctx, part.id, { unit_price: 1_250, description: 'Oil filter' });
  assert.equal(changed.unit_price, 1_250);
  assert.deepEqual(await changePart(dealer.ctx, part.id, { unit_price: 1_250 }), changed, 'nothing changes');
  assert.deepEqual(await activities(dealer), [
    ['created', 'part_number,description,unit_price,unit_cost,vat_code'],
    ['created', 'part_number,description,unit_price,unit_cost,vat_code'],
    ['updated', 'unit_price'],
  ]);
});

test('parts come in and are counted, each with a movement that names its cause', async () => {
  const dealer = await dealership();
  const [filters, oil] = [await createPart(dealer.ctx, filter), await createPart(dealer.ctx, { ...filter, part_number: 'OIL' })];
  const lines = [
    { part_id: filters.id, quantity: 4 },
    { part_id: oil.id, quantity: 2.5 },
  ];
  await receiveParts(dealer.ctx, { note: 'Delivery note 17', lines });
  await receiveParts(dealer.ctx, { lines: [{ part_id: oil.id, quantity: 0.001 }] });
  assert.deepEqual([await shelf(dealer, filters), await shelf(dealer, oil)], ['4/0', '2.501/0']);
  await countParts(dealer.ctx, {
    note: 'Year end',
    lines: [
      { part_id: filters.id, on_hand: 3 },
      { part_id: oil.id, on_hand: 2.501 },
    ],
  });
  assert.equal(await shelf(dealer, filters), '3/0');

  const movements = await movementsOf(dealer);
  assert.deepEqual(movements.map(({ kind, on_hand, cause_kind }) => `${kind} ${on_hand} ${cause_kind}`).sort(), [
    'COUNTED -1 stocktake',
    'RECEIVED 0.001 delivery',
    'RECEIVED 2.5 delivery',
    'RECEIVED 4 delivery',
  ]);
  assert.equal(new Set(movements.map(({ cause_id }) => cause_id)).size, 3, 'two lines of one delivery have one cause');
  const { rows } = await dealer.service.pools.doors.query('select distinct note from stock_movement where dealer_id = $1', [dealer.id]);
  assert.deepEqual(rows.map(({ note }) => note).sort(), ['Delivery note 17', 'Year end', null].sort());
});

test('what is wrong with a delivery is said by line, and nothing of it is booked', async () => {
  const dealer = await dealership();
  const { id } = await createPart(dealer.ctx, filter);
  const lines = [
    { part_id: id, quantity: 1 },
    { part_id: nobody, quantity: 1 },
  ];
  await assert.rejects(receiveParts(dealer.ctx, { lines }), { fields: { 'lines.1.part_id': ['The dealership has no such part.'] } });
  for (const quantity of [0, -1, 0.0001, 1_000_000])
    await assert.rejects(receiveParts(dealer.ctx, { lines: [{ part_id: id, quantity }] }), { code: 'validation_failed' });
  await assert.rejects(receiveParts(dealer.ctx, { lines: [] }), { code: 'validation_failed' });
  assert.deepEqual(await movementsOf(dealer), []);
});

test('stock lies at a branch: who works at another neither books nor sees it', async () => {
  const dealer = await dealership();
  const away = await dealer.newBranch();
  const part = await partWith(dealer, 5);
  await receiveParts(at(dealer, away.id), { lines: [{ part_id: part.id, quantity: 2 }] });
  const seen = async (...branchIds: string[]) => (await partStock(at(dealer, ...branchIds), part.id)).map(({ on_hand }) => on_hand);
  assert.deepEqual([await seen(away.id), await seen(dealer.branch.id), await seen()], [[2], [5], []]);
  await assert.rejects(receiveParts(at(dealer, away.id), { branch_id: dealer.branch.id, lines: [{ part_id: part.id, quantity: 2 }] }), {
    code: 'branch_move_not_permitted',
  });
  await assert.rejects(countParts(dealer.ctx, { branch_id: nobody, lines: [{ part_id: part.id, on_hand: 2 }] }), {
    code: 'validation_failed',
  });
  await assert.rejects(partStock((await dealership()).ctx, part.id), { code: 'not_found' });
});

test('the catalogue is listed page by page, by the beginning of a number or a word', async () => {
  const { ctx } = await dealership();
  for (const [part_number, description] of [
    ['OF-1', 'Oil filter'],
    ['AF-1', 'Air filter'],
    ['100%', 'Cleaner'],
  ] as const)
    await createPart(ctx, { part_number, description, unit_price: 1 });
  const found = async (q?: string) =>
    (await listParts(ctx, partListQuery.parse({ ...(q && { q }) }))).data.map(({ part_number }) => part_number);
  assert.deepEqual(await found(), ['OF-1', 'AF-1', '100%']);
  assert.deepEqual(
    [await found('of'), await found('FILTER'), await found('100%'), await found('%')],
    [['OF-1'], ['OF-1', 'AF-1'], ['100%'], []],
  );
  const first = await listParts(ctx, partListQuery.parse({ limit: '2' }));
  assert.equal(first.meta.has_more, true);
  const rest = await listParts(ctx, partListQuery.parse({ limit: '2', cursor: first.meta.next_cursor }));
  assert.deepEqual(
    rest.data.map(({ part_number }) => part_number),
    ['100%'],
  );
});
