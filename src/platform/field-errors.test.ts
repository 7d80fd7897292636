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

test('one that can be read is told that it cannot be written', () => {
  const shown = z.object({ id: z.string(), vin: z.string(), costs: z.object({ total: z.int() }).nullable() });
  const body = z.strictObject({ vin: z.string(), costs: z.strictObject({ price: z.int() }).partial().nullable() }).partial();
  const errors = fieldErrors(body.safeParse({ id: 'x', costs: { total: 5 }, vim: 'x' }).error!, body, 'body', shown);
  assert.deepEqual(errors, {
    id: ['Cannot be written: leave it out.'],
    'costs.total': ['Cannot be written: leave it out.'],
    vim: ['Unknown field. Did you mean "vin"?'],
  });
});
