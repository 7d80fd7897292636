import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EnquiryStatus } from './contract.ts';
import { enquiryStatuses } from './contract.ts';
import type { PartExchangeStatus, Standing } from './rules.ts';
import { checkEnquiry, checkInvoiced, checkMove, checkPartExchange, isAnswered } from './rules.ts';

const noContact = { first_name: null, last_name: null, company_name: null, email: null, mobile: null, phone: null };
const enquiry: Standing = {
  id: '1',
  status: 'NEW',
  branch_id: 'b',
  contact: null,
  wanted: null,
  part_exchange: null,
  lost_reason: null,
  lost_note: null,
  metadata: {},
  dealt: { invoiced: false, exchange: null },
};

const fieldsOf = (work: () => void): string[] => {
  try {
    work();
  } catch (refusal) {
    return Object.keys((refusal as { fields: object }).fields);
  }
  return [];
};

test('open enquiries move freely and may end; what ended is opened again as CONTACTED; a won one stays won', () => {
  const open = ['NEW', 'CONTACTED', 'APPOINTMENT', 'NEGOTIATING'];
  for (const from of enquiryStatuses) {
    for (const to of enquiryStatuses.filter((status) => status !== 'WON')) {
      const ended = from === 'LOST' || from === 'DISQUALIFIED';
      const allowed = from === to || open.includes(from) || (ended && to === 'CONTACTED');
      assert.deepEqual(
        fieldsOf(() => checkMove(from, to)),
        allowed ? [] : ['status'],
        `${from} to ${to}`,
      );
    }
  }
});

test('someone has responded from CONTACTED on, and not by losing or disqualifying', () => {
  const answered: EnquiryStatus[] = ['CONTACTED', 'APPOINTMENT', 'NEGOTIATING', 'WON'];
  assert.deepEqual(enquiryStatuses.filter(isAnswered), answered);
});

test('LOST needs a reason, and reasons are for those that ended', () => {
  const check = (of: Partial<Standing>, written: Parameters<typeof checkEnquiry>[1]) =>
    fieldsOf(() => checkEnquiry({ ...enquiry, ...of }, written));
  assert.deepEqual(check({ status: 'LOST' }, { status: 'LOST' }), ['lost_reason']);
  assert.deepEqual(check({ status: 'LOST', lost_reason: 'OTHER' }, { status: 'LOST' }), []);
  assert.deepEqual(check({ status: 'DISQUALIFIED' }, { lost_note: 'Spam' }), []);
  assert.deepEqual(check({}, { lost_reason: 'OTHER', lost_note: 'x' }), ['lost_reason', 'lost_note']);
  assert.deepEqual(check({ status: 'WON' }, { lost_reason: 'OTHER' }), ['lost_reason']);
});

test('a contact has a name, and an e-mail or a number', () => {
  const check = (contact: Standing['contact'], written = true) =>
    fieldsOf(() => checkEnquiry({ ...enquiry, contact }, written ? { contact: {} } : {}));
  assert.deepEqual(check({ ...noContact, title: 'Dr' } as Standing['contact']), ['contact.last_name', 'contact.email']);
  assert.deepEqual(check({ ...noContact, first_name: 'Kim', phone: '+1' }), []);
  assert.deepEqual(check({ ...noContact, company_name: 'Ash Ltd', email: 'a@b.example' }), []);
  assert.deepEqual(check(null), ['contact']);
  assert.deepEqual(check(noContact, false), [], 'only when it is written');
});

test('what is looked for costs no less than at least', () => {
  const wanted = (min_price: number | null, max_price: number | null) =>
    fieldsOf(() => checkEnquiry({ ...enquiry, wanted: { min_price, max_price } }, { wanted: {} }));
  assert.deepEqual(wanted(2, 1), ['wanted.max_price']);
  for (const [min, max] of [
    [1, 1],
    [null, 1],
    [2, null],
  ] as const)
    assert.deepEqual(wanted(min, max), []);
});

const { dealt } = enquiry;

test('a part exchange can be forgotten until it is appraised', () => {
  const of = (status: PartExchangeStatus) => ({ part_exchange: { status, registration: null }, dealt });
  checkPartExchange(of('OFFERED'), null);
  checkPartExchange({ part_exchange: null, dealt }, null);
  for (const status of ['APPRAISED', 'AGREED', 'RECEIVED'] as const) {
    assert.throws(() => checkPartExchange(of(status), null), { code: 'enquiry_has_part_exchange' });
    assert.throws(() => checkPartExchange(of(status), { part_exchange: null }), { code: 'enquiry_has_part_exchange' });
    checkPartExchange(of(status), of(status));
  }
});

test('a part exchange that a deal has agreed on or received is not forgotten either', () => {
  const offer = { status: 'OFFERED', registration: null } as const;
  for (const exchange of ['AGREED', 'RECEIVED'] as const) {
    const traded = { part_exchange: offer, dealt: { invoiced: false, exchange } };
    assert.throws(() => checkPartExchange(traded, null), { message: new RegExp(exchange.toLowerCase()) });
    assert.throws(() => checkPartExchange(traded, { part_exchange: null }), { code: 'enquiry_has_part_exchange' });
    checkPartExchange(traded, { part_exchange: offer });
    const unknown = { ...traded, part_exchange: null };
    assert.throws(() => checkPartExchange(unknown, null), { code: 'enquiry_has_part_exchange' });
    checkPartExchange(unknown, { part_exchange: null });
  }
});

test('an enquiry whose deal is invoiced is neither deleted, lost nor disqualified', () => {
  const won = { status: 'WON', dealt: { invoiced: true, exchange: null } } as const;
  assert.throws(() => checkInvoiced(won, null), { code: 'enquiry_has_invoiced_order' });
  for (const status of ['LOST', 'DISQUALIFIED'] as const)
    assert.throws(() => checkInvoiced(won, { status }), { code: 'enquiry_has_invoiced_order' });
  for (const status of ['WON', 'CONTACTED'] as const) checkInvoiced(won, { status });
  checkInvoiced({ ...won, dealt }, null);
});
