import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { silentLog } from '../../../test/support/fixtures.ts';
import type { Reply } from '../../../test/support/lookup-providers.ts';
import { elsewhere, fiesta, fiestaHistory, lookupProviders } from '../../../test/support/lookup-providers.ts';
import { lookupTimeoutMs } from './lookup.ts';
import { builtinLookup, openLookup } from './open-lookup.ts';

const providers = await lookupProviders();
const { dvla, dvsa, settings } = providers;
const plate = 'WR18XYZ';
const both = openLookup(settings, silentLog);
const dvlaAlone = openLookup({ ...settings, dvsa: null }, silentLog);
const shortMs = 400;

after(() => providers.close());
beforeEach(() => {
  dvla.replies.clear();
  dvsa.replies.clear();
  dvla.replies.set(plate, { body: fiesta });
  dvsa.replies.set(plate, { body: fiestaHistory });
  dvsa.tokenReply = {};
});

test('the DVLA tells what the registration document says, the DVSA the model', async () => {
  const lookup = await both.find(plate);
  assert.equal(lookup.lacking, null);
  assert.deepEqual(lookup.found, {
    make: 'FORD',
    model: 'FIESTA',
    colour: 'BLUE',
    fuelType: 'PETROL',
    yearOfManufacture: 2018,
    engineCapacityCc: 998,
    co2GKm: 97,
    emissionClass: 'EURO 6',
    v5cIssuedOn: '2024-04-02',
    motStatus: 'VALID',
    motExpiresOn: '2026-11-30',
    taxStatus: 'UNTAXED',
    taxDueOn: '2026-02-01',
  });
});

test('the DVLA alone yields no model', async () => {
  const { found, lacking } = await dvlaAlone.find(plate);
  assert.deepEqual([found?.make, found?.model, lacking], ['FORD', null, 'unknown']);
});

for (const [status, code] of [
  ['Taxed', 'TAXED'],
  ['SORN', 'SORN'],
  ['Not Taxed for on Road Use', 'NOT_TAXED_FOR_ROAD_USE'],
  ['Something new', null],
] as const) {
  test(`the tax status "${status}" is ${code}`, async () => {
    dvla.replies.set(plate, { body: { ...fiesta, taxStatus: status } });
    assert.equal((await dvlaAlone.find(plate)).found?.taxStatus, code);
  });
}

for (const [status, code] of [
  ['No details held by DVLA', 'NO_DETAILS'],
  ['No results returned', 'NO_RESULTS'],
  ['Not valid', 'NOT_VALID'],
] as const) {
  test(`the MOT status "${status}" is ${code}`, async () => {
    dvla.replies.set(plate, { body: { ...fiesta, motStatus: status } });
    assert.equal((await dvlaAlone.find(plate)).found?.motStatus, code);
  });
}

test('a hybrid of which the fuel is not told has no fuel type', async () => {
  dvla.replies.set(plate, { body: { ...fiesta, fuelType: 'HYBRID ELECTRIC' } });
  assert.equal((await dvlaAlone.find(plate)).found?.fuelType, null);
  dvla.replies.set(plate, { body: { ...fiesta, fuelType: 'ELECTRICITY' } });
  assert.equal((await dvlaAlone.find(plate)).found?.fuelType, 'ELECTRIC');
});

test('a field that is not as published is not told; the others are', async () => {
  const odd = {
    colour: 7,
    yearOfManufacture: 2999,
    engineCapacity: -1,
    co2Emissions: 'low',
    taxDueDate: '2026-02-30',
    euroStatus: '\u0000',
  };
  dvla.replies.set(plate, { body: { ...fiesta, ...odd } });
  const { found } = await both.find(plate);
  assert.ok(found);
  const { colour, yearOfManufacture, engineCapacityCc, co2GKm, taxDueOn, emissionClass } = found;
  assert.deepEqual([colour, yearOfManufacture, engineCapacityCc, co2GKm, taxDueOn, emissionClass], [null, null, null, null, null, null]);
  assert.deepEqual([found.make, found.model, found.motExpiresOn], ['FORD', 'FIESTA', '2026-11-30']);
});

test('a registration nobody knows is unknown, and one the DVLA takes for none is refused', async () => {
  assert.deepEqual(await both.find('AB12CDE'), { found: null, lacking: 'unknown' });
  dvla.replies.set('ER1', { status: 400, body: { errors: [{ status: '400', title: 'Bad Request' }] } });
  assert.deepEqual(await dvlaAlone.find('ER1'), { found: null, lacking: 'refused' });
});

const failures: readonly (readonly [string, Reply])[] = [
  ['429', { status: 429, body: { message: 'Too Many Requests' } }],
  ['500', { status: 500, body: 'broken' }],
  ['503', { status: 503 }],
  ['403', { status: 403 }],
  ['a page instead of JSON', { body: '<html></html>' }],
  ['an array', { body: [] }],
  ['a make that is no text', { body: { ...fiesta, make: 5, model: 5 } }],
  ['a redirect', { status: 302, location: elsewhere }],
  ['two megabytes', { body: { ...fiesta, wheelplan: 'x'.repeat(2_000_000) } }],
  ['nothing in time', { hangs: 'headers' }],
  ['half a body in time', { body: fiesta, hangs: 'body' }],
];

for (const [what, reply] of failures) {
  test(`a provider that answers ${what} is not available`, async () => {
    const timeoutMs = reply.hangs ? shortMs : lookupTimeoutMs;
    dvla.replies.set(plate, reply);
    assert.deepEqual(await openLookup({ ...settings, dvsa: null }, silentLog, timeoutMs).find(plate), {
      found: null,
      lacking: 'unavailable',
    });
    dvla.replies.set(plate, { body: fiesta });
    dvsa.replies.set(plate, reply);
    const { found, lacking } = await openLookup(settings, silentLog, timeoutMs).find(plate);
    assert.deepEqual([found?.make, found?.model, lacking], ['FORD', null, 'unavailable']);
  });
}

test('the DVSA’s model counts whatever make it tells with it', async () => {
  dvla.replies.set(plate, { body: fiesta });
  for (const make of ['', ' ', 5, 'F'.repeat(61)]) {
    dvsa.replies.set(plate, { body: { make, model: 'FIESTA' } });
    const { found } = await openLookup(settings, silentLog, lookupTimeoutMs).find(plate);
    assert.deepEqual([found?.make, found?.model], ['FORD', 'FIESTA']);
  }
});

test('where the DVLA is not available, the DVSA may still know make and model', async () => {
  dvla.replies.set(plate, { status: 503 });
  const { found, lacking } = await both.find(plate);
  assert.deepEqual([found?.make, found?.model, found?.taxStatus, lacking], ['FORD', 'FIESTA', null, null]);
});

test('a provider that is not there at all is not available', async () => {
  const gone = openLookup({ dvla: { apiUrl: 'http://127.0.0.1:9', apiKey: 'k' }, dvsa: null }, silentLog);
  assert.deepEqual(await gone.find(plate), { found: null, lacking: 'unavailable' });
});

test('a model that is written as "unknown" is none', async () => {
  dvsa.replies.set(plate, { body: { ...fiestaHistory, model: 'UNKNOWN' } });
  assert.deepEqual((await both.find(plate)).lacking, 'unknown');
});

test('one token serves many look-ups, and one that ended before its time is fetched anew, once', async () => {
  const lookup = openLookup(settings, silentLog);
  const before = dvsa.tokens;
  await Promise.all(Array.from({ length: 5 }, () => lookup.find(plate)));
  assert.equal(dvsa.tokens - before, 1);
  dvsa.accepted = 'another';
  const again = await Promise.all(Array.from({ length: 5 }, () => lookup.find(plate)));
  assert.deepEqual(new Set(again.map(({ lacking }) => lacking)), new Set([null]));
  assert.equal(dvsa.tokens - before, 2);
});

test('a token that is about to end is fetched anew', async () => {
  const lookup = openLookup(settings, silentLog);
  dvsa.tokenReply = { body: { token_type: 'Bearer', expires_in: 60, access_token: 'token-short' } };
  const before = dvsa.tokens;
  await lookup.find(plate);
  await lookup.find(plate);
  assert.ok(dvsa.tokens - before >= 2);
});

for (const [what, tokenReply] of [
  ['refuses', { status: 401 }],
  ['answers no token', { body: { token_type: 'Bearer' } }],
] as const) {
  test(`a token endpoint that ${what} costs the model, until it does better`, async () => {
    const lookup = openLookup(settings, silentLog);
    dvsa.tokenReply = tokenReply;
    assert.equal((await lookup.find(plate)).lacking, 'unavailable');
    dvsa.tokenReply = {};
    assert.equal((await lookup.find(plate)).lacking, null);
  });
}

test('the time for a token is part of the time for the look-up', async () => {
  dvsa.tokenReply = { hangs: 'headers' };
  const find = async (timeoutMs: number) => ({
    timeoutMs,
    lacking: (await openLookup(settings, silentLog, timeoutMs).find(plate)).lacking,
  });
  assert.deepEqual(await Promise.race([find(lookupTimeoutMs), find(shortMs)]), { timeoutMs: shortMs, lacking: 'unavailable' });
});

test('an address with a path is the whole address', async () => {
  const dvlaUrl = `${settings.dvla.apiUrl}/vehicle-enquiry/v1/vehicles`;
  const dvsaUrl = `${settings.dvsa.apiUrl}/v1/trade/vehicles/registration`;
  const whole = { dvla: { ...settings.dvla, apiUrl: dvlaUrl }, dvsa: { ...settings.dvsa, apiUrl: dvsaUrl } };
  assert.equal((await openLookup(whole, silentLog).find(plate)).lacking, null);
});

test('the built-in provider knows the plates of the DVLA’s test environment', async () => {
  const { found, lacking } = await builtinLookup.find('AA19AAA');
  assert.deepEqual([found?.make, found?.model, found?.taxStatus, lacking], ['FORD', 'FOCUS', 'TAXED', null]);
  assert.ok((found?.taxDueOn ?? '') > new Date().toISOString().slice(0, 10));
  for (const [registration, why] of [
    ['ER19NFD', 'unknown'],
    ['AB12CDE', 'unknown'],
    ['ER19BAD', 'refused'],
    ['ER19THR', 'unavailable'],
    ['ER19ERR', 'unavailable'],
    ['ER19MNT', 'unavailable'],
  ] as const) {
    assert.deepEqual(await openLookup({ dvla: null, dvsa: null }, silentLog).find(registration), { found: null, lacking: why });
  }
});
