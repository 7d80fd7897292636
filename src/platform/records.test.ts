import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refusal } from './errors.ts';
import { checkExternalId, wrongMetadata } from './records.ts';

test('the external id of another record is taken', () => {
  checkExternalId({ id: 'a' }, undefined);
  checkExternalId({ id: 'a' }, 'a');
  assert.throws(
    () => checkExternalId({ id: 'a' }, 'b'),
    (error: unknown) => error instanceof Refusal && error.code === 'external_id_taken',
  );
});

test('a patch may not make more than 50 keys of metadata', () => {
  const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`key${at}`, 'value']));
  assert.deepEqual(wrongMetadata({ metadata: keys(50) }), {});
  assert.deepEqual(Object.keys(wrongMetadata({ metadata: keys(51) })), ['metadata']);
});
