import assert from 'node:assert/strict';
import { test } from 'node:test';
import { partStock } from '#modules/parts/index.ts';
import { dealership } from '../../../test/support/dealership.ts';
import { cardWith, lineOf, movementsOf, partWith, shelf } from '../../../test/support/workshop.ts';
import { creditInvoice, draftInvoice, issueDraft, raisePartsInvoice, voidDraft } from './index.ts';

const bill_to = { name: 'Cash sale' };

test('parts sold over the counter leave the shelf of the branch, and come back when they are credited', async () => {
  const d = await dealership();
  const away = await d.newBranch();
  const part = await partWith(d, 5, away.id);
  const lines = [
    { part_number: part.part_number.toLowerCase(), quantity: 2 },
    { description: 'A rag', unit_price: 50 },
  ];
  const invoice = await raisePartsInvoice(d.ctx, { bill_to, branch_id: away.id, lines });
  assert.deepEqual(
    invoice.lines.map(({ kind, description, unit_price, vat_code, net }) => [kind, description, unit_price.amount, vat_code, net.amount]),
    [
      ['PART', `Oil filter (${part.part_number})`, 1_000, 'STANDARD', 2_000],
      ['PART', 'A rag', 50, 'STANDARD', 50],
    ],
  );
  assert.equal('part_id' in invoice.lines[0]!, false, 'the API has no such field');
  assert.equal(await shelf(d, part, away.id), '3/0');
  const [stock] = await partStock(d.ctx, part.id);
  assert.equal(stock?.issued, 0, 'no job has them');

  const note = await creditInvoice(d.ctx, invoice.id);
  assert.equal(await shelf(d, part, away.id), '5/0');
  const moved = (await movementsOf(d, part)).map(({ kind, on_hand, cause_kind, cause_id, cause_line_id }) => [
    ...[kind, on_hand, cause_kind],
    ...(kind === 'RECEIVED' ? [] : [cause_id, cause_line_id]),
  ]);
  assert.deepEqual(moved, [
    ['RECEIVED', 5, 'delivery'],
    ['ISSUED', -2, 'invoice', invoice.id, invoice.lines[0]?.id],
    ['RETURNED', 2, 'invoice', note.id, note.lines[0]?.id],
  ]);
});

test('what is not on hand, or put by for a job, is not sold', async () => {
  const d = await dealership();
  const part = await partWith(d, 2);
  await cardWith(d, [lineOf(part)], { status: 'BOOKED' });
  const sell = (quantity: number) => raisePartsInvoice(d.ctx, { bill_to, lines: [{ part_number: part.part_number, quantity }] });
  await assert.rejects(sell(2), ({ code, message }: { code: string; message: string }) => {
    return code === 'request_refused' && message.includes(part.part_number);
  });
  const { number } = await sell(1);
  assert.deepEqual([number, await shelf(d, part)], ['PRT-000001', '1/1']);
  await assert.rejects(sell(0.001), { code: 'request_refused' });
});

test('a draft takes nothing off the shelf until it is issued', async () => {
  const d = await dealership();
  const part = await partWith(d, 1);
  const sold = { bill_to, lines: [{ part_number: part.part_number, unit_price: 1_300, vat_code: 'ZERO' as const }] };
  const [first, second, third] = [await draftInvoice(d.ctx, sold), await draftInvoice(d.ctx, sold), await draftInvoice(d.ctx, sold)];
  await voidDraft(d.ctx, third.id);
  assert.equal(await shelf(d, part), '1/0');
  const issued = await issueDraft(d.ctx, first.id);
  assert.deepEqual([issued.totals.gross.amount, await shelf(d, part)], [1_300, '0/0']);
  await assert.rejects(issueDraft(d.ctx, second.id), { code: 'request_refused' });
  assert.equal((await d.api.get(`/v1/invoices/${second.id}`).succeeds()).status, 'DRAFT');
});

test('a line names a part of the catalogue, or says what it is and costs', async () => {
  const d = await dealership();
  const wrong = (line: object, field: string) =>
    assert.rejects(raisePartsInvoice(d.ctx, { bill_to, lines: [{ description: 'A rag', unit_price: 50 }, line] }), ({ fields }) => {
      return field in fields;
    });
  await wrong({ part_number: 'NEVER' }, 'lines.1.part_number');
  await wrong({ unit_price: 50 }, 'lines.1.description');
  await wrong({ description: 'A rag' }, 'lines.1.unit_price');
});
