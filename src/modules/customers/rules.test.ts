import assert from 'node:assert/strict';
import { test } from 'node:test';
import { postcode } from './contract.ts';
import { checkCustomer, checkDeletable, customerMeant, displayName, duplicatesAmong, nameKey, typeOf } from './rules.ts';

const nobody = { first_name: null, last_name: null, company_name: null, email: null, mobile: null, phone: null };
const known = (id: string, of: Partial<Record<'email' | 'mobile' | 'phone' | 'last_name_key' | 'company_key', string>>) => ({
  id,
  email: null,
  mobile: null,
  phone: null,
  last_name_key: null,
  company_key: null,
  ...of,
});

test('a contact means the customer with its e-mail, else its mobile, else its phone', () => {
  const [byPhone, byMobile, byEmail] = [known('p', { phone: '+3' }), known('m', { mobile: '+2' }), known('e', { email: 'a@b.example' })];
  const all = [byPhone, byMobile, byEmail];
  const contact = { ...nobody, email: 'a@b.example', mobile: '+2', phone: '+3' };
  assert.equal(customerMeant(contact, all), byEmail);
  assert.equal(customerMeant({ ...contact, email: 'c@d.example' }, all), byMobile);
  assert.equal(customerMeant({ ...contact, email: null, mobile: '+9' }, all), byPhone);
  assert.equal(customerMeant({ ...contact, email: null, mobile: null, phone: null }, all), undefined);
});

test('a number is the same whichever field holds it', () => {
  const customer = known('m', { mobile: '+2' });
  assert.equal(customerMeant({ ...nobody, phone: '+2' }, [customer]), customer);
});

test('families share e-mails: a last name that is given must be the same, and none means any', () => {
  const [ash, oak] = [known('a', { email: 'x', last_name_key: 'ash' }), known('o', { email: 'x', last_name_key: 'oak' })];
  assert.equal(customerMeant({ ...nobody, email: 'x', last_name: 'OAK' }, [ash, oak]), oak);
  assert.equal(customerMeant({ ...nobody, email: 'x', last_name: 'Elm' }, [ash, oak]), undefined);
  assert.equal(customerMeant({ ...nobody, email: 'x' }, [ash, oak]), ash);
  assert.equal(customerMeant({ ...nobody, email: 'x', last_name: 'Ash' }, [known('c', { email: 'x' })]), undefined);
});

test('a house’s number is shared too: a contact of a company alone means that company', () => {
  const [alpha, beta] = [known('a', { phone: '+1', company_key: 'alpha ltd' }), known('b', { phone: '+1', company_key: 'beta ltd' })];
  assert.equal(customerMeant({ ...nobody, phone: '+1', company_name: 'Beta Ltd' }, [alpha, beta]), beta);
  assert.equal(customerMeant({ ...nobody, phone: '+1', company_name: 'Gamma Ltd' }, [alpha, beta]), undefined);
});

test('another with the same last name and number is meant before one with the e-mail and another name', () => {
  const [other, same] = [known('o', { email: 'x', last_name_key: 'oak' }), known('s', { phone: '+1', last_name_key: 'ash' })];
  assert.equal(customerMeant({ ...nobody, email: 'x', phone: '+1', last_name: 'Ash' }, [other, same]), same);
});

test('candidates for a duplicate are namesakes first, 20 at most', () => {
  const all = Array.from({ length: 30 }, (_, i) => known(`${i}`, { email: 'x', last_name_key: i === 25 ? 'ash' : 'oak' }));
  const found = duplicatesAmong({ ...nobody, email: 'x', last_name: 'Ash' }, all);
  assert.deepEqual([found.length, found[0], found[1]], [20, '25', '0']);
});

test('a name is compared without case, accents and double spaces', () => {
  assert.equal(nameKey('Šimůnková  Żak'), 'simunkova zak');
  assert.equal(nameKey('O’Neill'), nameKey("o'NEILL"));
  assert.equal(nameKey('Strauß'), nameKey('STRAUSS'));
  // Vowel signs are no accents.
  assert.notEqual(nameKey('कुमार'), nameKey('कमर'));
});

test('a business goes by its name, anybody else by first and last name', () => {
  const both = { first_name: 'Kim', last_name: 'Ash', company_name: 'Ash Ltd' };
  assert.equal(displayName('BUSINESS', both), 'Ash Ltd');
  assert.equal(displayName('INDIVIDUAL', both), 'Kim Ash');
  assert.equal(displayName('INDIVIDUAL', { ...nobody, company_name: 'Ash Ltd' }), 'Ash Ltd');
  assert.equal(displayName('BUSINESS', { ...nobody, first_name: 'Kim' }), 'Kim');
  assert.deepEqual([typeOf(both), typeOf({ ...nobody, company_name: 'Ash Ltd' })], ['INDIVIDUAL', 'BUSINESS']);
});

test('a change may not take the last name or the last way to reach someone', () => {
  const bare = { id: '1', metadata: {}, ...nobody };
  const customer = { ...bare, last_name: 'Ash', email: 'x' };
  for (const before of [null, customer]) {
    assert.throws(() => checkCustomer(before, { ...customer, last_name: null }), { code: 'validation_failed' });
    assert.throws(() => checkCustomer(before, { ...customer, email: null }), { code: 'validation_failed' });
    checkCustomer(before, customer);
  }
  // One made from an enquiry's contact may have a first name alone.
  checkCustomer(bare, { ...bare, first_name: 'Kim' });
});

test('a customer with enquiries, deals, job cards or invoices is not deleted, and is told which', () => {
  const nothing = { enquiries: 0, deals: 0, job_cards: 0, invoices: 0 };
  const told = (held: Partial<typeof nothing>, message: string) =>
    assert.throws(() => checkDeletable({ ...nothing, ...held }), { code: 'customer_has_enquiries', message });
  told({ enquiries: 1 }, 'The customer has an enquiry.');
  told({ enquiries: 3 }, 'The customer has 3 enquiries.');
  told({ deals: 1, invoices: 2 }, 'The customer has a deal and 2 invoices.');
  told({ enquiries: 2, deals: 1, job_cards: 1, invoices: 1 }, 'The customer has 2 enquiries, a deal, a job card and an invoice.');
  told({ job_cards: 4 }, 'The customer has 4 job cards.');
  checkDeletable(nothing);
});

test('a postcode is upper case with one space', () => {
  for (const [given, kept] of [
    ['sw1a1aa', 'SW1A 1AA'],
    ['sw1a-1aa', 'SW1A 1AA'],
    ['gir0aa', 'GIR 0AA'],
    ['sthl1zz', 'STHL 1ZZ'],
    ['bfpo1', 'BFPO 1'],
    ['d02af30', 'D02 AF30'],
    ['k1a0b1', 'K1A 0B1'],
    ['1012ab', '1012 AB'],
    [' m2  5db ', 'M2 5DB'],
    ['b s14dj', 'BS1 4DJ'],
    ['d02  af30', 'D02 AF30'],
    ['1010 ab', '1010 AB'],
    ['90210', '90210'],
  ] as const) {
    assert.equal(postcode.parse(given), kept);
  }
});
