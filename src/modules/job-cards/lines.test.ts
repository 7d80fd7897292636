import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Dealership } from '../../../test/support/dealership.ts';
import { dealership } from '../../../test/support/dealership.ts';
import { cardWith, invoiceFor, lineOf, movementsOf, partWith, setInvoice, shelf } from '../../../test/support/workshop.ts';
import type { JobCard, NewJobLine } from './contract.ts';
import { addJobLines, authoriseLines, changeJobLine, markInvoiced, removeJobLine, updateJobCard } from './index.ts';

const nobody = '00000000-0000-4000-8000-000000000000';
const labour: NewJobLine = { kind: 'LABOUR', description: 'Service', hours: 1.5, unit_price: 8_333 };

const amountsOf = ({ totals }: JobCard) => Object.fromEntries(Object.entries(totals).map(([name, { amount }]) => [name, amount]));

test('lines are added with what a part, labour and an MOT bring with them, and add up to the penny', async () => {
  const dealer = await dealership();
  const part = await partWith(dealer, 5);
  const card = await cardWith(dealer);
  const { lines, totals } = await addJobLines(dealer.ctx, card.id, [
    { ...labour, technician_id: dealer.owner.id, authorised: true },
    { kind: 'PART', part_number: part.part_number.toLowerCase(), quantity: 2.333, discount: 33 },
    { kind: 'SUBLET', description: 'Wheel repair', unit_price: 4_999, vat_code: 'REDUCED' },
    { kind: 'MOT', description: 'MOT test', unit_price: 5_485, authorised: true },
    { kind: 'NOTE', description: 'Customer waits' },
  ]);
  assert.deepEqual(
    lines.map((line) => [line.kind, line.description, line.quantity, line.hours, line.vat_code, line.net.amount, line.vat.amount]),
    [
      // 1.5 × 83.33 = 124.995
      ['LABOUR', 'Service', 1.5, 1.5, 'STANDARD', 12_500, 2_500],
      ['PART', 'Oil filter', 2.333, null, 'STANDARD', 2_300, 460],
      ['SUBLET', 'Wheel repair', 1, null, 'REDUCED', 4_999, 250],
      ['MOT', 'MOT test', 1, null, 'OUTSIDE_SCOPE', 5_485, 0],
      ['NOTE', 'Customer waits', 1, null, 'STANDARD', 0, 0],
    ],
  );
  assert.deepEqual([lines[0]?.technician_id, lines[0]?.pay_type, lines[0]?.status], [dealer.owner.id, 'CUSTOMER', 'OPEN']);
  assert.deepEqual([lines[0]?.authorised_at !== null, lines[1]?.authorised_at, lines[1]?.part_number], [true, null, part.part_number]);
  const read = await dealer.api.get(`/v1/job-cards/${card.id}`).succeeds();
  assert.deepEqual([read.lines, read.totals], [lines, totals]);
  assert.deepEqual(amountsOf(read), {
    labour: 12_500,
    parts: 2_333,
    sublet: 4_999,
    other: 5_485,
    discount: 33,
    net: 25_284,
    vat: 3_210,
    gross: 28_494,
    authorised: 20_485,
  });
});

test('parts move with the lines of a card that has begun', async () => {
  const dealer = await dealership();
  const part = await partWith(dealer, 5);
  const { ctx } = dealer;
  const card = await cardWith(dealer, [{ ...lineOf(part, 2), authorised: false }], { status: 'BOOKED' });
  const lineId = card.lines[0].id;
  const after = async (change: Promise<JobCard>) => `${(await change).lines[0]?.stock_state} ${await shelf(dealer, part)}`;
  assert.equal(await shelf(dealer, part), '5/0');
  assert.equal(await after(authoriseLines(ctx, card.id, [lineId])), 'RESERVED 5/2');
  assert.equal(await after(changeJobLine(ctx, card.id, lineId, { quantity: 3 })), 'RESERVED 5/3');
  assert.equal(await after(changeJobLine(ctx, card.id, lineId, { quantity: 6 })), 'NONE 5/0');
  assert.equal(await after(changeJobLine(ctx, card.id, lineId, { quantity: 4 })), 'RESERVED 5/4');
  const declined = changeJobLine(ctx, card.id, lineId, { status: 'DECLINED' });
  assert.equal(await after(declined), 'NONE 5/0');
  assert.deepEqual([(await declined).lines[0]?.authorised, amountsOf(await declined).gross], [false, 0]);
  assert.equal(await after(authoriseLines(ctx, card.id, [lineId])), 'RESERVED 5/4');

  await updateJobCard(ctx, card.id, { status: 'COMPLETED' });
  assert.equal(await after(changeJobLine(ctx, card.id, lineId, { quantity: 5 })), 'ISSUED 0/0');
  await assert.rejects(changeJobLine(ctx, card.id, lineId, { quantity: 6 }), { code: 'request_refused' });
  await assert.rejects(addJobLines(ctx, card.id, [lineOf(part)]), { code: 'request_refused' });
  assert.equal(await shelf(dealer, part), '0/0', 'what was refused moved nothing');
  assert.equal((await removeJobLine(ctx, card.id, lineId)).lines.length, 0);
  assert.deepEqual((await dealer.api.get(`/v1/job-cards/${card.id}`).succeeds()).lines, []);
  assert.equal(await shelf(dealer, part), '5/0');
});

test('a line that is written again as it is changes nothing', async () => {
  const dealer = await dealership();
  const part = await partWith(dealer, 5);
  const card = await cardWith(dealer, [lineOf(part, 2)], { status: 'BOOKED' });
  const lineId = card.lines[0].id;
  assert.deepEqual(await changeJobLine(dealer.ctx, card.id, lineId, { quantity: 2, status: 'OPEN' }), card);
  assert.deepEqual(await authoriseLines(dealer.ctx, card.id, [lineId]), card);
  assert.deepEqual(await authoriseLines(dealer.ctx, card.id, []), card);
  assert.equal((await movementsOf(dealer, part)).length, 2, 'received and reserved');
});

test('what was billed stays as it was billed, until the invoice is credited', async () => {
  const dealer = await dealership();
  const card = await cardWith(dealer, [labour]);
  const invoiceId = await invoiceFor(dealer, card.id, 'ISSUED');
  await markInvoiced(dealer.ctx, card.id);
  const lineId = card.lines[0].id;
  for (const refused of [
    () => addJobLines(dealer.ctx, card.id, [labour]),
    () => changeJobLine(dealer.ctx, card.id, lineId, { quantity: 2 }),
    () => removeJobLine(dealer.ctx, card.id, lineId),
    () => authoriseLines(dealer.ctx, card.id, [lineId]),
  ])
    await assert.rejects(refused, { code: 'request_refused' });
  await setInvoice(dealer, invoiceId, 'CREDITED');
  assert.equal((await addJobLines(dealer.ctx, card.id, [labour])).lines.length, 2);
});

test('what is wrong with a line is said by field', async () => {
  const dealer = await dealership();
  const { ctx } = dealer;
  const card = await cardWith(dealer, [labour]);
  const wrong = async (work: Promise<unknown>, ...fields: string[]) =>
    assert.rejects(work, (error: { fields?: object }) => assert.deepEqual(Object.keys(error.fields ?? {}).sort(), fields) ?? true);
  const add = (line: object) => addJobLines(ctx, card.id, [line as NewJobLine]);
  await wrong(add({ kind: 'PART' }), '0.part_number');
  await wrong(add({ kind: 'PART', part_number: 'NONE' }), '0.part_number');
  await wrong(add({ kind: 'LABOUR', part_number: 'NONE' }), '0.description', '0.part_number');
  await wrong(add({ ...labour, kind: 'HOBBY', quantity: 0, vat_code: 'MARGIN' }), '0.kind', '0.quantity', '0.vat_code');
  await wrong(add({ ...labour, discount: 12_501 }), '0.discount');
  await wrong(add({ ...labour, quantity: 2, unit_price: 9_999_999_999 }), '0.quantity');
  await wrong(add({ ...labour, kind: 'MOT', vat_code: 'STANDARD' }), '0.vat_code');
  await wrong(add({ ...labour, technician_id: nobody }), '0.technician_id');
  await wrong(addJobLines(ctx, card.id, [labour, { ...labour, discount: 99_999 }]), '1.discount');
  await wrong(changeJobLine(ctx, card.id, card.lines[0].id, { discount: 99_999 }), 'discount');
  await wrong(changeJobLine(ctx, card.id, card.lines[0].id, { kind: 'PART' } as object), 'kind');
  await assert.rejects(changeJobLine(ctx, card.id, nobody, { quantity: 2 }), { code: 'not_found' });
  await assert.rejects(addJobLines((await stranger()).ctx, card.id, [labour]), { code: 'not_found' });
});

const stranger = (): Promise<Dealership> => dealership();
