import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dealership } from '../../../test/support/dealership.ts';
import { alongIndexes } from './along-indexes.ts';

test('a statement sees all dealers, and what fails leaves nothing behind', async () => {
  const [{ service, id }, other] = [await dealership(), await dealership()];
  const seen = await alongIndexes(service, 'select id from dealer where id = any($1::uuid[])', [[id, other.id]]);
  assert.equal(seen.length, 2);
  const change = "with done as (update dealer set name = 'Changed' where id = $1::uuid) select 1 / $2::int";
  await assert.rejects(alongIndexes(service, change, [id, 0]), { code: '22012' });
  // Each connection of the pool can be used again.
  for (let n = 0; n < 6; n++) {
    const [{ name }] = (await alongIndexes(service, 'select name from dealer where id = $1::uuid', [id])) as [{ name: string }];
    assert.equal(name, 'Test Motors');
  }
  await alongIndexes(service, change, [id, 1]);
  const { rows } = await service.pools.doors.query("select name, current_setting('enable_seqscan') as seqscan from dealer where id = $1", [
    id,
  ]);
  assert.deepEqual(rows, [{ name: 'Changed', seqscan: 'on' }], 'and its settings end with it');
});

test('of those who want the same lock each sees what the one before wrote', async () => {
  const { service, id } = await dealership();
  const add =
    "update dealer set name = name || 'x' where id = $1::uuid and name = (select name from dealer where id = $1::uuid) returning name";
  await Promise.all(Array.from({ length: 12 }, () => alongIndexes(service, add, [id], 'test')));
  const { rows } = await service.pools.doors.query('select name from dealer where id = $1', [id]);
  assert.equal(rows[0].name, `Test Motors${'x'.repeat(12)}`);
});
