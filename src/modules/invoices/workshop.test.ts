import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Dealership } from '../../../test/support/dealership.ts';
import { dealership } from '../../../test/support/dealership.ts';
import { completedJobCard, toldUnder } from '../../../test/support/selling.ts';
import { creditInvoice, raiseWorkshopInvoice, recordPayment } from './index.ts';

type Json = ReturnType<typeof JSON.parse>;
const refuses = (work: Promise<unknown>, code: string) => assert.rejects(work, { code });

const cardOf = async ({ service, id }: Dealership, cardId: string): Promise<{ status: string; updated_at: string }> => {
  const { rows } = await service.pools.doors.query('select status, updated_at from job_card where dealer_id = $1 and id = $2', [
    id,
    cardId,
  ]);
  return rows[0];
};

test('a job card is invoiced with the authorised lines of who pays, an MOT outside the scope of VAT, and is INVOICED then', async () => {
  const d = await dealership();
  const card = await completedJobCard(d, [
    { description: 'Service', quantity: 1.5, unit_price: 8_333 },
    { kind: 'SUBLET', description: 'Wheel repair', unit_price: 4_999, discount: 500, vat_code: 'REDUCED' },
    { kind: 'MOT', description: 'MOT test', unit_price: 5_485, vat_code: 'OUTSIDE_SCOPE' },
    { description: 'Not wanted', unit_price: 9_900, status: 'DECLINED', authorised: false },
    { description: 'Not asked', unit_price: 9_900, authorised: false },
    { description: 'For nothing', unit_price: 9_900, pay_type: 'GOODWILL' },
    { kind: 'NOTE', description: 'Customer waits' },
  ]);
  const { id } = await raiseWorkshopInvoice(d.ctx, card.id, { due_on: '2031-01-31' });
  const invoice = await d.api.get(`/v1/invoices/${id}`).succeeds();
  assert.deepEqual(
    [invoice.number, invoice.type, invoice.status, invoice.job_card_id, invoice.prices_include_vat, invoice.due_on],
    ['WKS-000001', 'WORKSHOP', 'ISSUED', card.id, false, '2031-01-31'],
  );
  assert.deepEqual([invoice.customer_id, invoice.bill_to.name, invoice.job_card.status], [card.customer.id, 'Oak', 'INVOICED']);
  assert.match(invoice.statements[0], /^For job card \d+, registration WK51SHP\.$/);
  assert.deepEqual(
    invoice.lines.map(({ kind, description, quantity, vat_rate_bps, net, vat, gross }: Json) => [
      ...[kind, description, quantity, vat_rate_bps, net.amount, vat.amount, gross.amount],
    ]),
    [
      ['LABOUR', 'Service', 1.5, 2000, 12_500, 2_500, 15_000],
      ['SUBLET', 'Wheel repair', 1, 500, 4_499, 225, 4_724],
      ['MOT', 'MOT test', 1, null, 5_485, 0, 5_485],
    ],
  );
  assert.deepEqual([invoice.totals.net.amount, invoice.totals.vat.amount, invoice.totals.gross.amount], [22_484, 2_725, 25_209]);
  assert.ok(invoice.lines.every((line: { job_line_id: unknown }) => line.job_line_id !== null));
  assert.equal((await cardOf(d, card.id)).status, 'INVOICED');
});

test('a job card is told when its invoice is paid, in part and in full', async () => {
  const d = await dealership();
  const card = await completedJobCard(d, [{ unit_price: 5_000 }]);
  const { id } = await raiseWorkshopInvoice(d.ctx, card.id);
  const times = [(await cardOf(d, card.id)).updated_at];
  for (const amount of [1_000, 1_000, 4_000]) {
    await recordPayment(d.ctx, id, { method: 'CARD', amount });
    times.push((await cardOf(d, card.id)).updated_at);
  }
  const moved = times.slice(1).map((time, at) => time !== times[at]);
  assert.deepEqual(moved, [true, false, true], 'a second part changes nothing of what the card tells');
});

test('the warrantor or insurer pays for its card, and an internal card is not invoiced', async () => {
  const d = await dealership();
  const lines = [
    { unit_price: 5_000, pay_type: 'WARRANTY' },
    { unit_price: 9_000, pay_type: 'INTERNAL' },
  ];
  const card = await completedJobCard(d, lines, { type: 'WARRANTY' });
  const invoice = await raiseWorkshopInvoice(d.ctx, card.id, { bill_to: { name: 'A Maker Ltd', vat_number: 'GB2' } });
  assert.deepEqual([invoice.bill_to, invoice.totals.net.amount], [{ name: 'A Maker Ltd', address: null, vat_number: 'GB2' }, 5_000]);
  await refuses(raiseWorkshopInvoice(d.ctx, (await completedJobCard(d, lines, { type: 'INTERNAL' })).id), 'request_refused');
  await refuses(raiseWorkshopInvoice(d.ctx, (await completedJobCard(d, lines.slice(1))).id), 'request_refused');
  await refuses(raiseWorkshopInvoice(d.ctx, (await completedJobCard(d, lines)).id), 'request_refused');
  await refuses(raiseWorkshopInvoice(d.ctx, (await completedJobCard(d, lines, { customer_id: null })).id), 'request_refused');
});

test('a job card shows its invoice beside the id: null without sales:read', async () => {
  const d = await dealership();
  const card = await completedJobCard(d, [{ unit_price: 5_000 }]);
  const { id, number } = await raiseWorkshopInvoice({ ...d.ctx, requestId: 'raise' }, card.id);
  assert.deepEqual((await d.api.get(`/v1/job-cards/${card.id}`).succeeds()).invoice, { id, number, status: 'ISSUED' });
  const workshop = await d.apiWith({ scopes: ['workshop:read'] });
  const seen = await workshop.get(`/v1/job-cards/${card.id}`).succeeds();
  assert.deepEqual([seen.invoice_id, seen.invoice, seen.invoice_status], [id, null, 'ISSUED']);
  const [told] = await toldUnder(d, 'raise');
  assert.deepEqual([told?.object.invoice_id, told?.object.invoice], [id, null]);
});

test('a card is invoiced once, and by who reaches it', async () => {
  const d = await dealership();
  const away = await d.newBranch();
  const card = await completedJobCard(d, [{ unit_price: 5_000 }]);
  const elsewhere = { ...d.ctx, caller: { ...d.ctx.caller, branches: [away.id] } };
  await refuses(raiseWorkshopInvoice(elsewhere, card.id), 'not_found');
  await refuses(raiseWorkshopInvoice(d.ctx, '00000000-0000-4000-8000-000000000000'), 'not_found');
  const both = await Promise.allSettled([raiseWorkshopInvoice(d.ctx, card.id), raiseWorkshopInvoice(d.ctx, card.id)]);
  const refused = both.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []));
  assert.deepEqual(refused, ['request_refused']);
});

test('a job card tells that it is invoiced, part paid, paid and credited, each with one job_card.updated', async () => {
  const d = await dealership();
  const card = await completedJobCard(d, [{ unit_price: 5_000 }]);
  const told: unknown[] = [];
  const under = async <T>(request: string, work: (ctx: Dealership['ctx']) => Promise<T>): Promise<T> => {
    const done = await work({ ...d.ctx, requestId: request });
    for (const { type, object, changed } of await toldUnder(d, request))
      told.push([type, object.invoice_status, object.is_paid, changed.join()]);
    return done;
  };
  const { id } = await under('raise', (ctx) => raiseWorkshopInvoice(ctx, card.id));
  await under('first', (ctx) => recordPayment(ctx, id, { method: 'CARD', amount: 1_000 }));
  await under('second', (ctx) => recordPayment(ctx, id, { method: 'CARD', amount: 1_000 }));
  await under('last', (ctx) => recordPayment(ctx, id, { method: 'CARD', amount: 4_000 }));
  const paid = await d.api.patch(`/v1/job-cards/${card.id}`, { status: 'COMPLETED' });
  assert.deepEqual([paid.status, paid.body.code], [409, 'job_card_paid']);
  await under('credit', (ctx) => creditInvoice(ctx, id));
  assert.deepEqual(told, [
    ['job_card.updated', 'ISSUED', false, 'status,invoice_id,invoice_status'],
    ['job_card.updated', 'PART_PAID', false, 'invoice_status'],
    ['job_card.updated', 'PAID', true, 'invoice_status,is_paid'],
    ['job_card.updated', 'CREDITED', false, 'invoice_status,is_paid'],
  ]);
  await d.api.patch(`/v1/job-cards/${card.id}`, { status: 'IN_PROGRESS' }).succeeds();
});
