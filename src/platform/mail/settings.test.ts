import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseMailServer, parsePerson, senderAt } from './settings.ts';

test('a mail server is reached at the port of its kind, unless another is named', () => {
  const server = (given: string) => {
    const { host, port, secure } = parseMailServer(given)!;
    return [host, port, secure];
  };
  assert.deepEqual(server('smtp://mail.example.com'), ['mail.example.com', 587, false]);
  assert.deepEqual(server('smtps://mail.example.com/'), ['mail.example.com', 465, true]);
  assert.deepEqual(server('smtp://127.0.0.1:1025'), ['127.0.0.1', 1025, false]);
});

test('name and password of a mail server are both there or both not, and may hold any character', () => {
  const auth = (given: string) => parseMailServer(given)?.auth;
  assert.equal(auth('smtp://mail.example.com'), null);
  assert.deepEqual(auth('smtp://me:p%40%2F%C3%A9@mail.example.com'), { user: 'me', password: 'p@/é' });
  assert.equal(auth('smtp://me@mail.example.com'), undefined);
  assert.equal(auth('smtp://me:%zz@mail.example.com'), undefined);
});

for (const given of [
  'mail.example.com',
  'http://mail.example.com',
  'smtp://',
  'smtp://mail.example.com/inbox',
  'smtp://mail.example.com?secure=false',
  'smtp://mail.example.com#x',
  'smtp://mail.example.com:0',
  'smtp://mail.example.com:99999',
  'smtp://a%20b',
]) {
  test(`${given} is no mail server`, () => assert.equal(parseMailServer(given), undefined));
}

test('a sender is an address, with or without a name', () => {
  assert.deepEqual(parsePerson('dms@example.com'), { name: '', address: 'dms@example.com' });
  assert.deepEqual(parsePerson('Müller, Söhne <dms@example.com>'), { name: 'Müller, Söhne', address: 'dms@example.com' });
  assert.deepEqual(parsePerson('"Smith, Jones" <dms@localhost>'), { name: 'Smith, Jones', address: 'dms@localhost' });
  assert.deepEqual(parsePerson('<dms@example.com>'), { name: '', address: 'dms@example.com' });
});

for (const given of [
  'dms',
  'dms@',
  '@example.com',
  'a@b@c',
  'a b@example.com',
  'a@example.com, b@example.com',
  'X <a@example.com> <b@example.com>',
  'X\r\nBcc: y@example.com <a@example.com>',
  '"a@example.com x"@other.example',
]) {
  test(`${JSON.stringify(given)} is no sender`, () => assert.equal(parsePerson(given), undefined));
}

test('mail is from the host of the API where that has a name, and else from this machine', () => {
  assert.equal(senderAt('https://api.example.com/dms').address, 'forecourt@api.example.com');
  for (const own of ['http://127.0.0.1:4000', 'http://[2606:4700::1]:4000', 'http://forecourt:4000'])
    assert.equal(senderAt(own).address, 'forecourt@localhost');
});
