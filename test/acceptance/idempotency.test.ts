import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { setUser } from '#modules/staff/index.ts';
import { operation, privateKeys } from '#platform/contract.ts';
import { inTransaction, takeNumbers } from '#platform/db/transaction.ts';
import { answer, answerAfter } from '#platform/http/answer.ts';
import { alsoServe, dealership } from '../support/dealership.ts';

const car = { condition: 'USED', make: 'Ford', model: 'Fiesta' };
const withKey = (key: string) => ({ 'idempotency-key': key });

/** What the test operations wait for and how often they ran. */
const gate = { open: Promise.resolve(), reached: () => {}, outside: 0, fault: false };

const declared = {
  method: 'POST',
  tag: 'Test',
  summary: 'Counts',
  access: { scopes: [], kinds: privateKeys },
  body: z.strictObject({ note: z.string() }),
  success: { status: 201, data: z.object({ count: z.int() }) },
  refusals: [],
  silent: 'It exists in tests alone.',
} as const;

const count = answer(operation({ ...declared, id: 'test.count', path: '/v1/test/count' }), (ctx) =>
  inTransaction(ctx, async (tx) => {
    const number = await takeNumbers(tx, 'test', 1);
    gate.reached();
    await gate.open;
    if (gate.fault) throw new Error('a fault of ours');
    return { count: number };
  }),
);

const countAfter = answerAfter(
  operation({ ...declared, id: 'test.count_after', path: '/v1/test/count-after' }),
  async () => {
    gate.outside += 1;
    gate.reached();
    await gate.open;
    if (gate.fault) throw new Error('the other service is down');
    return 'fetched';
  },
  (ctx, _input, fetched) =>
    inTransaction(ctx, async (tx) => {
      assert.equal(fetched, 'fetched');
      return { count: await takeNumbers(tx, 'test', 1) };
    }),
);

alsoServe(count, countAfter);

/** When a test operation is next at the gate. */
const underWay = () =>
  new Promise<void>((resolve) => {
    gate.reached = resolve;
  });

function shut(): () => void {
  let release = () => {};
  gate.open = new Promise((resolve) => {
    release = resolve;
  });
  return () => {
    gate.open = Promise.resolve();
    release();
  };
}

/** Runs the work with operations that fault, and puts the log's silence to use. */
async function faulting(work: () => Promise<void>): Promise<void> {
  gate.fault = true;
  try {
    await work();
  } finally {
    gate.fault = false;
  }
}

test('a retry with the same key and same body returns the stored response and the work is not done twice', async () => {
  const { api } = await dealership();
  const first = await api.post('/v1/vehicles', car, withKey('a'));
  const again = await api.post('/v1/vehicles', car, withKey('a'));
  assert.equal(first.status, 201);
  assert.equal(first.headers['idempotent-replayed'], undefined);
  assert.equal(again.status, 201);
  assert.equal(again.headers['idempotent-replayed'], 'true');
  assert.deepEqual(again.body, first.body);
  assert.equal(again.headers.location, first.headers.location);
  assert.notEqual(again.headers['x-request-id'], first.headers['x-request-id']);
  assert.equal((await api.get('/v1/vehicles')).body.data.length, 1);
});

test('a replay counts on the allowance and carries its own rate headers', async () => {
  const { apiWith } = await dealership();
  const api = await apiWith({ rateLimit: 50 });
  const first = await api.post('/v1/vehicles', car, withKey('a'));
  const again = await api.post('/v1/vehicles', car, withKey('a'));
  assert.equal(Number(first.headers['x-ratelimit-remaining']) - Number(again.headers['x-ratelimit-remaining']), 1);
});

test('the order of members and white space make no other body', async () => {
  const { api } = await dealership();
  const first = await api.post('/v1/vehicles', { ...car, metadata: { a: '1', b: '2' } }, withKey('a')).succeeds(201);
  const raw = '{ "metadata": {"b":"2",  "a":"1"}, "model":"Fiesta", "make":"Ford","condition":"USED" }';
  const again = await api.post('/v1/vehicles', raw, { ...withKey('a'), 'content-type': 'application/json' });
  assert.equal(again.headers['idempotent-replayed'], 'true');
  assert.equal(again.body.data.id, first.id);
});

test('the same key with a different body, path or query is refused', async () => {
  const { api } = await dealership();
  await api.post('/v1/vehicles', car, withKey('a')).succeeds(201);
  await api.post('/v1/vehicles', { ...car, model: 'Focus' }, withKey('a')).refuses(409, 'idempotency_key_reused');
  await api.post('/v1/vehicles/batch', [car], withKey('a')).refuses(409, 'idempotency_key_reused');
  await api.post('/v1/vehicles/batch', [car], withKey('b')).succeeds(202);
  await api.post('/v1/vehicles/batch?dry_run=true', [car], withKey('b')).refuses(409, 'idempotency_key_reused');
});

test('a retry while the first attempt is still running is refused at once', async () => {
  const { api } = await dealership();
  for (const path of ['/v1/test/count', '/v1/test/count-after']) {
    const open = shut();
    const reached = underWay();
    const first = api.post(path, { note: 'x' }, withKey(path));
    await reached;
    await api.post(path, { note: 'x' }, withKey(path)).refuses(409, 'idempotency_key_in_use');
    open();
    const { count } = await first.succeeds(201);
    assert.equal((await api.post(path, { note: 'x' }, withKey(path)).succeeds(201)).count, count);
  }
});

test('of many parallel attempts with one key exactly one does the work', async () => {
  const { api } = await dealership();
  for (const path of ['/v1/test/count', '/v1/test/count-after']) {
    for (const key of ['k1', 'k2', 'k3', 'k4', 'k5']) {
      const before = gate.outside;
      const answers = await Promise.all(Array.from({ length: 10 }, () => api.post(path, { note: 'x' }, withKey(path + key))));
      const done = answers.filter(({ status }) => status === 201);
      assert.ok(done.length >= 1, JSON.stringify(answers.map(({ status, body }) => [status, body.code])));
      assert.equal(new Set(done.map(({ body }) => body.data.count)).size, 1);
      assert.equal(done.filter(({ headers }) => headers['idempotent-replayed'] === undefined).length, 1);
      for (const { status, body } of answers) if (status !== 201) assert.equal(body.code, 'idempotency_key_in_use');
      if (path.endsWith('after')) assert.equal(gate.outside - before, 1);
    }
  }
});

test('server errors are not stored and can always be retried', async () => {
  const { app, api } = await dealership();
  for (const path of ['/v1/test/count', '/v1/test/count-after']) {
    await faulting(async () => {
      const headers = { authorization: `Bearer ${api.key}`, ...withKey(path) };
      const { statusCode, payload } = await app.inject({ method: 'POST', url: path, headers, payload: { note: 'x' } });
      assert.equal(statusCode, 500);
      assert.equal(JSON.parse(payload).code, 'internal_error');
      assert.doesNotMatch(payload, /fault of ours|other service/);
    });
    const retried = await api.post(path, { note: 'x' }, withKey(path));
    assert.equal(retried.status, 201);
    assert.equal(retried.headers['idempotent-replayed'], undefined);
  }
});

test('a refusal of the operation is stored, with its writes undone', async () => {
  const { api } = await dealership();
  await api.post('/v1/vehicles', { ...car, external_id: 'e1' }).succeeds(201);
  const refused = await api.post('/v1/vehicles', { ...car, external_id: 'e1' }, withKey('a'));
  assert.equal(refused.status, 409);
  const vehicle = (await api.get('/v1/vehicles?external_id=e1').succeeds())[0];
  await api.delete(`/v1/vehicles/${vehicle.id}`).succeeds();
  const again = await api.post('/v1/vehicles', { ...car, external_id: 'e1' }, withKey('a'));
  assert.equal(again.headers['idempotent-replayed'], 'true');
  assert.equal(again.body.code, 'external_id_taken');
  assert.equal(again.body.request_id, again.headers['x-request-id']);
  assert.notEqual(again.body.request_id, refused.body.request_id);
});

test('an error of shape is stored; a body that could not be parsed is not', async () => {
  const { api } = await dealership();
  await api.post('/v1/vehicles', { make: 'Ford' }, withKey('shape')).refuses(422, 'validation_failed');
  assert.equal((await api.post('/v1/vehicles', { make: 'Ford' }, withKey('shape'))).headers['idempotent-replayed'], 'true');
  const json = { 'content-type': 'application/json' };
  await api.post('/v1/vehicles', '{"make":', { ...withKey('broken'), ...json }).refuses(422, 'validation_failed');
  await api.post('/v1/vehicles', car, withKey('broken')).succeeds(201);
});

test('what was refused before the operation began is not stored', async () => {
  const { api, apiWith, setPlan, clock } = await dealership();
  await setPlan('FREE');
  await api.post('/v1/vehicles', car, withKey('a')).refuses(403, 'plan_not_entitled');
  await setPlan('STANDARD');
  await api.post('/v1/vehicles', car, withKey('a')).succeeds(201);
  const limited = await apiWith({ rateLimit: 1 });
  await limited.get('/v1/me').succeeds();
  await limited.post('/v1/vehicles', car, withKey('a')).refuses(429, 'rate_limited');
  clock.move({ minutes: 1 });
  const later = await limited.post('/v1/vehicles', car, withKey('a'));
  clock.release();
  assert.deepEqual([later.status, later.headers['idempotent-replayed']], [201, undefined]);
});

test('a key is good for 24 hours after the answer was stored, and executes anew afterwards', async () => {
  const { api, clock } = await dealership();
  clock.set('2030-05-01T12:00:00Z');
  try {
    const first = await api.post('/v1/vehicles', car, withKey('a')).succeeds(201);
    clock.set('2030-05-02T11:59:59Z');
    assert.equal((await api.post('/v1/vehicles', car, withKey('a')).succeeds(201)).id, first.id);
    clock.set('2030-05-02T12:00:00Z');
    const anew = await api.post('/v1/vehicles', { ...car, model: 'Focus' }, withKey('a'));
    assert.equal(anew.headers['idempotent-replayed'], undefined);
    assert.notEqual(anew.body.data.id, first.id);
  } finally {
    clock.release();
  }
});

test('two credentials of one dealership do not meet each other’s keys', async () => {
  const { api, apiWith } = await dealership();
  const first = await api.post('/v1/vehicles', car, withKey('a')).succeeds(201);
  const other = await (await apiWith()).post('/v1/vehicles', car, withKey('a'));
  assert.equal(other.headers['idempotent-replayed'], undefined);
  assert.notEqual(other.body.data.id, first.id);
});

test('a replay needs a key that is still valid and has the scope', async () => {
  const { api, owner, ctx, keys, keyId } = await dealership();
  await api.post('/v1/vehicles', car, withKey('a')).succeeds(201);
  await setUser(ctx, owner.email, { without: ['STOCK_EDIT'] });
  await api.post('/v1/vehicles', car, withKey('a')).refuses(403, 'scope_not_permitted_for_owner');
  await setUser(ctx, owner.email, { with: ['STOCK_EDIT'] });
  assert.equal((await api.post('/v1/vehicles', car, withKey('a'))).headers['idempotent-replayed'], 'true');
  await keys.revoke(ctx, keyId);
  await api.post('/v1/vehicles', car, withKey('a')).refuses(401, 'api_key_revoked');
});

test('a key of 255 characters is taken; an empty, longer or unprintable one is refused', async () => {
  const { api } = await dealership();
  await api.post('/v1/vehicles', car, withKey('k'.repeat(255))).succeeds(201);
  await api.post('/v1/vehicles', car, withKey('with a space')).succeeds(201);
  for (const key of ['', 'k'.repeat(256), 'tab\there', 'caf\u00e9']) {
    const { errors } = await api.post('/v1/vehicles', car, withKey(key)).refuses(422, 'validation_failed');
    assert.deepEqual(Object.keys(errors), ['Idempotency-Key']);
  }
});

test('the header is ignored on methods other than POST', async () => {
  const { api } = await dealership();
  const { id } = await api.post('/v1/vehicles', car).succeeds(201);
  const one = await api.patch(`/v1/vehicles/${id}`, { trim: 'One' }, withKey('a'));
  const two = await api.patch(`/v1/vehicles/${id}`, { trim: 'Two' }, withKey('a'));
  assert.deepEqual([one.body.data.trim, two.body.data.trim], ['One', 'Two']);
});

test('stored answers are sealed at rest', async () => {
  const { api, service } = await dealership();
  await api.post('/v1/vehicles', { ...car, internal_notes: 'a very particular note' }, withKey('sealed')).succeeds(201);
  const { rows } = await service.pools.doors.query("select body from stored_answer where key = 'sealed'");
  assert.equal(rows.length, 1);
  assert.ok(!rows[0].body.includes('particular'));
});
