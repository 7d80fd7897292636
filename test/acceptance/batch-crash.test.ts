import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dealership } from '../support/dealership.ts';
import { script, start } from '../support/processes.ts';
import { until } from '../support/until.ts';

const size = 500;
const kills = 3;

test('a batch whose worker is killed again and again ends whole: nothing lost, nothing doubled, one vehicle_batch.completed', async (t) => {
  const { api, id: dealerId, databaseUrl, service } = await dealership();
  const work = () => start(t, script('worker-process.ts'), { DATABASE_URL: databaseUrl });
  const items = Array.from({ length: size }, (_, n) => ({ condition: 'USED', make: 'Ford', model: `Model ${n}`, external_id: `car ${n}` }));
  const { id } = await api.post('/v1/vehicles/batch', items).succeeds(202);
  const written = async (): Promise<number> => {
    const { rows } = await service.pools.doors.query('select created as n from vehicle_batch where dealer_id = $1 and id = $2', [
      dealerId,
      id,
    ]);
    return rows[0].n;
  };

  // Each worker is killed as soon as it has written something.
  let before = 0;
  for (let kill = 1; kill <= kills; kill++) {
    // What a missed heartbeat does in half a minute, done at once: the job of the dead worker is due again.
    await service.pools.doors.query(
      "update queue.job set state = 'retry', retry_count = 50 where name = 'vehicles.write_batch' and state = 'active'",
    );
    const worker = await work();
    await until(async () => (await written()) > before);
    await worker.kill();
    before = await written();
  }
  assert.ok(before < size, `killed before the end, after ${before}`);
  await work();
  // This time nothing helps: the queue itself must notice.
  await until(async () => (await api.get(`/v1/vehicle-batches/${id}`).succeeds()).status === 'completed');

  const batch = await api.get(`/v1/vehicle-batches/${id}`).succeeds();
  assert.deepEqual([batch.total, batch.created, batch.updated, batch.failed, batch.pending], [size, size, 0, 0, 0]);
  const { rows } = await service.pools.doors.query(
    `select (select count(*) from vehicle where dealer_id = $1) as vehicles,
            (select count(distinct external_id) from vehicle where dealer_id = $1) as distinct_vehicles,
            (select count(*) from event where dealer_id = $1 and type = 'vehicle.created') as created,
            (select count(*) from event where dealer_id = $1 and type = 'vehicle_batch.completed') as completed,
            (select max(sequence) from event where dealer_id = $1) as last_sequence`,
    [dealerId],
  );
  assert.deepEqual(rows[0], { vehicles: size, distinct_vehicles: size, created: size, completed: 1, last_sequence: size + 1 });
});
