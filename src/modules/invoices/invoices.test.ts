import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arrangeList } from '#modules/reference/index.ts';
import { setUser } from '#modules/staff/index.ts';
import type { Dealership } from '../../../test/support/dealership.ts';
import { dealership } from '../../../test/support/dealership.ts';
import { completedJobCard } from '../../../test/support/selling.ts';
import { draftInvoice, issueDraft, raisePartsInvoice, raiseWorkshopInvoice, recordPayment, voidDraft } from './index.ts';

const nobody = '00000000-0000-4000-8000-000000000000';
const cashSale = { bill_to: { name: 'Cash sale' }, lines: [{ description: 'Oil filter', unit_price: 995 }] };

type Json = ReturnType<typeof JSON.parse>;
const idsOf = (rows: { id: string }[]) => rows.map(({ id }) => id);
const refuses = (work: Promise<unknown>, code: string, fields?: string[]) =>
  assert.rejects(work, (error: { code: string; fields?: object }) => {
    assert.deepEqual([error.code, fields && Object.keys(error.fields ?? {})], [code, fields]);
    return true;
  });

const activityOf = async ({ service, id }: Dealership, invoiceId: string): Promise<[string, string[]][]> => {
  const { rows } = await service.pools.doors.query(
    "select action, fields from activity where dealer_id = $1 and record_type = 'invoice' and record_id = $2 order by at, id",
    [id, invoiceId],
  );
  return rows.map(({ action, fields }) => [action, fields]);
};

test('parts sold over the counter are invoiced, and read with their lines', async () => {
  const d = await dealership();
  d.clock.set('2031-01-31T23:30:00Z');
  const address = { line1: '1 Station Road', postcode: 'BS1 4DJ' };
  const customer = await d.api
    .post('/v1/customers', { company_name: 'Ash Ltd', email: 'ash@customer.example', vat_number: 'GB1', address })
    .succeeds(201);
  const made = await raisePartsInvoice(d.ctx, {
    customer_id: customer.id,
    due_on: '2031-02-28',
    lines: [
      { description: 'Oil', quantity: 4.5, unit_price: 1_233, discount: 49 },
      { description: 'Child seat', unit_price: 5_000, vat_code: 'REDUCED' },
    ],
  });
  const { pdf_url, ...invoice } = await d.api.get(`/v1/invoices/${made.id}`).succeeds();
  assert.match(pdf_url, /^http:\/\/127\.0\.0\.1:4000\/invoices\/PRT-000001\.pdf\?link=[\w-]+\.[\w-]+$/);
  const money = (amount: number) => ({ amount, currency: 'GBP' });
  assert.deepEqual(invoice, {
    id: made.id,
    number: 'PRT-000001',
    type: 'PARTS',
    status: 'ISSUED',
    branch_id: d.branch.id,
    branch: { id: d.branch.id, name: d.branch.name },
    customer_id: customer.id,
    customer: { id: customer.id, reference: customer.reference, display_name: 'Ash Ltd' },
    bill_to: { name: 'Ash Ltd', address: customer.address, vat_number: 'GB1' },
    deal_id: null,
    deal: null,
    job_card_id: null,
    job_card: null,
    vehicle_id: null,
    vehicle: null,
    credit_note_of_id: null,
    credit_note_of: null,
    // In London it is winter, and still January.
    issued_on: '2031-01-31',
    tax_point_on: '2031-01-31',
    due_on: '2031-02-28',
    prices_include_vat: false,
    totals: { net: money(10_500), vat: money(1_350), gross: money(11_850), paid: money(0), outstanding: money(11_850) },
    vat_summary: [
      { vat_code: 'STANDARD', rate_bps: 2000, net: money(5_500), vat: money(1_100) },
      { vat_code: 'REDUCED', rate_bps: 500, net: money(5_000), vat: money(250) },
    ],
    margin_scheme: false,
    statements: [],
    payments: [],
    created_at: '2031-01-31T23:30:00Z',
    updated_at: '2031-01-31T23:30:00Z',
    lines: [
      {
        id: made.lines[0]!.id,
        position: 0,
        kind: 'PART',
        description: 'Oil',
        quantity: 4.5,
        unit_price: money(1_233),
        discount: money(49),
        vat_code: 'STANDARD',
        vat_rate_bps: 2000,
        net: money(5_500),
        vat: money(1_100),
        gross: money(6_600),
        vehicle_id: null,
        job_line_id: null,
      },
      {
        id: made.lines[1]!.id,
        position: 1,
        kind: 'PART',
        description: 'Child seat',
        quantity: 1,
        unit_price: money(5_000),
        discount: money(0),
        vat_code: 'REDUCED',
        vat_rate_bps: 500,
        net: money(5_000),
        vat: money(250),
        gross: money(5_250),
        vehicle_id: null,
        job_line_id: null,
      },
    ],
  });
  const { lines: _lines, ...listed } = invoice;
  assert.deepEqual(await d.api.get('/v1/invoices').succeeds(), [listed], 'lists omit the lines and the PDF');
  assert.deepEqual(await activityOf(d, made.id), [['created', []]]);
  d.clock.release();
});

test('an invoice is dated in the time zone of the dealership', async () => {
  const d = await dealership();
  d.clock.set('2031-06-30T23:30:00Z');
  assert.equal((await raisePartsInvoice(d.ctx, cashSale)).issued_on, '2031-07-01');
  d.clock.release();
});

test('what the key may not read of other resources is null, and the ids stay', async () => {
  const d = await dealership();
  const customer = await d.api.post('/v1/customers', { last_name: 'Ash', email: 'ash@customer.example' }).succeeds(201);
  const { id } = await raisePartsInvoice(d.ctx, { ...cashSale, customer_id: customer.id });
  const api = await d.apiWith({ scopes: ['sales:read'] });
  const invoice = await api.get(`/v1/invoices/${id}`).succeeds();
  assert.deepEqual([invoice.branch, invoice.customer, invoice.customer_id], [null, null, customer.id]);
  assert.equal(invoice.bill_to.name, 'Cash sale');
});

test('invoices are read with sales:read, which needs SALES_VIEW of the owner; not by publishable keys', async () => {
  const d = await dealership();
  const { id } = await raisePartsInvoice(d.ctx, cashSale);
  const [none, clerk, website] = [
    await d.apiWith({ scopes: ['customers:read', 'sales:write'] }),
    await d.newUser({ role: 'ACCOUNTS' }),
    await d.apiWith({ kind: 'publishable' }),
  ];
  const theirs = await d.apiWith({ ownerId: clerk.id });
  for (const path of ['/v1/invoices', `/v1/invoices/${id}`]) {
    await d.api.as(null).get(path).refuses(401, 'missing_api_key');
    assert.deepEqual((await none.get(path).refuses(403, 'insufficient_scope')).required, { scope: 'sales:read' });
    await website.get(path).refuses(403, 'secret_key_required');
    await theirs.get(path).succeeds();
  }
  await setUser(d.ctx, clerk.email, { without: ['SALES_VIEW'] });
  for (const path of ['/v1/invoices', `/v1/invoices/${id}`]) {
    const { required } = await theirs.get(path).refuses(403, 'scope_not_permitted_for_owner');
    assert.deepEqual(required, { scope: 'sales:read', permission: 'SALES_VIEW' });
  }
});

test('a key of some branches sees their invoices alone', async () => {
  const d = await dealership();
  const away = await d.newBranch();
  const [here, there] = [await raisePartsInvoice(d.ctx, cashSale), await raisePartsInvoice(d.ctx, { ...cashSale, branch_id: away.id })];
  const api = await d.apiWith({ branchIds: [away.id] });
  assert.deepEqual(idsOf(await api.get('/v1/invoices').succeeds()), [there.id]);
  await api.get(`/v1/invoices/${here.id}`).refuses(404, 'not_found');
  await api.get(`/v1/invoices/${nobody}`).refuses(404, 'not_found');
  assert.deepEqual(idsOf(await d.api.get(`/v1/invoices?branch_id=${d.branch.id}`).succeeds()), [here.id]);
});

test('invoices are filtered by what they are and what they are about; unknown codes and parameters are refused', async () => {
  const d = await dealership();
  const customer = await d.api.post('/v1/customers', { last_name: 'Ash', email: 'ash@customer.example' }).succeeds(201);
  d.clock.set('2031-01-10T09:00:00Z');
  const paid = await raisePartsInvoice(d.ctx, { ...cashSale, customer_id: customer.id });
  await recordPayment(d.ctx, paid.id, { method: 'CASH', amount: paid.totals.gross.amount });
  d.clock.set('2031-01-11T09:00:00Z');
  const part = await raisePartsInvoice(d.ctx, cashSale);
  await recordPayment(d.ctx, part.id, { method: 'CARD', amount: 500 });
  d.clock.set('2031-01-12T09:00:00Z');
  const draft = await draftInvoice(d.ctx, cashSale);
  const card = await completedJobCard(d, [{ unit_price: 5_000 }]);
  const job = await raiseWorkshopInvoice(d.ctx, card.id);
  d.clock.release();
  const found = async (query: string) => idsOf(await d.api.get(`/v1/invoices?${query}`).succeeds());
  const all = [paid.id, part.id, draft.id, job.id];
  for (const [query, expected] of [
    ['', all],
    ['status=PAID', [paid.id]],
    ['status=PAID,PART_PAID', [paid.id, part.id]],
    ['status=DRAFT', [draft.id]],
    ['type=PARTS', [paid.id, part.id, draft.id]],
    ['type=WORKSHOP,DEPOSIT', [job.id]],
    [`customer_id=${customer.id}`, [paid.id]],
    [`customer_id=${customer.id},${card.customer.id}`, [paid.id, job.id]],
    [`job_card_id=${card.id}`, [job.id]],
    [`deal_id=${nobody}`, []],
    [`vehicle_id=${nobody}`, []],
    [`number=${part.number}`, [part.id]],
    ['issued_from=2031-01-11', [part.id, job.id]],
    ['issued_from=2031-01-11&issued_to=2031-01-11', [part.id]],
    ['issued_to=2031-01-10', [paid.id]],
    ['outstanding=true', [part.id, job.id]],
    ['outstanding=false', [paid.id, draft.id]],
    ['created_since=2031-01-11T09:00:00Z&created_before=2031-01-12T09:00:00Z', [part.id]],
    ['updated_since=2031-01-11T09:00:00Z&type=PARTS', [part.id, draft.id]],
    [`ids=${job.id},${nobody}`, [job.id]],
  ] as const) {
    assert.deepEqual(await found(query), expected, query);
  }
  const first = await d.api.get('/v1/invoices?limit=2');
  const { next_cursor } = first.body.meta;
  assert.deepEqual(idsOf(first.body.data), all.slice(0, 2));
  assert.deepEqual(await found(`limit=2&cursor=${next_cursor}`), all.slice(2));
  for (const [query, field] of [
    ['status=OPEN', 'status'],
    ['type=PROFORMA', 'type'],
    ['issued_from=yesterday', 'issued_from'],
    ['outstanding=yes', 'outstanding'],
    ['include_deleted=true', 'include_deleted'],
    ['external_id=a', 'external_id'],
    [`cursor=${next_cursor}&limit=1&type=PARTS`, 'cursor'],
  ] as const) {
    const { errors } = await d.api.get(`/v1/invoices?${query}`).refuses(422, 'validation_failed');
    assert.deepEqual(Object.keys(errors), [field], query);
  }
});

test('a draft has no number; it is issued with the next of its series, or becomes void without one', async () => {
  const d = await dealership();
  const [draft, other] = [await draftInvoice(d.ctx, cashSale), await draftInvoice(d.ctx, cashSale)];
  assert.deepEqual(
    [draft.status, draft.number, draft.issued_on, draft.tax_point_on, draft.due_on, draft.pdf_url, draft.totals.outstanding.amount],
    ['DRAFT', null, null, null, null, null, 0],
  );
  await refuses(recordPayment(d.ctx, draft.id, { method: 'CASH', amount: 1 }), 'request_refused');
  assert.equal((await raisePartsInvoice(d.ctx, cashSale)).number, 'PRT-000001');
  const gone = await voidDraft(d.ctx, other.id);
  assert.deepEqual([gone.status, gone.number, gone.pdf_url, gone.totals.outstanding.amount], ['VOID', null, null, 0]);
  const issued = await issueDraft(d.ctx, draft.id);
  assert.deepEqual([issued.status, issued.number, issued.totals.outstanding.amount], ['ISSUED', 'PRT-000002', 1_194]);
  assert.equal(issued.due_on, issued.issued_on);
  for (const id of [issued.id, gone.id]) {
    await refuses(issueDraft(d.ctx, id), 'request_refused');
    await refuses(voidDraft(d.ctx, id), 'request_refused');
  }
  assert.deepEqual(await activityOf(d, other.id), [
    ['created', []],
    ['updated', ['status']],
  ]);
});

test('an invoice is paid in parts: ISSUED, PART_PAID, PAID, and never more than it comes to', async () => {
  const d = await dealership();
  await arrangeList(d.ctx, 'payment-methods', [
    { code: 'X_VOUCHER', name: 'Voucher' },
    ...['CARD', 'BANK_TRANSFER', 'CASH', 'CHEQUE', 'FINANCE', 'PART_EXCHANGE', 'DEPOSIT', 'OTHER'].map((code) => ({ code })),
  ]);
  const { id, updated_at } = await raisePartsInvoice(d.ctx, cashSale);
  d.clock.move({ minutes: 1 });
  const part = await recordPayment(d.ctx, id, { method: 'X_VOUCHER', amount: 194, paid_on: '2031-01-30', reference: 'V-9' });
  assert.deepEqual([part.status, part.totals.paid.amount, part.totals.outstanding.amount], ['PART_PAID', 194, 1_000]);
  assert.deepEqual(
    part.payments.map(({ id: _id, ...payment }) => payment),
    [{ method: 'X_VOUCHER', amount: { amount: 194, currency: 'GBP' }, paid_on: '2031-01-30', reference: 'V-9' }],
  );
  assert.ok(part.updated_at > updated_at);
  await refuses(recordPayment(d.ctx, id, { method: 'CASH', amount: 1_001 }), 'validation_failed', ['amount']);
  await refuses(recordPayment(d.ctx, id, { method: 'CASH', amount: 0 }), 'validation_failed', ['amount']);
  await refuses(recordPayment(d.ctx, id, { method: 'X_OTHER', amount: 1 }), 'validation_failed', ['method']);
  await refuses(recordPayment(d.ctx, id, { method: 'GOLD', amount: 1 }), 'validation_failed', ['method']);
  await refuses(recordPayment(d.ctx, id, { method: 'DEPOSIT', amount: 1 }), 'validation_failed', ['method']);
  d.clock.move({ minutes: 1 });
  const whole = await recordPayment(d.ctx, id, { method: 'CARD', amount: 1_000 });
  assert.deepEqual([whole.status, whole.totals.outstanding.amount, whole.payments.length], ['PAID', 0, 2]);
  await refuses(recordPayment(d.ctx, id, { method: 'CARD', amount: 1 }), 'request_refused');
  await refuses(recordPayment(d.ctx, nobody, { method: 'CARD', amount: 1 }), 'not_found');
  assert.deepEqual(
    (await activityOf(d, id)).map(([, fields]) => fields.join()),
    ['', 'payments,totals,status', 'payments,totals,status'],
  );
  d.clock.release();
});

test('an invoice over the counter names a customer within reach, or whom to bill', async () => {
  const d = await dealership();
  const away = await d.newBranch();
  const customer = await d.api.post('/v1/customers', { last_name: 'Ash', email: 'ash@customer.example', branch_id: away.id }).succeeds(201);
  const { lines } = cashSale;
  const here = { ...d.ctx, caller: { ...d.ctx.caller, branches: [d.branch.id] } };
  await refuses(raisePartsInvoice(d.ctx, { lines }), 'validation_failed', ['customer_id']);
  await refuses(raisePartsInvoice(d.ctx, { lines, customer_id: nobody }), 'validation_failed', ['customer_id']);
  await refuses(raisePartsInvoice(here, { lines, customer_id: customer.id }), 'validation_failed', ['customer_id']);
  await refuses(raisePartsInvoice(here, { ...cashSale, branch_id: away.id }), 'branch_move_not_permitted');
  await refuses(raisePartsInvoice(d.ctx, { ...cashSale, lines: [] }), 'validation_failed', ['lines']);
  const dear: Json = {
    ...cashSale,
    lines: [
      { description: 'Oil', unit_price: 100, discount: 101 },
      { description: 'Oil', unit_price: -1 },
    ],
  };
  await refuses(raisePartsInvoice(d.ctx, dear), 'validation_failed', ['lines.1.unit_price']);
  await refuses(raisePartsInvoice(d.ctx, { ...dear, lines: dear.lines.slice(0, 1) }), 'validation_failed', ['lines.0.discount']);
  const made = await raisePartsInvoice(d.ctx, { lines, customer_id: customer.id });
  assert.deepEqual([made.number, made.bill_to], ['PRT-000001', { name: 'Ash', address: null, vat_number: null }]);
});

test('an invoice of nothing is paid at once', async () => {
  const d = await dealership();
  const free = await raisePartsInvoice(d.ctx, { ...cashSale, lines: [{ description: 'A bulb', unit_price: 0 }] });
  assert.deepEqual([free.status, free.totals.gross.amount], ['PAID', 0]);
});
