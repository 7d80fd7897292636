import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { testDatabase } from '../../../test/support/database.ts';
import type { Pools } from './connect.ts';
import { connect } from './connect.ts';
import { scopedQuery } from './scoped-query.ts';

const [mine, other] = ['0193e3a0-0000-7000-8000-000000000001', '0193e3a0-0000-7000-8000-000000000002'];
let pools: Pools;
const undo: (() => Promise<void>)[] = [];

before(async () => {
  const url = await testDatabase({ after: (step) => void undo.push(step) });
  pools = connect(url, 1);
  undo.unshift(() => pools.end());
  await pools.doors.query("insert into counter (dealer_id, series, last) values ($1, 'a', 1), ($2, 'b', 2), ($2, 'c', 3)", [mine, other]);
});
after(async () => {
  for (const step of undo) await step();
});

const seen = async (scope: string, text = 'select series from counter order by series', values: unknown[] = []) =>
  (await scopedQuery(pools.work, 'forecourt.dealer_id', scope, { text, values })).rows.map((row) => row.series);

test('a scoped read sees the rows of its dealer and no others, with and without parameters and names', async () => {
  assert.deepEqual(await seen(mine), ['a']);
  assert.deepEqual(await seen(other), ['b', 'c']);
  assert.deepEqual(await seen(other, 'select series from counter where last > $1', [2]), ['c']);
  const named = { name: 'named', text: 'select series from counter', values: [] };
  for (const scope of [mine, other, mine]) {
    const { rows } = await scopedQuery(pools.work, 'forecourt.dealer_id', scope, named);
    assert.equal(rows.length, scope === mine ? 1 : 2);
  }
});

test('the scope ends with its read: the connection sees nothing afterwards', async () => {
  await seen(mine);
  assert.deepEqual((await pools.work.query('select * from counter')).rows, []);
});

test('a read that fails leaves no scope and a connection that works', async () => {
  await assert.rejects(seen(mine, 'select 1/0 from counter where $1', [true]), /division by zero/);
  assert.deepEqual((await pools.work.query('select * from counter')).rows, []);
  assert.deepEqual(await seen(mine), ['a']);
});

test('the system scope sees the rows of all dealers', async () => {
  const { rows } = await scopedQuery(pools.work, 'forecourt.scope', 'system', { text: 'select count(*) as n from counter', values: [] });
  assert.equal(rows[0].n, 3);
});

test('reads of many dealers at once on few connections never mix', async () => {
  const answers = await Promise.all(Array.from({ length: 400 }, (_, i) => seen(i % 2 ? mine : other)));
  for (const [i, series] of answers.entries()) assert.deepEqual(series, i % 2 ? ['a'] : ['b', 'c']);
});
