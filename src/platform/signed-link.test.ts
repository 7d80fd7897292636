import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseInstant } from './dates.ts';
import { keyring } from './secrets.ts';
import { openLink, sealLink } from './signed-link.ts';

const [first, second] = [keyring([Buffer.alloc(32, 1)]), keyring([Buffer.alloc(32, 2)])];
const link = sealLink(first, 'a page', ['dealer', 'page'], parseInstant('2026-01-31T09:00:00Z'));
const meant = { until: parseInstant('2026-01-31T09:30:00Z'), names: ['dealer', 'page'] };

test('a link names what it was made for, and that it ends after 30 minutes', () => {
  assert.deepEqual(openLink(first, 'a page', link), meant);
});

test('a link that was altered, is of another purpose or of another key names nothing', () => {
  const [content = '', signature = ''] = link.split('.');
  const later = Buffer.from(JSON.stringify(['2027-01-31T09:30:00.000000Z', 'dealer', 'page'])).toString('base64url');
  for (const altered of [
    '',
    '.',
    content,
    `${content}.`,
    `.${signature}`,
    `${later}.${signature}`,
    `${link}.`,
    `${link}.x`,
    link.slice(0, -4),
    `${link}=`,
    `!${link}`,
  ])
    assert.equal(openLink(first, 'a page', altered), null, altered);
  assert.equal(openLink(first, 'another', link), null);
  assert.equal(openLink(second, 'a page', link), null);
});

test('a link of an older master key stays good', () => {
  assert.deepEqual(openLink(keyring([Buffer.alloc(32, 2), Buffer.alloc(32, 1)]), 'a page', link), meant);
});
