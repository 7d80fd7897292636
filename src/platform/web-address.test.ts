import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plainUrl } from './web-address.ts';

test('an address that is plainly written is taken', () => {
  for (const given of [
    'https://www.example.com',
    'https://WWW.example.com/a/b.jpg?size=1&x=%20',
    'https://cdn.example.com:8443/ä.jpg',
    'http://127.0.0.1:8080/a.jpg',
    'https://[2606:4700::1111]/a.jpg',
    'https://1and1.example2/',
  ]) {
    assert.equal(plainUrl(given)?.href, new URL(given).href, given);
  }
});

test('what a URL parser would have to repair is refused', () => {
  for (const given of [
    ...[
      'https:10.0.0.1',
      'https:///evil.example',
      'https:/evil.example',
      'https:\\\\evil.example',
      'HTTPS//evil.example',
      '//evil.example/',
    ],
    ...[
      'https://evil.ex\tample/',
      'https://evil.example/\r\nHost: x',
      ' https://evil.example/',
      'https://evil.example/ ',
      'https://evil.example/a b',
    ],
    ...[
      'https://127.1/',
      'https://2130706433/',
      'https://0x7f000001/',
      'https://0177.0.0.1/',
      'https://127.0.0.1./',
      'https://127。0。0。1/',
    ],
    ...[
      'https://①②⑦.⓪.⓪.①/',
      'https://ex%61mple.com/',
      'https://localhost/',
      'https://localhost./',
      'https://example.com./',
      'https://a..b/',
    ],
    ...[
      'https://user@example.com/',
      'https://user:pw@example.com/',
      'https://example.com/#a',
      'https://example.com:0/',
      'https://example.com:65536/',
    ],
    ...[
      'https://example.com\\@evil.example/',
      'https://example.123/',
      'https://[::ffff:127.0.0.1]/',
      'https://[fe80::1%25eth0]/',
      'ftp://example.com/',
    ],
    ...[
      `https://${'a'.repeat(64)}.example/`,
      `https://${'a.'.repeat(130)}example/`,
      `https://example.com/${'a'.repeat(2048)}`,
      'https://bücher.example/',
    ],
  ]) {
    assert.equal(plainUrl(given), null, given);
  }
});
