import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { fieldErrors } from './field-errors.ts';

const photo = z.union([z.strictObject({ url: z.string() }), z.strictObject({ id: z.string() })]);
const schema = z.strictObject({ vin: z.string(), colour: z.string(), q: z.string(), photo }).partial();

const saidOf = (body: object) => fieldErrors(schema.safeParse(body).error!, schema);

test('an unknown field is told the one it may have been meant for', () => {
  assert.deepEqual(saidOf({ colur: 'Red' }), { colur: ['Unknown field. Did you mean "colour"?'] });
  assert.deepEqual(saidOf({ Vin: 'X' }), { Vin: ['Unknown field. Did you mean "vin"?'] });
});

test('one that has as good as nothing in common with any is not', () => {
  for (const field of ['id', '', 'no']) assert.deepEqual(saidOf({ [field]: 'x' }), { [field]: ['Unknown field.'] });
});

test('one that is taken in another form is not told itself', () => {
  assert.deepEqual(saidOf({ photo: { url: 1, id: 'x' } }), { 'photo.url': ['Unknown field.'] });
});
