import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isNews, settled, written } from './changes.ts';
import { vehicleChanges } from './contract.ts';
import type { VehicleRow } from './queries.ts';
import { blankVehicle } from './queries.ts';

const day = (n: number) => `2026-05-${String(n).padStart(2, '0')}T10:00:00.000000Z`;
const published = { name: 'Main', published: true };

const stocked = (facts: Partial<VehicleRow> = {}): VehicleRow => ({
  ...blankVehicle,
  id: 'a',
  make: 'Ford',
  model: 'Focus',
  created_at: day(1),
  updated_at: day(1),
  status_changed_at: day(1),
  branch_name: 'Main',
  ...facts,
});

const writing = (before: VehicleRow, changes: object, at = day(2), branch = published) =>
  settled(before, written(before, vehicleChanges.parse(changes)), branch, at);

test('what was read can be written back and changes nothing, moments too', () => {
  const { after } = writing(stocked(), { provenance: { provider: 'HPI', checked_at: '2026-05-01T11:00:00.75+01:00' } });
  const { changed } = writing(after, { provenance: { provider: 'HPI', checked_at: '2026-05-01T10:00:00Z' } });
  assert.deepEqual(changed, []);
});

test('an absent field is left, null clears it, an object is merged, an array replaced', () => {
  const before = stocked({
    colour: 'Red',
    condition_body: 'GOOD',
    features: [{ name: 'Sunroof', type: 'STANDARD' }],
    metadata: { a: '1', b: '2' },
  });
  const { after, changed } = writing(before, {
    colour: null,
    conditions: { tyres: 'NEW' },
    features: [{ name: 'Towbar' }],
    metadata: { a: null, c: '3' },
    type: null,
  });
  assert.equal(after.colour, null);
  assert.equal(after.make, 'Ford');
  assert.deepEqual([after.condition_body, after.condition_tyres], ['GOOD', 'NEW']);
  assert.deepEqual(after.features, [{ name: 'Towbar', type: 'STANDARD' }]);
  assert.deepEqual(after.metadata, { b: '2', c: '3' });
  assert.equal(after.type, 'CAR');
  assert.deepEqual(changed.toSorted(), ['colour', 'conditions', 'features', 'metadata']);
});

test('the moment of a provenance check is kept as it is shown, so that what was read changes nothing when it is written back', () => {
  const { after } = writing(stocked(), { provenance: { checked_at: '2026-04-30T10:00:00.75+01:00' } });
  assert.equal(after.provenance?.checked_at, '2026-04-30T09:00:00.000000Z');
  assert.deepEqual(writing(after, { provenance: { checked_at: '2026-04-30T09:00:00Z' } }, day(3)).changed, []);
});

test('a write that changes nothing leaves updated_at', () => {
  const before = stocked({ metadata: { a: '1' }, registration: 'AB12CDE' });
  const same = writing(before, {
    registration: 'ab12 cde',
    metadata: { a: '1' },
    features: [],
    status: 'IN_PREPARATION',
    website_visible: false,
  });
  assert.deepEqual(same.changed, []);
  assert.equal(same.after.updated_at, day(1));
});

test('website_visible becomes true with the first FOR_SALE, unless it was written before', () => {
  const before = stocked();
  const forSale = writing(before, { status: 'FOR_SALE', asking_price: 100 });
  assert.equal(forSale.after.website_visible, true);
  assert.equal(forSale.after.on_website, true);
  assert.ok(forSale.changed.includes('website_visible'));

  const hidden = writing(before, { website_visible: false });
  assert.ok(isNews(hidden), 'it is kept although nothing shows');
  assert.equal(writing(hidden.after, { status: 'FOR_SALE', asking_price: 100 }).after.website_visible, false);
  assert.equal(writing(forSale.after, { status: 'RESERVED' }).after.website_visible, true);
});

test('a vehicle that leaves the website is marked, one that returns is not any more', () => {
  const shown = writing(stocked(), { status: 'FOR_SALE', asking_price: 100 }).after;
  const left = writing(shown, { status: 'NOT_FOR_SALE' }, day(3)).after;
  assert.deepEqual([left.on_website, left.left_website_at], [false, day(3)]);
  assert.equal(writing(left, { mileage: 5 }, day(4)).after.left_website_at, day(3));
  const back = writing(left, { status: 'FOR_SALE' }, day(5)).after;
  assert.deepEqual([back.on_website, back.left_website_at], [true, null]);
  assert.equal(
    writing(shown, { branch_id: '00000000-0000-4000-8000-000000000001' }, day(6), { name: 'Yard', published: false }).after.left_website_at,
    day(6),
  );
  assert.equal(writing(stocked(), { mileage: 5 }).after.left_website_at, null);
});

test('an amount ends price on application, and price on application clears the amount', () => {
  const priced = writing(stocked(), { asking_price: 100 }).after;
  const onApplication = writing(priced, { price_on_application: true });
  assert.deepEqual([onApplication.after.asking_price, onApplication.after.price_on_application], [null, true]);
  assert.deepEqual(onApplication.changed.toSorted(), ['asking_price', 'price_on_application']);
  const again = writing(onApplication.after, { asking_price: 90 }).after;
  assert.deepEqual([again.asking_price, again.price_on_application, again.previous_asking_price], [90, false, 100]);
  assert.ok(!vehicleChanges.safeParse({ asking_price: 1, price_on_application: true }).success);
});

test('the last different price is kept with the time it ended', () => {
  const first = writing(stocked({ asking_price: 100 }), { asking_price: 90 }, day(3)).after;
  assert.deepEqual([first.previous_asking_price, first.price_changed_at], [100, day(3)]);
  const second = writing(first, { asking_price: 80, mileage: 5 }, day(4)).after;
  assert.deepEqual([second.previous_asking_price, second.price_changed_at], [90, day(4)]);
  assert.equal(writing(second, { mileage: 6 }, day(5)).after.price_changed_at, day(4));
});
