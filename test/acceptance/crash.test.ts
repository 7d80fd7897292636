import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dealership, house } from '../support/dealership.ts';
import { script, start } from '../support/processes.ts';
import { until } from '../support/until.ts';

const rounds = 5;

/** How often the slow operation's effect was committed. */
async function counted(dealerId: string): Promise<number> {
  const { service } = await house();
  const { rows } = await service.pools.doors.query("select last from counter where dealer_id = $1 and series = 'test'", [dealerId]);
  return rows[0]?.last ?? 0;
}

for (const path of ['/v1/test/slow', '/v1/test/slow-outside']) {
  test(`an idempotent POST whose process is killed half way is done exactly once by its retry (${path})`, async (t) => {
    const { id, api, databaseUrl, service } = await dealership();
    const env = { DATABASE_URL: databaseUrl };
    for (let round = 1; round <= rounds; round++) {
      const ask = (url: string, ms: number) =>
        fetch(url + path, {
          method: 'POST',
          headers: { authorization: `Bearer ${api.key}`, 'content-type': 'application/json', 'idempotency-key': `round ${round}` },
          body: JSON.stringify({ ms }),
        });
      const doomed = await start(t, script('api-process.ts'), env);
      const lost = ask(doomed.url, 1_500).then(
        () => assert.fail('the answer was to be lost'),
        () => undefined,
      );
      // Under way: the lock of the key or its claim is there.
      await until(async () => {
        const { rows } = await service.pools.doors.query(
          `select exists (select from pg_locks where locktype = 'advisory' and granted and database = (select oid from pg_database where datname = current_database()))
               or exists (select from stored_answer where dealer_id = $1 and running_until is not null) as busy`,
          [id],
        );
        return rows[0].busy;
      });
      await doomed.kill();
      await lost;
      assert.equal(await counted(id), round - 1, 'nothing of the killed attempt is left');
      // A claim of a process that died ends with its lease; the test does not wait for it.
      await service.pools.doors.query(
        'update stored_answer set running_until = clock_timestamp() where dealer_id = $1 and running_until is not null',
        [id],
      );

      const next = await start(t, script('api-process.ts'), env);
      let answer = await ask(next.url, 1_500);
      while (answer.status === 409) answer = await ask(next.url, 1_500); // Until PostgreSQL noticed that its client is gone.
      assert.equal(answer.status, 201);
      assert.equal(await counted(id), round);
      const replay = await ask(next.url, 1_500);
      assert.equal(replay.headers.get('idempotent-replayed'), 'true');
      assert.deepEqual(await replay.json(), await answer.json());
      assert.equal(await counted(id), round);
      await next.kill();
    }
  });
}

test('a claim whose process died is taken over when its lease has ended, and not before', async (t) => {
  const { id, api, databaseUrl, service } = await dealership();
  const doomed = await start(t, script('api-process.ts'), { DATABASE_URL: databaseUrl });
  const request = { method: 'POST', body: JSON.stringify({ ms: 60_000 }) };
  const headers = { authorization: `Bearer ${api.key}`, 'content-type': 'application/json', 'idempotency-key': 'lease' };
  const lost = fetch(`${doomed.url}/v1/test/slow-outside`, { ...request, headers }).catch(() => undefined);
  await until(async () => {
    const { rows } = await service.pools.doors.query('select from stored_answer where dealer_id = $1 and running_until is not null', [id]);
    return rows.length === 1;
  });
  await doomed.kill();
  await lost;

  const next = await start(t, script('api-process.ts'), { DATABASE_URL: databaseUrl });
  const again = await fetch(`${next.url}/v1/test/slow-outside`, { ...request, headers });
  assert.equal(((await again.json()) as { code: string }).code, 'idempotency_key_in_use');
  const { rows } = await service.pools.doors.query(
    `select running_until between clock_timestamp() and clock_timestamp() + interval '30 seconds' as leased from stored_answer where dealer_id = $1`,
    [id],
  );
  assert.equal(rows[0].leased, true);
});
