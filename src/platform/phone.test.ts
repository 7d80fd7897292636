import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dialable, phoneNumber, phoneNumbers } from './phone.ts';

test('a number is read as one of the country unless it says which country it is of', () => {
  for (const [text, country, number] of [
    ['07700 900123', 'GB', '+447700900123'],
    ['(020) 7946 0123', 'GB', '+442079460123'],
    ['+44 (0)20 7946 0123', 'IE', '+442079460123'],
    ['0044 20 7946 0123', 'GB', '+442079460123'],
    ['085 012 3456', 'IE', '+353850123456'],
    ['+1 212 555 0123', 'GB', '+12125550123'],
    ['+1 212 555 0123', 'no country', '+12125550123'],
  ] as const) {
    assert.equal(phoneNumber(text, country), number, `${text} in ${country}`);
  }
});

test('what cannot be dialled as one number is none', () => {
  const texts = ['', '12', '999', 'soon', 'ring 07700 900123', '07700 900123 ext 5', '0'.repeat(40), '07700 900123 07700 900124'];
  for (const text of texts) assert.equal(phoneNumber(text, 'GB'), undefined, text);
  assert.equal(phoneNumber('07700 900123', 'no country'), undefined);
});

test('the numbers of a body are told apart by field, and what is not said stays unsaid', () => {
  assert.deepEqual(dialable({ phone: null, mobile: '07700 900123', name: 'x' }, 'GB'), { phone: null, mobile: '+447700900123', name: 'x' });
  assert.deepEqual(dialable({}, 'GB'), {});
  assert.throws(
    () => dialable({ phone: '1', mobile: '2' }, 'GB', 'contact'),
    ({ fields }: { fields: object }) => Object.keys(fields).join() === 'contact.phone,contact.mobile',
  );
  assert.throws(() => phoneNumbers(['07700 900123', 'x'], 'GB'), { code: 'validation_failed' });
});
