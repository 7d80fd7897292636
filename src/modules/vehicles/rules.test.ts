import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refusal } from '#platform/errors.ts';
import type { BatchItem, VehicleChanges, VehicleStatus } from './contract.ts';
import type { Standing } from './rules.ts';
import * as rules from './rules.ts';

const now = '2026-05-01T10:00:00.000000Z';

const vehicle = (facts: Partial<Standing> = {}): Standing => ({
  id: 'a',
  external_id: null,
  branch_id: 'north',
  status: 'IN_PREPARATION',
  registration: null,
  vin: null,
  condition: 'USED',
  make: 'Ford',
  model: 'Focus',
  first_registered_on: null,
  year_of_manufacture: null,
  write_off_category: null,
  asking_price: null,
  price_on_application: false,
  provenance: null,
  metadata: {},
  website_visible: null,
  deal_id: null,
  deleted_at: null,
  created_at: now,
  ...facts,
});

const refuses = (code: string, work: () => unknown, field?: string) =>
  assert.throws(work, (error: unknown) => error instanceof Refusal && error.code === code && (!field || field in (error.fields ?? {})));

const item = (facts: Partial<BatchItem>): BatchItem => facts;

test('an item is matched by id, then external_id, then registration', () => {
  const [a, b, c] = [vehicle({ id: 'a' }), vehicle({ id: 'b', external_id: 'x' }), vehicle({ id: 'c', registration: 'AB12CDE' })];
  const named = item({ id: 'a', external_id: 'x', registration: 'AB12CDE' });
  assert.deepEqual(rules.matchFor(named, [c, b, a]), { vehicle: a, by: 'id' });
  assert.deepEqual(rules.matchFor(named, [c, b]), { vehicle: b, by: 'external_id' });
  assert.deepEqual(rules.matchFor(named, [c]), { vehicle: c, by: 'registration' });
  assert.equal(rules.matchFor(named, [vehicle({ id: 'd' })]), undefined);
  assert.equal(rules.matchFor(item({ external_id: null, registration: null }), [vehicle()]), undefined);
});

test('a registration means the live vehicle first, then the newest', () => {
  const with_ = (id: string, status: VehicleStatus, created_at: string) => vehicle({ id, status, created_at, registration: 'AB12CDE' });
  const old = with_('old', 'IN_PREPARATION', '2020-01-01T00:00:00.000000Z');
  const sold = with_('sold', 'SOLD', '2026-01-01T00:00:00.000000Z');
  const delivered = with_('delivered', 'DELIVERED', '2025-01-01T00:00:00.000000Z');
  const named = item({ registration: 'AB12CDE' });
  assert.equal(rules.matchFor(named, [sold, delivered, old])?.vehicle.id, 'old');
  assert.equal(rules.matchFor(named, [delivered, sold])?.vehicle.id, 'sold');
});

test('a car that a deal holds keeps its status, branch and registration', () => {
  const held = vehicle({ status: 'RESERVED', deal_id: 'd', registration: 'AB12CDE', asking_price: 100 });
  refuses('vehicle_in_deal', () => rules.checkDeal(held, { ...held, status: 'FOR_SALE' }));
  refuses('vehicle_in_deal', () => rules.checkDeal(held, { ...held, branch_id: 'south' }));
  refuses('vehicle_in_deal', () => rules.checkDeal(held, { ...held, registration: null }));
  refuses('vehicle_in_deal', () => rules.checkDeletable(held));
});

test('a car that a deal holds keeps its price from ORDERED on', () => {
  const held = (deal_status: string) => vehicle({ status: 'RESERVED', deal_id: 'd', deal_status, asking_price: 100 });
  const priced = (before: Standing) => rules.checkDeal(before, { ...before, asking_price: 90 });
  priced(held('RESERVED'));
  refuses('vehicle_in_deal', () => priced(held('ORDERED')));
  rules.checkDeal(held('ORDERED'), { ...held('ORDERED'), metadata: { a: 'b' } });
});

test('a sold or delivered car keeps its status and price', () => {
  for (const status of ['SOLD', 'DELIVERED'] as const) {
    const sold = vehicle({ status, asking_price: 100 });
    rules.checkDeal(sold, { ...sold, metadata: { a: 'b' } });
    refuses('vehicle_in_deal', () => rules.checkDeal(sold, { ...sold, status: 'FOR_SALE' }));
    refuses('vehicle_in_deal', () => rules.checkDeal(sold, { ...sold, asking_price: 90 }));
    refuses('vehicle_in_deal', () => rules.checkDeal(sold, { ...sold, asking_price: null, price_on_application: true }));
    refuses('vehicle_in_deal', () => rules.checkDeletable(sold));
  }
});

test('FOR_SALE needs a price or price on application, and no write-off of category A or B', () => {
  const check = (facts: Partial<Standing>) => rules.checkVehicle(vehicle({ status: 'FOR_SALE', ...facts }), {});
  check({ asking_price: 0 });
  check({ price_on_application: true, write_off_category: 'S' });
  refuses('validation_failed', () => check({}), 'asking_price');
  for (const write_off_category of ['A', 'B'])
    refuses('validation_failed', () => check({ asking_price: 1, write_off_category }), 'write_off_category');
  rules.checkVehicle(vehicle({ status: 'NOT_FOR_SALE', write_off_category: 'A' }), {});
});

test('a VIN has 17 characters, but for used vehicles built before 1981', () => {
  const check = (vin: string, facts: Partial<Standing>) => rules.checkVehicle(vehicle({ vin, ...facts }), { vin });
  check('WBA8E9C50GK647777', {});
  check('AN5L/12345', { year_of_manufacture: 1959 });
  check('AN5L12345', { first_registered_on: '1980-12-31' });
  refuses('validation_failed', () => check('WBA8E9C50GK64777', {}), 'vin');
  refuses('validation_failed', () => check('WBA8E9C50GK64777O', {}), 'vin');
  refuses('validation_failed', () => check('AN5L12345', { year_of_manufacture: 1981 }), 'vin');
  refuses('validation_failed', () => check('AN5L12345', { year_of_manufacture: 1959, condition: 'NEW' }), 'vin');
  rules.checkVehicle(vehicle({ vin: 'AN5L12345' }), { mileage: 1 });
  refuses('validation_failed', () => rules.checkVehicle(vehicle({ vin: 'AN5L12345' }), { year_of_manufacture: 2020 }), 'vin');
});

test('a vehicle is built next year at the latest', () => {
  assert.deepEqual(rules.wrongByCalendar({ year_of_manufacture: 2027 }, now), {});
  assert.deepEqual(rules.wrongByCalendar({ year_of_manufacture: 2028 }, now), { year_of_manufacture: ['At most 2027.'] });
});

test('a new vehicle needs condition, make and model', () => {
  const written: VehicleChanges = { condition: 'USED' };
  rules.checkNewVehicle({ make: 'Ford', model: 'Focus' }, written, null);
  refuses('validation_failed', () => rules.checkNewVehicle({ make: 'Ford', model: 'Focus' }, {}, null), 'condition');
  refuses('vehicle_not_created', () => rules.checkNewVehicle({ make: 'Ford', model: '' }, written, null));
  for (const lacking of ['unknown', 'refused', 'unavailable'] as const) {
    refuses('vehicle_not_created', () => rules.checkNewVehicle({ make: '', model: '' }, written, lacking));
  }
});

test('a car is in stock once; one that was sold may come back', () => {
  const known = vehicle({ id: 'k', registration: 'AB12CDE', vin: 'WBA8E9C50GK647777' });
  refuses('vehicle_not_created', () => rules.checkCreatable(vehicle({ registration: 'AB12CDE' }), [known]));
  refuses('vehicle_not_created', () => rules.checkCreatable(vehicle({ vin: 'WBA8E9C50GK647777' }), [known]));
  for (const status of ['SOLD', 'DELIVERED', 'DISPOSED'] as const) {
    rules.checkCreatable(vehicle({ registration: 'AB12CDE' }), [{ ...known, status }]);
  }
  refuses('vehicle_not_created', () => rules.checkCreatable(vehicle({ provenance: { stolen: true, scrapped: null } }), []));
});

test('stock caps: the Free plan’s, the sandbox’s, and one dealership’s share of the sandbox', () => {
  const caps = { freeStockCap: 25, sandboxStockCap: 500, sandboxStockShare: 50 };
  const room = (facts: object) => rules.roomLeft({ plan: 'STANDARD', isSandbox: false, used: 0, share: 0, ...facts }, caps);
  rules.checkRoom(vehicle(), room({ used: 1_000_000 }));
  rules.checkRoom(vehicle(), room({ plan: 'FREE', used: 24 }));
  refuses('plan_stock_cap_reached', () => rules.checkRoom(vehicle(), room({ plan: 'FREE', used: 25 })));
  rules.checkRoom(vehicle({ status: 'DISPOSED' }), room({ plan: 'FREE', used: 25 }));
  rules.checkRoom(vehicle(), room({ isSandbox: true, used: 499, share: 49 }));
  refuses('sandbox_stock_cap_reached', () => rules.checkRoom(vehicle(), room({ isSandbox: true, used: 500, share: 0 })));
  refuses('sandbox_stock_cap_reached', () => rules.checkRoom(vehicle(), room({ isSandbox: true, used: 60, share: 50 })));
});

test('on the website stands what is visible, for sale or reserved, not deleted, at a published branch', () => {
  const shown = vehicle({ status: 'FOR_SALE', website_visible: true });
  assert.ok(rules.isOnWebsite(shown, true));
  assert.ok(rules.isOnWebsite({ ...shown, status: 'RESERVED' }, true));
  assert.ok(!rules.isOnWebsite(shown, false));
  assert.ok(!rules.isOnWebsite({ ...shown, website_visible: false }, true));
  assert.ok(!rules.isOnWebsite({ ...shown, website_visible: null }, true));
  assert.ok(!rules.isOnWebsite({ ...shown, deleted_at: now }, true));
  for (const status of ['DUE_IN', 'IN_PREPARATION', 'SOLD', 'DELIVERED', 'NOT_FOR_SALE', 'DISPOSED'] as const) {
    assert.ok(!rules.isOnWebsite({ ...shown, status }, true));
  }
});

test('costs need their own scope, and its permission', () => {
  rules.checkCostsScope({ granted: ['vehicles:costs'], scopes: ['vehicles:costs'] });
  refuses('insufficient_scope', () => rules.checkCostsScope({ granted: ['vehicles:write'], scopes: ['vehicles:write'] }));
  refuses('scope_not_permitted_for_owner', () => rules.checkCostsScope({ granted: ['vehicles:costs'], scopes: [] }));
});

test('a vehicle that a deal lets go is for sale again only if it may be', () => {
  const priced = vehicle({ asking_price: 100 });
  assert.equal(rules.statusBack(priced, 'FOR_SALE'), 'FOR_SALE');
  assert.equal(rules.statusBack({ ...priced, asking_price: null }, 'FOR_SALE'), 'IN_PREPARATION');
  assert.equal(rules.statusBack({ ...priced, write_off_category: 'A' }, 'FOR_SALE'), 'IN_PREPARATION');
  assert.equal(rules.statusBack({ ...priced, asking_price: null }, 'DUE_IN'), 'DUE_IN');
});
