import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Api } from '../support/api.ts';
import type { Dealership } from '../support/dealership.ts';
import { dealership } from '../support/dealership.ts';

const writers = 16;
const writesEach = 125;

/** What a client that follows the list believes: id → when it changed, or that it is gone. */
type Copy = Map<string, string>;

/** Follows a list page by page, by `resume_cursor`, until told that the writing has ended and nothing is left. */
async function follow(api: Api, ended: () => boolean): Promise<Copy> {
  const copy: Copy = new Map();
  let cursor = '';
  for (;;) {
    const last = ended();
    const { body } = await api.get(`/v1/vehicles?include_deleted=true&limit=20${cursor && `&cursor=${cursor}`}`);
    for (const item of body.data) copy.set(item.id, item.deleted ? 'gone' : item.internal_notes);
    cursor = body.meta.resume_cursor;
    if (last && !body.meta.has_more) return copy;
  }
}

/** The same, as a client that keeps no cursor but the latest `updated_at` it saw. */
async function followByTime(api: Api, ended: () => boolean): Promise<Copy> {
  const copy: Copy = new Map();
  let since = '2000-01-01T00:00:00Z';
  for (;;) {
    const last = ended();
    let newest = since;
    for (let cursor = '', more = true; more; ) {
      const { body } = await api.get(`/v1/vehicles?include_deleted=true&limit=100&updated_since=${since}${cursor && `&cursor=${cursor}`}`);
      for (const item of body.data) {
        copy.set(item.id, item.deleted ? 'gone' : item.internal_notes);
        const at = item.deleted_at ?? item.updated_at;
        if (at > newest) newest = at;
      }
      cursor = body.meta.next_cursor;
      more = body.meta.has_more;
    }
    since = newest;
    if (last) return copy;
  }
}

/** The state of the database. */
async function truth({ service, id }: Dealership): Promise<Copy> {
  const { rows } = await service.pools.doors.query('select id, deleted_at, internal_notes from vehicle where dealer_id = $1', [id]);
  return new Map(rows.map((row) => [row.id, row.deleted_at ? 'gone' : row.internal_notes]));
}

async function whileWriting(
  write: (writer: number) => Promise<void>,
  readers: ((ended: () => boolean) => Promise<Copy>)[],
): Promise<Copy[]> {
  let ended = false;
  const reading = Promise.all(readers.map((read) => read(() => ended)));
  await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer))).finally(() => {
    ended = true;
  });
  return reading;
}

test('while 16 writers change, create and delete, a reader that follows the list ends with exactly the database’s state', async () => {
  const home = await dealership();
  const { api } = home;
  const ids: string[] = [];
  const write = async (writer: number) => {
    for (let n = 0; n < writesEach; n++) {
      const note = `writer ${writer}, write ${n}`;
      const chosen = (n * 7 + writer) % 10;
      const id = ids[Math.floor((n * 31 + writer * 17) % Math.max(1, ids.length))];
      if (chosen < 3 || !id) {
        ids.push((await api.post('/v1/vehicles', { condition: 'USED', make: 'Ford', model: 'Ka', internal_notes: note }).succeeds(201)).id);
      } else if (chosen < 9) {
        await api.patch(`/v1/vehicles/${id}`, { internal_notes: note });
      } else {
        await api.delete(`/v1/vehicles/${id}`);
      }
    }
  };
  const [byCursor, byTime] = await whileWriting(write, [(ended) => follow(api, ended), (ended) => followByTime(api, ended)]);
  const state = await truth(home);
  assert.ok(state.size > (writers * writesEach) / 4);
  assert.deepEqual(byCursor, state);
  assert.deepEqual(byTime, state);
});

test('the same reader misses changes when writers stamp a time of their own without the dealer’s turn', async () => {
  const home = await dealership();
  const { api, service, id: dealerId } = home;
  const ids: string[] = [];
  for (let i = 0; i < 48; i++)
    ids.push((await api.post('/v1/vehicles', { condition: 'USED', make: 'Ford', model: 'Ka' }).succeeds(201)).id);
  const write = async (writer: number) => {
    for (let n = 0; n < 12; n++) {
      const id = ids[(n * writers + writer) % ids.length];
      const connection = await service.pools.work.connect();
      try {
        await connection.query(`begin; select set_config('forecourt.dealer_id', '${dealerId}', true)`);
        await connection.query('update vehicle set internal_notes = $3, updated_at = clock_timestamp() where dealer_id = $1 and id = $2', [
          dealerId,
          id,
          `writer ${writer}, write ${n}`,
        ]);
        await connection.query('select pg_sleep(random() * 0.02)');
        await connection.query('commit');
      } finally {
        connection.release();
      }
    }
  };
  const [copy] = await whileWriting(write, [(ended) => follow(api, ended)]);
  const state = await truth(home);
  const missed = [...state].filter(([id, note]) => copy?.get(id) !== note);
  assert.ok(missed.length > 0, 'the test above could not fail');
});

test('the changes of one dealer become visible in the order of their times', async () => {
  const { service, id, api } = await dealership();
  await Promise.all(
    Array.from({ length: 60 }, (_, i) => api.post('/v1/vehicles', { condition: 'USED', make: 'Ford', model: `Ka ${i}` }).succeeds(201)),
  );
  const { rows } = await service.pools.doors.query(
    'select sequence, created_at from event where dealer_id = $1 order by created_at, sequence',
    [id],
  );
  assert.deepEqual(
    rows.map((row) => row.sequence),
    Array.from({ length: 60 }, (_, i) => i + 1),
  );
  assert.equal(new Set(rows.map((row) => row.created_at)).size, 60);
});

test('a turn that is not had within 5 seconds is refused as stock_busy, which is never stored', async () => {
  const { service, id, api } = await dealership();
  const holder = await service.pools.work.connect();
  const car = { condition: 'USED', make: 'Ford', model: 'Ka' };
  try {
    await holder.query(`begin; select set_config('forecourt.dealer_id', '${id}', true)`);
    const { rowCount } = await holder.query('select from dealer_clock where dealer_id = $1 for update', [id]);
    assert.equal(rowCount, 1);
    // Three wait for the turn, the others for a place in the line; the last one would call out first.
    const bodies = [car, car, car, car, { condition: 'USED', registration: 'AB12CDE' }];
    const answers = await Promise.all(
      bodies.map((body, at) => api.post('/v1/vehicles', body, { 'idempotency-key': at === 0 ? 'busy' : `busy-${at}` })),
    );
    for (const { status, body, headers } of answers) {
      assert.deepEqual([status, body.code, headers['retry-after']], [409, 'stock_busy', '5']);
    }
  } finally {
    await holder.query('rollback');
    holder.release();
  }
  const retried = await api.post('/v1/vehicles', car, { 'idempotency-key': 'busy' });
  assert.equal(retried.status, 201);
  assert.equal(retried.headers['idempotent-replayed'], undefined);
});

test('the queued writes of one dealer keep no other dealer waiting, neither reads nor writes', async () => {
  const [busy, other] = [await dealership(), await dealership()];
  const car = { condition: 'USED', make: 'Ford', model: 'Ka' };
  const holder = await busy.service.pools.doors.connect();
  await holder.query('begin');
  await holder.query('select from dealer_clock where dealer_id = $1 for update', [busy.id]);
  const queued = Array.from({ length: 40 }, () => busy.api.post('/v1/vehicles', car));
  // Were they to wait for the same connections, these would come after the queue, and the queue waits for what follows them.
  for (let i = 0; i < 5; i++) {
    await other.api.post('/v1/vehicles', car).succeeds(201);
    await other.api.get('/v1/vehicles').succeeds();
  }
  await holder.query('rollback');
  holder.release();
  const statuses = (await Promise.all(queued)).map(({ status }) => status);
  assert.ok(
    statuses.every((status) => status === 201 || status === 409),
    statuses.join(),
  );
  assert.ok(statuses.includes(201));
});
