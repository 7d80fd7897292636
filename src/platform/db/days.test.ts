import assert from 'node:assert/strict';
import { before, beforeEach, test } from 'node:test';
import type { House } from '../../../test/support/dealership.ts';
import { house } from '../../../test/support/dealership.ts';
import { until } from '../../../test/support/until.ts';
import type { Service } from '../service.ts';
import type { Connection } from './connect.ts';
import type { DailyTable } from './days.ts';
import { dropOldDays, haveDay, makeDays } from './days.ts';

let home: House;
let asked: Connection['query'];
/** A table of this test's own. */
let daily: DailyTable;
let count = 0;

before(async () => {
  home = await house();
  asked = home.service.pools.doors.query.bind(home.service.pools.doors) as Connection['query'];
});

beforeEach(async () => {
  const table = `daily_${count++}_of`;
  await asked(
    `create table ${table} (dealer_id uuid not null, at timestamptz not null, primary key (dealer_id, at)) partition by range (at)`,
  );
  await asked(`call forecourt_guard('${table}')`);
  daily = { table, keptDays: 32 };
  home.clock.set('2030-06-15T12:00:00Z');
});

/** What was told to the operator. */
function hearing(): { service: Service; told: object[] } {
  const told: object[] = [];
  const hear = (facts: object) => void told.push(facts);
  return { told, service: { ...home.service, log: { ...home.service.log, error: hear, info: hear } as unknown as Service['log'] } };
}

async function days(): Promise<string[]> {
  const { rows } = await asked('select inhrelid::regclass::text as name from pg_inherits where inhparent = $1::regclass order by 1', [
    daily.table,
  ]);
  return rows.map(({ name }: { name: string }) => name.slice(-4));
}

const tables = async (): Promise<number> =>
  (await asked("select count(*) as n from pg_class where relkind = 'r' and starts_with(relname, $1)", [daily.table])).rows[0].n;

const write = (at: string, by: Connection['query'] = asked) =>
  by(`insert into ${daily.table} values (gen_random_uuid(), '${at}')`) as unknown as Promise<void>;

/** Somebody in the middle of something. */
async function someone(work: (query: Connection['query']) => Promise<void>, isolation = 'read committed'): Promise<void> {
  const connection = await home.service.pools.work.connect();
  try {
    await connection.query(`begin isolation level ${isolation}; select set_config('forecourt.scope', 'system', true)`);
    await work(connection.query.bind(connection) as Connection['query']);
    await connection.query('commit');
    connection.release();
  } catch (error) {
    connection.release(true);
    throw error;
  }
}

test('a week is made ahead, by whoever comes first', async () => {
  const { service, told } = hearing();
  await Promise.all([makeDays(service, daily), makeDays({ ...service, pools: { ...service.pools } }, daily)]);
  await makeDays(service, daily);
  assert.deepEqual(await days(), ['0615', '0616', '0617', '0618', '0619', '0620', '0621', '0622']);
  assert.deepEqual(told, []);
});

test('a part is guarded like its table', async () => {
  await makeDays(home.service, daily, 0);
  const { rows } = await asked('select relrowsecurity and relforcerowsecurity as guarded from pg_class where relname = $1', [
    `${daily.table}_20300615`,
  ]);
  assert.deepEqual(rows, [{ guarded: true }]);
});

test('fewer than three days ahead are told to the operator, also when making them fails', async () => {
  const { service, told } = hearing();
  await makeDays(service, daily, 2);
  assert.deepEqual(told, [{ table: daily.table, days: 2 }]);
  await makeDays(service, daily, 3);
  assert.equal(told.length, 1);
  home.clock.move({ days: 2 });
  await asked(`create table ${daily.table}_20300620 partition of ${daily.table} for values from ('2031-01-01') to ('2031-01-02')`);
  await asked(`create table ${daily.table}_other partition of ${daily.table} for values from ('2030-06-19') to ('2030-06-20')`);
  await assert.rejects(makeDays(service, daily), /would overlap/);
  assert.deepEqual(told[1], { table: daily.table, days: 2 });
});

test('a day goes when it has ended as long ago as it is kept, and not before', async () => {
  await haveDay(home.service, daily.table, '2030-06-15T00:00:00.000000Z');
  await haveDay(home.service, daily.table, '2030-06-16T00:00:00.000000Z');
  home.clock.set('2030-07-17T23:59:59.999999Z');
  await dropOldDays(home.service, daily);
  assert.deepEqual(await days(), ['0615', '0616']);
  home.clock.set('2030-07-18T00:00:00Z');
  await dropOldDays(home.service, daily);
  assert.deepEqual(await days(), ['0616']);
  assert.equal(await tables(), 1);
  await haveDay(home.service, daily.table, '2030-06-15T08:00:00.000000Z');
  await write('2030-06-15T08:00:00Z');
});

test('a day that something still refers to stays, and the operator is told', async () => {
  const { service, told } = hearing();
  const asking: string[] = [];
  const heldBy: DailyTable['heldBy'] = async (_connection, from, to) => {
    asking.push(from, to);
    return from.startsWith('2030-06-15') ? 3 : 0;
  };
  await makeDays(service, daily, 1);
  home.clock.set('2030-07-25T00:00:00Z');
  told.length = 0;
  await dropOldDays(service, { ...daily, heldBy });
  assert.deepEqual(asking.slice(0, 2), ['2030-06-15T00:00:00.000000Z', '2030-06-16T00:00:00.000000Z']);
  assert.deepEqual(told, [
    { table: daily.table, day: `${daily.table}_20300615`, held: 3 },
    { table: daily.table, day: `${daily.table}_20300616` },
  ]);
  assert.deepEqual(await days(), ['0615']);
});

test('a long read and an open write keep nobody from making a day, and are kept waiting by nobody who drops one', async () => {
  await makeDays(home.service, daily);
  await makeDays(home.service, daily);
  await write('2030-06-15T10:00:00Z');
  home.clock.set('2030-07-25T00:00:00Z');
  await haveDay(home.service, daily.table, '2030-07-25T00:00:00.000000Z');
  await someone(async (reads) => {
    const seen = async () => (await reads(`select count(*) as n from ${daily.table}`)).rows[0].n;
    const first = await seen();
    await someone(async (writes) => {
      await write('2030-07-25T00:00:01Z', writes);
      await makeDays(home.service, daily);
      assert.ok((await days()).includes('0801'), 'made meanwhile');

      let over = false;
      const dropping = dropOldDays(home.service, daily).finally(() => {
        over = true;
      });
      let meanwhile = 0;
      for (; !over; meanwhile++) {
        await write('2030-07-25T00:00:02Z');
        await write('2030-07-25T00:00:03Z', writes);
        assert.equal(await seen(), first, 'what a reader sees does not change under it');
      }
      await dropping;
      assert.ok(meanwhile > 0);
      assert.ok((await tables()) > 8, 'nothing is dropped that somebody reads');
    });
  }, 'repeatable read');
  await dropOldDays(home.service, daily);
  assert.deepEqual((await days()).slice(0, 2), ['0725', '0726']);
  assert.equal(await tables(), (await days()).length);
});

test('what a crash left half way out is led out, dropped, and keeps no other day from going', async () => {
  await makeDays(home.service, daily, 2);
  const old = (day: string) => `${daily.table}_${day}`;
  await someone(async (reads) => {
    await reads(`select from ${daily.table}`);
    const killed = await home.service.pools.work.connect();
    killed.on('error', () => undefined);
    const { rows } = await killed.query('select pg_backend_pid() as pid');
    const ended = assert.rejects(killed.query(`alter table ${daily.table} detach partition ${old('20300616')} concurrently`));
    const isLeaving = async () =>
      (await asked(`select from pg_inherits where inhrelid = '${old('20300616')}'::regclass and inhdetachpending`)).rowCount === 1;
    await until(isLeaving);
    await asked('select pg_terminate_backend($1)', [rows[0].pid]);
    await ended;
    killed.release(true);
    assert.ok(await isLeaving(), 'left half way out');
  });
  home.clock.set('2030-07-25T00:00:00Z');
  await dropOldDays(home.service, daily);
  assert.equal(await tables(), 0);

  // Or it ended between the last two steps.
  await makeDays(home.service, { ...daily }, 0);
  await asked(`alter table ${daily.table} detach partition ${old('20300725')}`);
  home.clock.set('2030-09-25T00:00:00Z');
  await dropOldDays(home.service, daily);
  assert.equal(await tables(), 0);
});

test('two workers at once do it once', async () => {
  await makeDays(home.service, daily);
  home.clock.set('2030-09-01T00:00:00Z');
  const { service, told } = hearing();
  await Promise.all([dropOldDays(service, daily), dropOldDays(service, daily), dropOldDays(service, daily)]);
  assert.deepEqual(await days(), []);
  assert.equal(told.length, 8);
});
