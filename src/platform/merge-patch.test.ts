import assert from 'node:assert/strict';
import { test } from 'node:test';
import { patched, patchedMap } from './merge-patch.ts';

const blank: { a: string | null; b: string | null } = { a: null, b: null };

test('an absent field is left, null clears it, and the document always has all its fields', () => {
  assert.deepEqual(patched(blank, null, { a: '1' }), { a: '1', b: null });
  assert.deepEqual(patched(blank, { a: '1', b: '2' }, { b: undefined }), { a: '1', b: '2' });
  assert.deepEqual(patched(blank, { a: '1', b: '2' }, { a: null }), { a: null, b: '2' });
});

test('a document of which nothing is left is null', () => {
  assert.equal(patched(blank, { a: '1', b: '2' }, null), null);
  assert.equal(patched(blank, { a: '1', b: null }, { a: null }), null);
  assert.equal(patched(blank, null, {}), null);
});

test('a map loses the names that are given as null', () => {
  assert.deepEqual(patchedMap({ a: '1', b: '2' }, { a: null, c: '3' }), { b: '2', c: '3' });
  assert.deepEqual(patchedMap({ a: '1' }, null), {});
});
