import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { z } from 'zod';
import { operation, privateKeys } from '#platform/contract.ts';
import { answerAfterIf } from '#platform/http/answer.ts';
import type { Dealership } from '../../../test/support/dealership.ts';
import { alsoServe, dealership, lookUpWith } from '../../../test/support/dealership.ts';
import { fiesta, fiestaHistory, lookupProviders } from '../../../test/support/lookup-providers.ts';
import { until } from '../../../test/support/until.ts';
import { writeRemaining } from './index.ts';
import { lookUpsWithin } from './lookup.ts';

const providers = await lookupProviders();
const { dvla, dvsa } = providers;
lookUpWith(providers.settings);
after(() => providers.close());

const plate = 'WR18XYZ';
const bare = { condition: 'USED', registration: plate };

beforeEach(() => {
  for (const provider of [dvla, dvsa]) {
    provider.replies.clear();
    provider.asked.length = 0;
    provider.busiest = 0;
    provider.gate = Promise.resolve();
  }
  dvla.replies.set(plate, { body: fiesta });
  dvsa.replies.set(plate, { body: fiestaHistory });
});

/** Lets the providers answer only when the returned function is called. */
function shut(): () => void {
  let open = () => {};
  dvla.gate = new Promise((resolve) => {
    open = resolve;
  });
  return open;
}

/** The transactions that are open in this file's database, the asking one aside. */
const openTransactions = async ({ service }: Dealership): Promise<number> => {
  const { rows } = await service.pools.doors.query(
    'select count(*) as n from pg_stat_activity where datname = current_database() and xact_start is not null and pid <> pg_backend_pid()',
  );
  return rows[0].n;
};

test('a vehicle is created by its registration alone, with all that the look-up yields', async () => {
  const { api } = await dealership();
  const vehicle = await api.post('/v1/vehicles', { condition: 'USED', registration: 'wr18 xyz' }).succeeds(201);
  const expected = {
    make: 'FORD',
    model: 'FIESTA',
    title: '2018 FORD FIESTA',
    colour: 'BLUE',
    fuel_type: 'PETROL',
    year_of_manufacture: 2018,
    engine_capacity_cc: 998,
    co2_g_km: 97,
    emission_class: 'EURO 6',
    v5c_issued_on: '2024-04-02',
    mot_status: 'VALID',
    mot_expires_on: '2026-11-30',
    tax_status: 'UNTAXED',
    tax_due_on: '2026-02-01',
    first_registered_on: null,
  };
  assert.deepEqual(Object.fromEntries(Object.keys(expected).map((field) => [field, vehicle[field]])), expected);
  assert.deepEqual(await api.get(`/v1/vehicles/${vehicle.id}`).succeeds(), vehicle);
  assert.deepEqual([dvla.asked, dvsa.asked], [[plate], [plate]]);
});

test('what the caller sends wins over what the look-up says, null too', async () => {
  const { api } = await dealership();
  const sent = { model: 'Fiesta ST', colour: null, year_of_manufacture: 2017, mot_expires_on: '2027-01-01' };
  const vehicle = await api.post('/v1/vehicles', { ...bare, ...sent }).succeeds(201);
  const { model, colour, year_of_manufacture, mot_expires_on } = vehicle;
  assert.deepEqual({ model, colour, year_of_manufacture, mot_expires_on }, sent);
  assert.deepEqual([vehicle.make, vehicle.tax_status], ['FORD', 'UNTAXED']);
});

test('nobody is asked about a vehicle that names make and model, nor about a change', async () => {
  const { api } = await dealership();
  const vehicle = await api.post('/v1/vehicles', { ...bare, make: 'Ford', model: 'Fiesta' }).succeeds(201);
  await api.patch(`/v1/vehicles/${vehicle.id}`, { registration: 'AB12CDE' }).succeeds();
  await api.post('/v1/vehicles', { ...bare, doors: 'five' }).refuses(422, 'validation_failed');
  assert.deepEqual([vehicle.tax_status, dvla.asked, dvsa.asked], [null, [], []]);
});

test('a look-up that yields no model is not enough, unless the model is sent', async () => {
  const { api } = await dealership();
  dvsa.replies.delete(plate);
  const { message } = await api.post('/v1/vehicles', bare).refuses(422, 'vehicle_not_created');
  assert.match(message, /no look-up of the registration yielded both/);
  assert.equal((await api.post('/v1/vehicles', { ...bare, model: 'Fiesta' }).succeeds(201)).make, 'FORD');
});

for (const [what, reply] of [
  ['too many requests', { status: 429 }],
  ['a fault', { status: 500, body: 'oops' }],
  ['maintenance', { status: 503 }],
  ['a malformed body', { body: '{"make":' }],
] as const) {
  test(`${what} of a provider is no fault of ours: the vehicle is not created, and the message says why`, async () => {
    const { api } = await dealership();
    dvla.replies.set(plate, reply);
    dvsa.replies.set(plate, reply);
    const { message } = await api.post('/v1/vehicles', bare).refuses(422, 'vehicle_not_created');
    assert.match(message, /the look-up of the registration is not available at the moment/);
  });
}

test('a registration that the provider refuses is told apart from one it does not know', async () => {
  const { api } = await dealership();
  dvla.replies.set(plate, { status: 400 });
  dvsa.replies.delete(plate);
  assert.match((await api.post('/v1/vehicles', bare).refuses(422, 'vehicle_not_created')).message, /takes this for no registration/);
  assert.match(
    (await api.post('/v1/vehicles', { ...bare, registration: 'AB12CDE' }).refuses(422, 'vehicle_not_created')).message,
    /yielded both/,
  );
});

test('a retry with the same key does not call out again, whether the vehicle was created or not', async () => {
  const { api } = await dealership();
  const first = await api.post('/v1/vehicles', bare, { 'idempotency-key': 'a' });
  const again = await api.post('/v1/vehicles', bare, { 'idempotency-key': 'a' });
  assert.deepEqual([again.status, again.body, again.headers['idempotent-replayed']], [201, first.body, 'true']);
  const unknown = { condition: 'USED', registration: 'AB12CDE' };
  await api.post('/v1/vehicles', unknown, { 'idempotency-key': 'b' }).refuses(422, 'vehicle_not_created');
  await api.post('/v1/vehicles', unknown, { 'idempotency-key': 'b' }).refuses(422, 'vehicle_not_created');
  assert.deepEqual(dvla.asked, [plate, 'AB12CDE']);
});

test('while a provider is asked, no transaction is open and a retry is told to wait', async () => {
  const dealer = await dealership();
  for (const headers of [{}, { 'idempotency-key': 'a' }] as Record<string, string>[]) {
    dvla.asked.length = 0;
    const open = shut();
    const creating = dealer.api.post('/v1/vehicles', { ...bare, vin: null }, headers);
    await until(async () => dvla.asked.length > 0);
    assert.equal(await openTransactions(dealer), 0);
    if ('idempotency-key' in headers) {
      await dealer.api.post('/v1/vehicles', { ...bare, vin: null }, headers).refuses(409, 'idempotency_key_in_use');
    }
    // Nor is the stock locked.
    await dealer.api.post('/v1/vehicles', { condition: 'NEW', make: 'Ford', model: 'Puma' }).succeeds(201);
    open();
    const { id } = await creating.succeeds(201);
    await dealer.api.delete(`/v1/vehicles/${id}`).succeeds();
    assert.equal(dvla.asked.length, 1);
  }
});

test('a POST that needs no call leaves no claim behind it: it stays one transaction', async () => {
  const { api, service } = await dealership();
  const claims = async () => {
    const { rows } = await service.pools.doors.query(
      "select key from stored_answer where key like 'claim-%' and running_owner is not null",
    );
    return rows.map(({ key }) => key);
  };
  const seen = async (note: string) =>
    (await api.post('/v1/test/maybe', { note }, { 'idempotency-key': `claim-${note}` }).succeeds(201)).seen;
  looksAtClaims = claims;
  assert.deepEqual(await seen('stays'), ['nothing']);
  assert.deepEqual(await seen('out'), ['fetched', 'claim-out']);
  await api.post('/v1/test/maybe', { note: 5 }, { 'idempotency-key': 'claim-shape' }).refuses(422, 'validation_failed');
  assert.deepEqual(await claims(), []);
});

let looksAtClaims = async (): Promise<string[]> => [];

alsoServe(
  answerAfterIf(
    operation({
      id: 'test.maybe',
      method: 'POST',
      path: '/v1/test/maybe',
      tag: 'Test',
      summary: 'Calls out, or not',
      access: { scopes: [], kinds: privateKeys },
      body: z.strictObject({ note: z.string() }),
      success: { status: 201, data: z.object({ seen: z.array(z.string()) }) },
      refusals: [],
      silent: 'It exists in tests alone.',
    }),
    ({ body }) => body.note === 'out',
    async () => 'fetched',
    async (_ctx, _input, fetched) => ({ seen: [fetched ?? 'nothing', ...(await looksAtClaims())] }),
  ),
);

test('the plates of the sandbox hold whoever is asked elsewhere, and cost no call', async () => {
  const { apiWith } = await dealership();
  const api = await apiWith({ environment: 'test' });
  const vehicle = await api.post('/v1/vehicles', { condition: 'USED', registration: 'AA19 AAA' }).succeeds(201);
  assert.deepEqual([vehicle.make, vehicle.model, vehicle.mot_status], ['FORD', 'FOCUS', 'NO_DETAILS']);
  for (const [registration, message] of [
    ['ER19NFD', /yielded both/],
    ['ER19BAD', /takes this for no registration/],
    ['ER19THR', /not available/],
    ['ER19ERR', /not available/],
    ['ER19MNT', /not available/],
  ] as const) {
    assert.match(
      (await api.post('/v1/vehicles', { condition: 'USED', registration }).refuses(422, 'vehicle_not_created')).message,
      message,
    );
  }
  assert.deepEqual(dvla.asked, []);
});

// ---- Batches ----

type Item = { operation: string | null; error: { code: string; message: string } | null };
const brief = ({ items }: { items: Item[] }) => items.map(({ operation, error }) => error?.code ?? operation);

async function upload({ api, ctx }: Dealership, vehicles: unknown[]) {
  const { id } = await api.post('/v1/vehicles/batch', vehicles).succeeds(202);
  await writeRemaining(ctx, id);
  return api.get(`/v1/vehicle-batches/${id}`).succeeds();
}

test('the bare items of a batch are looked up, each registration once; only those that would be new', async () => {
  const dealer = await dealership();
  await dealer.api.post('/v1/vehicles', { condition: 'USED', make: 'Kia', model: 'Rio', registration: 'KN0WN' }).succeeds(201);
  dvla.replies.set('D0WN', { status: 503 });
  const batch = await upload(dealer, [
    { ...bare, external_id: 'a' },
    { registration: 'KN0WN', mileage: 7 },
    { registration: 'NEW1' },
    { condition: 'USED', registration: 'N0B0DY' },
    { condition: 'USED', registration: 'D0WN' },
    { condition: 'USED', make: 'Kia', model: 'Ceed', registration: 'NEW2' },
    { external_id: 'a', registration: plate, mileage: 9 },
    { condition: 'USED' },
  ]);
  const refused = 'vehicle_not_created';
  assert.deepEqual(brief(batch), ['created', 'updated', 'validation_failed', refused, refused, 'created', 'updated', refused]);
  assert.match(batch.items[3].error.message, /yielded both/);
  assert.match(batch.items[4].error.message, /not available/);
  assert.deepEqual(dvla.asked.toSorted(), ['D0WN', 'N0B0DY', plate]);
  const vehicle = await dealer.api.get(`/v1/vehicles/${batch.items[0].vehicle_id}`).succeeds();
  assert.deepEqual([vehicle.model, vehicle.tax_status, vehicle.mileage], ['FIESTA', 'UNTAXED', 9]);
});

test('the items of a batch are asked for a few at a time, with no transaction open', async () => {
  const dealer = await dealership();
  const plates = Array.from({ length: 120 }, (_, n) => `BT${n}`);
  for (const each of plates) {
    dvla.replies.set(each, { body: fiesta });
    dvsa.replies.set(each, { body: fiestaHistory });
  }
  const open = shut();
  const uploading = upload(
    dealer,
    plates.map((registration) => ({ condition: 'USED', registration })),
  );
  await until(async () => dvla.asked.length >= 4);
  assert.equal(await openTransactions(dealer), 0);
  open();
  assert.equal((await uploading).created, plates.length);
  assert.deepEqual(dvla.asked.toSorted(), plates.toSorted());
  assert.equal(dvla.busiest, 4);
});

test('look-ups end when their time is over', async () => {
  const { ctx } = await dealership();
  const { known, ask } = lookUpsWithin(ctx, 0);
  await ask([plate, 'AB12CDE']);
  assert.deepEqual(
    [...known.values()].map(({ lacking }) => lacking),
    ['unavailable', 'unavailable'],
  );
  assert.deepEqual(dvla.asked, []);
});

test('a dry run looks up what the batch would, and writes nothing', async () => {
  const { api } = await dealership();
  const items = [bare, bare, { condition: 'USED', registration: 'N0B0DY' }, 'no object'];
  for (const headers of [{}, { 'idempotency-key': 'dry' }] as Record<string, string>[]) {
    dvla.asked.length = 0;
    const foreseen = await api.post('/v1/vehicles/batch?dry_run=true', items, headers).succeeds(200);
    assert.deepEqual(brief(foreseen), ['created', 'updated', 'vehicle_not_created', 'validation_failed']);
    assert.deepEqual(dvla.asked.toSorted(), ['N0B0DY', plate]);
  }
  assert.deepEqual((await api.get('/v1/vehicles')).body.data, []);
});
