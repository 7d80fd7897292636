import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getDocumentProxy } from 'unpdf';
import type { Dealership } from '../../../test/support/dealership.ts';
import { dealership } from '../../../test/support/dealership.ts';
import { completedJobCard, exchange, extra, orderedDeal } from '../../../test/support/selling.ts';
import { creditInvoice, raisePartsInvoice, raiseSalesInvoice, raiseWorkshopInvoice, recordPayment } from './index.ts';

type Json = ReturnType<typeof JSON.parse>;

const pathOf = (url: string) => new URL(url).pathname + new URL(url).search;

async function pdfOf({ app, api }: Dealership, { id }: { id: string }) {
  const { pdf_url } = await api.get(`/v1/invoices/${id}`).succeeds();
  const response = await app.inject({ method: 'GET', url: pathOf(pdf_url) });
  assert.equal(response.statusCode, 200);
  return { response, pages: await textOf(response.rawPayload) };
}

/** The text of each page. */
async function textOf(bytes: Buffer): Promise<string[]> {
  const pdf = await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0 });
  const pages: string[] = [];
  for (let page = 1; page <= pdf.numPages; page++) {
    const { items } = await (await pdf.getPage(page)).getTextContent();
    // A line may end between any two words.
    const text = items.map((item: Json) => item.str + (item.hasEOL ? '\n' : '')).join('');
    pages.push(text.replaceAll(/\s+/g, ' '));
  }
  await pdf.loadingTask.destroy();
  return pages;
}

const has = (text: string, ...parts: string[]) => {
  for (const part of parts) assert.ok(text.includes(part), `"${part}" stands in:\n${text}`);
};
const lacks = (text: string, ...parts: (string | RegExp)[]) => {
  for (const part of parts)
    assert.ok(typeof part === 'string' ? !text.includes(part) : !part.test(text), `${part} does not stand in:\n${text}`);
};

test('the link of an invoice opens it as a PDF for 30 minutes, without a key, and nobody in between keeps it', async () => {
  const d = await dealership();
  d.clock.set('2031-05-01T09:00:00Z');
  const invoice = await raisePartsInvoice(d.ctx, { bill_to: { name: 'Cash sale' }, lines: [{ description: 'A bulb', unit_price: 100 }] });
  const { response } = await pdfOf(d, invoice);
  assert.equal(response.headers['content-type'], 'application/pdf');
  assert.equal(response.headers['content-disposition'], 'inline; filename="PRT-000001.pdf"');
  assert.equal(response.headers['cache-control'], 'private, no-store');
  assert.equal(Number(response.headers['content-length']), response.rawPayload.length);
  assert.equal(response.rawPayload.subarray(0, 5).toString(), '%PDF-');

  const { pdf_url } = await d.api.get(`/v1/invoices/${invoice.id}`).succeeds();
  const status = async (url: string, method: 'GET' | 'HEAD' = 'GET') => (await d.app.inject({ method, url })).statusCode;
  d.clock.move({ minutes: 29, seconds: 59 });
  assert.equal(await status(pathOf(pdf_url)), 200);
  assert.equal(await status(pathOf(pdf_url), 'HEAD'), 200);
  d.clock.move({ seconds: 1 });
  assert.equal(await status(pathOf(pdf_url)), 404);
  const { pdf_url: fresh } = await d.api.get(`/v1/invoices/${invoice.id}`).succeeds();
  assert.equal(await status(pathOf(fresh)), 200);
  d.clock.release();
});

test('a link that has ended or was altered answers as one that never was', async () => {
  const d = await dealership();
  const [mine, theirs] = [
    await raisePartsInvoice(d.ctx, { bill_to: { name: 'A' }, lines: [{ description: 'A bulb', unit_price: 100 }] }),
    await raisePartsInvoice(d.ctx, { bill_to: { name: 'B' }, lines: [{ description: 'A bulb', unit_price: 100 }] }),
  ];
  const partsOf = (url: string | null) => (/\?link=([\w-]+)\.([\w-]+)$/.exec(url ?? '') ?? []).slice(1) as [string, string];
  const [[content, signature], [other]] = [partsOf(mine.pdf_url), partsOf(theirs.pdf_url)];
  const sealed = JSON.parse(Buffer.from(content, 'base64url').toString());
  const later = Buffer.from(JSON.stringify(['2099-01-01T00:00:00.000000Z', ...sealed.slice(1)])).toString('base64url');
  const told = async (path: string) => {
    const { statusCode, headers, payload } = await d.app.inject({ method: 'GET', url: path });
    const { request_id: _id, ...body } = JSON.parse(payload);
    return { statusCode, type: headers['content-type'], body };
  };
  const never = await told('/invoices/never.pdf');
  assert.deepEqual([never.statusCode, never.body.code], [404, 'not_found']);
  for (const path of [
    ...[
      `${other}.${signature}`,
      `${later}.${signature}`,
      content,
      `.${signature}`,
      `${content}.${signature.slice(1)}`,
      `${content}.${signature}.`,
    ],
    ...['', mine.id],
    // Signed with the same key for another purpose.
    `${content}.${d.service.keyring.sign('cursor', JSON.stringify(sealed)).toString('base64url')}`,
  ]
    .map((link) => `PRT-000001.pdf?link=${link}`)
    .concat(
      `PRT-000002.pdf?link=${content}.${signature}`,
      `?link=${content}.${signature}`,
      `PRT-000001.pdf?link=a&link=${content}.${signature}`,
    )) {
    assert.deepEqual(await told(`/invoices/${path}`), never, path);
  }
});

test('the invoice of a margin car shows stock number, registration and the scheme, and no VAT on the car', async () => {
  const d = await dealership();
  await d.service.pools.doors.query("update dealer set vat_number = 'GB 123 4567 89' where id = $1", [d.id]);
  const deal = await orderedDeal(d, { discount: 49_500 });
  const { pages } = await pdfOf(d, await raiseSalesInvoice(d.ctx, deal.id));
  const [text = ''] = pages;
  has(text, 'Test Motors', 'Invoice SAL-000001', 'VAT number: GB 123 4567 89', 'Kim Ash', '1 Station Road', 'BS1 4DJ');
  has(text, '2020 Ford Focus', `registration ${deal.vehicle.registration}`, `stock number ${deal.vehicle.stock_number}`);
  has(text, 'margin scheme – second-hand goods', '£10,495.00', 'Discount -£495.00', '£10,000.00', 'SAL-000001 · 1/1');
  // Neither a column, nor a rate, nor an amount: the VAT of the margin would be 250.00, that of the price 1,666.67.
  lacks(text, '20 %', 'with VAT', 'without VAT', 'Without VAT', 'Tax point', '£250.00', '£1,666.67');
  assert.equal(text.match(/VAT/g)?.length, 2, 'the number of the dealership, and the scheme');
});

test('beside a margin car the VAT of other lines is shown, and what was paid', async () => {
  const d = await dealership();
  const terms = {
    extras: [extra('WARRANTY', 39_900), extra('ROAD_TAX', 19_000, 'OUTSIDE_SCOPE')],
    part_exchanges: [exchange(400_000, 150_000)],
  };
  const sale = await raiseSalesInvoice(d.ctx, (await orderedDeal(d, terms)).id);
  await recordPayment(d.ctx, sale.id, { method: 'BANK_TRANSFER', amount: 100_000, paid_on: '2031-01-30', reference: 'TR-5' });
  const { pages } = await pdfOf(d, sale);
  const [text = ''] = pages;
  has(text, 'Price with VAT', 'Warranty', '£399.00', '20 %', 'VAT 20 % on £332.50', '£66.50', 'Road tax', 'Total', '£11,084.00');
  has(text, 'Part exchange, PX01OLD', '-£2,500.00', 'Bank transfer, TR-5, 30 January 2031', '-£1,000.00', 'Outstanding', '£7,584.00');
  has(text, 'margin scheme – second-hand goods');
  lacks(text, 'Without VAT', 'on £10,495.00', '£1,749.17');
});

test('the invoice of the workshop shows prices without VAT, and VAT by rate; an MOT has none', async () => {
  const d = await dealership();
  const card = await completedJobCard(d, [
    { description: 'Service', quantity: 1.5, unit_price: 8_333 },
    { kind: 'MOT', description: 'MOT test', unit_price: 5_485, vat_code: 'OUTSIDE_SCOPE' },
  ]);
  const { pages } = await pdfOf(d, await raiseWorkshopInvoice(d.ctx, card.id));
  const [text = ''] = pages;
  has(
    text,
    'Price without VAT',
    '1.5',
    '£83.33',
    '£125.00',
    'MOT test',
    '£54.85',
    'Without VAT',
    '£179.85',
    'VAT 20 % on £125.00',
    '£25.00',
    '£204.85',
  );
  has(text, 'WK51SHP', 'Tax point');
});

test('a credit note names what it credits, and a credited invoice says so', async () => {
  const d = await dealership();
  const deal = await orderedDeal(d, { part_exchanges: [exchange(400_000)] });
  const sale = await raiseSalesInvoice(d.ctx, deal.id);
  const note = await creditInvoice(d.ctx, sale.id);
  const [text = ''] = (await pdfOf(d, note)).pages;
  has(text, 'Credit note CRN-000001', 'Credits invoice SAL-000001', 'margin scheme – second-hand goods');
  // From what it comes to, less what nobody had paid, to what is given back: the worth of the part exchange.
  has(text, 'Total -£10,495.00', 'Set off, as it was not paid £6,495.00', 'Outstanding -£4,000.00');
  has((await pdfOf(d, sale)).pages[0]!, 'This invoice was credited.');
});

test('a long invoice turns the page, with its head and a number on each, and letters of every language', async () => {
  const d = await dealership();
  const lines = Array.from({ length: 90 }, (_, n) => ({
    description: `Část č. ${n + 1} – Łożysko, ψυγείο, ${'a long word '.repeat(n % 9)}`,
    unit_price: n,
  }));
  const { pages } = await pdfOf(d, await raisePartsInvoice(d.ctx, { bill_to: { name: 'Šimůnková s.r.o.' }, lines }));
  assert.ok(pages.length >= 3, String(pages.length));
  for (const [at, text] of pages.entries()) has(text, `PRT-000001 · ${at + 1}/${pages.length}`);
  for (const text of pages.slice(0, -1)) has(text, 'Description');
  has(pages.join('\n'), 'Šimůnková', 'Část č. 1 ', 'Část č. 90 ', 'Łożysko', 'ψυγείο', 'Total');
});
