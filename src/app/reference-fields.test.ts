import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldTable } from './reference-fields.ts';

const rowsOf = (properties: object) => fieldTable({ type: 'object', properties }).split('\n').slice(2);

test('what is said of a value is said of the field that holds it, also where that may be null', () => {
  const phone = { type: 'string', description: 'Kept as E.164.' };
  const said = '| string | Kept as E.164. |';
  assert.deepEqual(rowsOf({ phone }), [`| \`phone\` ${said}`]);
  assert.deepEqual(rowsOf({ phone: { anyOf: [phone, { type: 'null' }] } }), [`| \`phone\` ${said.replace('string', 'string or null')}`]);
});

test('what is said of the field itself goes before, and a named object is described where it stands', () => {
  const own = { anyOf: [{ type: 'string', description: 'Of the value.' }, { type: 'null' }], description: 'Of the field.' };
  assert.deepEqual(rowsOf({ own }), ['| `own` | string or null | Of the field. |']);
  const named = { anyOf: [{ $ref: '#/components/schemas/Address', description: 'Where someone lives.' }, { type: 'null' }] };
  assert.deepEqual(rowsOf({ named }), ['| `named` | [Address](#address) or null |  |']);
});
