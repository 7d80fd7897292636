import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listQuery } from './contract.ts';
import { fieldErrors } from './field-errors.ts';

const query = listQuery({});
const saidOf = (given: object) => fieldErrors(query.safeParse(given).error!, query, 'query');

test('what is no date-time is told what one is, and nothing else', () => {
  for (const text of ['tomorrow', '', '2026-01-31', '2026-02-30T08:00:00Z', '2026-01-31T08:00:00'])
    assert.deepEqual(saidOf({ updated_since: text }), { updated_since: ['An ISO 8601 date-time, such as 2026-01-31T08:00:00Z.'] }, text);
  assert.deepEqual(saidOf({ updated_since: '0001-01-01T00:00:00+14:00' }), { updated_since: ['Not a moment of the calendar.'] });
});
