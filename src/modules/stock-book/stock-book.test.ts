import assert from 'node:assert/strict';
import { test } from 'node:test';
import { creditInvoice, raiseSalesInvoice } from '#modules/invoices/index.ts';
import { setUser } from '#modules/staff/index.ts';
import { dealership } from '../../../test/support/dealership.ts';
import { extra, orderedDeal } from '../../../test/support/selling.ts';

const nobody = '00000000-0000-4000-8000-000000000000';
const car = { condition: 'USED', make: 'Ford', model: 'Focus' };

type Json = ReturnType<typeof JSON.parse>;

const idsOf = (rows: { id: string }[]) => rows.map(({ id }) => id);
const money = (amount: number) => ({ amount, currency: 'GBP' });

test('the stock book has the purchase and the sale of a car, its margin and the VAT due on it', async () => {
  const d = await dealership();
  d.clock.set('2031-03-31T23:30:00Z');
  const costs = {
    purchase_price: 850_000,
    purchased_on: '2031-01-05',
    supplier_name: 'A Supplier Ltd',
    purchase_invoice_number: 'P-7',
    // Neither counts to the margin.
    other: 12_300,
  };
  const about = { derivative: 'ST', vin: 'WF0AXXGCDA1234567', first_registered_on: '2020-03-02', costs };
  const deal = await orderedDeal(d, { discount: 49_500, extras: [extra('WARRANTY', 39_900)] }, about);
  const entry = async () => (await d.api.get(`/v1/stock-book?ids=${deal.vehicle.id}`).succeeds())[0];
  const inStock = {
    id: deal.vehicle.id,
    stock_number: deal.vehicle.stock_number,
    registration: deal.vehicle.registration,
    vin: 'WF0AXXGCDA1234567',
    description: '2020 Ford Focus ST',
    first_registered_on: '2020-03-02',
    purchased_on: '2031-01-05',
    purchase_invoice_number: 'P-7',
    supplier_name: 'A Supplier Ltd',
    purchase_price: money(850_000),
    sold_on: null,
    sales_invoice_number: null,
    buyer_name: null,
    selling_price: null,
    disposal_method: null,
    margin: null,
    vat_due: null,
  };
  const { updated_at: before, ...bought } = await entry();
  assert.deepEqual(bought, inStock);

  d.clock.move({ minutes: 1 });
  const { id, number } = await raiseSalesInvoice(d.ctx, deal.id);
  const { updated_at: after, ...sold } = await entry();
  assert.deepEqual(sold, {
    ...inStock,
    // In London it is summer, and April.
    sold_on: '2031-04-01',
    sales_invoice_number: number,
    buyer_name: 'Kim Ash',
    selling_price: money(1_000_000),
    disposal_method: 'RETAIL',
    margin: money(150_000),
    vat_due: money(25_000),
  });
  assert.ok(after > before, 'who follows the list is told');

  d.clock.move({ minutes: 1 });
  await creditInvoice(d.ctx, id);
  const { updated_at: back, ...returned } = await entry();
  assert.deepEqual(returned, inStock);
  assert.ok(back > after);
  d.clock.release();
});

test('a loss owes no VAT; without the margin scheme or a purchase price there is no margin', async () => {
  const d = await dealership();
  const sold = async (terms: object, about: object) => {
    const deal = await orderedDeal(d, terms, about);
    await raiseSalesInvoice(d.ctx, deal.id);
    const [{ margin, vat_due, selling_price }] = await d.api.get(`/v1/stock-book?ids=${deal.vehicle.id}`).succeeds();
    return [selling_price.amount, margin?.amount ?? null, vat_due?.amount ?? null];
  };
  assert.deepEqual(await sold({ vehicle_price: 800_000 }, {}), [800_000, -50_000, 0]);
  assert.deepEqual(await sold({ vehicle_price: 850_003 }, {}), [850_003, 3, 1]);
  assert.deepEqual(await sold({ vehicle_price: 900_000 }, { vat_scheme: 'VAT_QUALIFYING' }), [900_000, null, null]);
  assert.deepEqual(await sold({ vehicle_price: 900_000 }, { costs: null }), [900_000, null, null]);
});

test('a car that was disposed of otherwise left on the day it was said', async () => {
  const d = await dealership();
  d.clock.set('2031-07-31T23:30:00Z');
  const { id } = await d.api.post('/v1/vehicles', { ...car, status: 'DISPOSED' }).succeeds(201);
  const [entry] = await d.api.get(`/v1/stock-book?ids=${id}`).succeeds();
  assert.deepEqual([entry.sold_on, entry.disposal_method, entry.selling_price, entry.margin], ['2031-08-01', 'DISPOSED', null, null]);
  d.clock.release();
});

test('a stock number that was given stays in the book: a car whose record was deleted is shown as withdrawn on that day', async () => {
  const d = await dealership();
  d.clock.set('2031-07-31T23:30:00Z');
  const costs = { purchase_price: 850_000, purchased_on: '2031-01-05' };
  const { id, stock_number } = await d.api.post('/v1/vehicles', { ...car, costs }).succeeds(201);
  const disposed = await d.api.post('/v1/vehicles', { ...car, status: 'DISPOSED' }).succeeds(201);
  d.clock.move({ days: 1 });
  const before = (await d.api.get('/v1/stock-book').succeeds()).at(-1).updated_at;
  for (const gone of [id, disposed.id]) await d.api.delete(`/v1/vehicles/${gone}`).succeeds();
  const book = await d.api.get('/v1/stock-book').succeeds();
  const shown = book.map(({ stock_number, purchased_on, purchase_price, sold_on, disposal_method, margin }: Json) => {
    return [stock_number, purchased_on, purchase_price?.amount ?? null, sold_on, disposal_method, margin];
  });
  assert.deepEqual(shown, [
    [stock_number, '2031-01-05', 850_000, '2031-08-02', 'WITHDRAWN', null],
    [disposed.stock_number, null, null, '2031-08-01', 'DISPOSED', null],
  ]);
  assert.ok(book[0].updated_at > before, 'who follows the list is told');
  assert.deepEqual(await d.api.get('/v1/stock-book?open=true').succeeds(), []);
  d.clock.release();
});

test('the stock book is filtered by purchase, sale and what is open', async () => {
  const d = await dealership();
  const bought = async (purchased_on: string) => (await d.api.post('/v1/vehicles', { ...car, costs: { purchased_on } }).succeeds(201)).id;
  const [early, late] = [await bought('2031-01-05'), await bought('2031-02-05')];
  const plain = (await d.api.post('/v1/vehicles', car).succeeds(201)).id;
  d.clock.set('2031-03-01T09:00:00Z');
  const deal = await orderedDeal(d);
  await raiseSalesInvoice(d.ctx, deal.id);
  d.clock.release();
  const sold = deal.vehicle.id;
  const found = async (query: string) => idsOf(await d.api.get(`/v1/stock-book?${query}`).succeeds());
  for (const [query, expected] of [
    ['', [early, late, plain, sold]],
    ['purchased_from=2031-02-05', [late]],
    ['purchased_from=2031-01-05&purchased_to=2031-01-31', [early]],
    ['sold_from=2031-03-01&sold_to=2031-03-01', [sold]],
    ['sold_from=2031-03-02', []],
    ['sold_to=2031-02-28', []],
    ['open=true', [early, late, plain]],
    ['open=false', [sold]],
    [`ids=${plain},${nobody}`, [plain]],
    [`branch_id=${nobody}`, []],
    ['updated_since=2031-03-01T09:00:00Z', [sold]],
  ] as const) {
    assert.deepEqual(await found(query), expected, query);
  }
  const first = await d.api.get('/v1/stock-book?limit=3');
  assert.deepEqual(await found(`limit=3&cursor=${first.body.meta.next_cursor}`), [sold]);
  for (const [query, field] of [
    ['open=maybe', 'open'],
    ['sold_from=March', 'sold_from'],
    ['include_deleted=true', 'include_deleted'],
    [`cursor=${first.body.meta.next_cursor}x`, 'cursor'],
  ] as const) {
    const { errors } = await d.api.get(`/v1/stock-book?${query}`).refuses(422, 'validation_failed');
    assert.deepEqual(Object.keys(errors), [field], query);
  }
});

test('the stock book is read with vehicles:costs, which needs STOCK_COSTS, by secret keys within their branches', async () => {
  const d = await dealership();
  const away = await d.newBranch();
  const here = (await d.api.post('/v1/vehicles', car).succeeds(201)).id;
  const there = (await d.api.post('/v1/vehicles', { ...car, branch_id: away.id }).succeeds(201)).id;
  assert.deepEqual(idsOf(await (await d.apiWith({ branchIds: [away.id] })).get('/v1/stock-book').succeeds()), [there]);
  assert.deepEqual(idsOf(await (await d.apiWith({ scopes: ['vehicles:costs'] })).get('/v1/stock-book').succeeds()), [here, there]);

  await d.api.as(null).get('/v1/stock-book').refuses(401, 'missing_api_key');
  await (await d.apiWith({ kind: 'publishable' })).get('/v1/stock-book').refuses(403, 'secret_key_required');
  const reader = await d.apiWith({ scopes: ['vehicles:read', 'sales:read'] });
  assert.deepEqual((await reader.get('/v1/stock-book').refuses(403, 'insufficient_scope')).required, { scope: 'vehicles:costs' });
  const manager = await d.newUser({ role: 'SALES_MANAGER' });
  const theirs = await d.apiWith({ ownerId: manager.id });
  await theirs.get('/v1/stock-book').succeeds();
  await setUser(d.ctx, manager.email, { without: ['STOCK_COSTS'] });
  const { required } = await theirs.get('/v1/stock-book').refuses(403, 'scope_not_permitted_for_owner');
  assert.deepEqual(required, { scope: 'vehicles:costs', permission: 'STOCK_COSTS' });
});

test('the sandbox has no stock book; it says so after scope and permission, and before the query', async () => {
  const d = await dealership();
  const api = await d.apiWith({ environment: 'test' });
  const { required } = await api.get('/v1/stock-book').refuses(403, 'not_available_in_sandbox');
  assert.deepEqual(required, { restriction: 'sandbox' });
  await api.get('/v1/stock-book?open=maybe').refuses(403, 'not_available_in_sandbox');
  const other = await d.apiWith({ environment: 'test', scopes: ['vehicles:read'] });
  await other.get('/v1/stock-book').refuses(403, 'insufficient_scope');
});
