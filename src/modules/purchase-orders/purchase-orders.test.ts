import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Dealership } from '../../../test/support/dealership.ts';
import { dealership } from '../../../test/support/dealership.ts';
import { cancelPurchaseOrder, createPurchaseOrder, receivePurchaseOrder } from './index.ts';

const nobody = '00000000-0000-4000-8000-000000000000';
const car = { condition: 'USED', make: 'Ford', model: 'Focus', status: 'DUE_IN' };

const newCar = async ({ api }: Dealership, more: object = {}): Promise<string> =>
  (await api.post('/v1/vehicles', { ...car, ...more }).succeeds(201)).id;
const refuses = (work: Promise<unknown>, code: string) => assert.rejects(work, { code });

test('cars are ordered of a supplier, and each tells which order it is on', async () => {
  const d = await dealership();
  const [first, second] = [await newCar(d), await newCar(d)];
  const order = await createPurchaseOrder(d.ctx, { supplier_name: 'A Supplier Ltd', vehicle_ids: [first, second] });
  const { id, ...rest } = order;
  assert.deepEqual(rest, { reference: 'PO-000001', branch_id: d.branch.id, status: 'OPEN', supplier_name: 'A Supplier Ltd' });
  for (const vehicleId of [first, second]) {
    assert.equal((await d.api.get(`/v1/vehicles/${vehicleId}`).succeeds()).costs.purchase_order_id, id);
    const { rows } = await d.service.pools.doors.query(
      "select data from event where dealer_id = $1 and resource_id = $2 and type = 'vehicle.updated'",
      [d.id, vehicleId],
    );
    assert.deepEqual(
      rows.map(({ data }) => [JSON.parse(data).changed, JSON.parse(data).object.costs]),
      [[['costs'], null]],
    );
  }
});

test('a vehicle on a purchase order is not deleted, until that is cancelled', async () => {
  const d = await dealership();
  const [vehicleId, other] = [await newCar(d), await newCar(d)];
  const order = await createPurchaseOrder(d.ctx, { supplier_name: 'A Supplier Ltd', vehicle_ids: [vehicleId] });
  await d.api.delete(`/v1/vehicles/${vehicleId}`).refuses(409, 'vehicle_has_purchase_order');
  const received = await createPurchaseOrder(d.ctx, { supplier_name: 'A Supplier Ltd', vehicle_ids: [other] });
  await receivePurchaseOrder(d.ctx, received.id);
  await d.api.delete(`/v1/vehicles/${other}`).refuses(409, 'vehicle_has_purchase_order');
  await cancelPurchaseOrder(d.ctx, order.id);
  await d.api.delete(`/v1/vehicles/${vehicleId}`).succeeds();
});

test('an open order is received or cancelled, once; the same again changes nothing', async () => {
  const d = await dealership();
  const order = () => createPurchaseOrder(d.ctx, { supplier_name: 'A Supplier Ltd', vehicle_ids: [] });
  const [one, two] = [await order(), await order()];
  assert.equal((await receivePurchaseOrder(d.ctx, one.id)).status, 'RECEIVED');
  assert.equal((await receivePurchaseOrder(d.ctx, one.id)).status, 'RECEIVED');
  await refuses(cancelPurchaseOrder(d.ctx, one.id), 'request_refused');
  assert.equal((await cancelPurchaseOrder(d.ctx, two.id)).status, 'CANCELLED');
  await refuses(receivePurchaseOrder(d.ctx, two.id), 'request_refused');
  await refuses(receivePurchaseOrder(d.ctx, nobody), 'not_found');
});

test('what is wrong with an order is said by field, and nothing is ordered', async () => {
  const d = await dealership();
  for (const wrong of [{ supplier_name: ' ' }, { supplier_name: 'x'.repeat(121) }, { vehicle_ids: ['none'] }, { supplier: 'A' }]) {
    const order = { supplier_name: 'A Supplier Ltd', vehicle_ids: [], ...wrong };
    await assert.rejects(createPurchaseOrder(d.ctx, order), ({ code, fields }) => {
      return code === 'validation_failed' && Object.keys(fields)[0]?.split('.')[0] === Object.keys(wrong)[0];
    });
  }
  assert.equal((await createPurchaseOrder(d.ctx, { supplier_name: ' A Supplier Ltd ', vehicle_ids: [] })).reference, 'PO-000001');
});

test('a car is on one order at a time, and is one the caller sees', async () => {
  const d = await dealership();
  const away = await d.newBranch();
  const [mine, theirs] = [await newCar(d), await newCar(d, { branch_id: away.id })];
  const buy = (vehicleId: string, ctx = d.ctx) => createPurchaseOrder(ctx, { supplier_name: 'A Supplier Ltd', vehicle_ids: [vehicleId] });
  const order = await buy(mine);
  await refuses(buy(mine), 'validation_failed');
  await cancelPurchaseOrder(d.ctx, order.id);
  assert.equal((await buy(mine)).reference, 'PO-000002');
  await refuses(buy(nobody), 'validation_failed');
  const here = { ...d.ctx, caller: { ...d.ctx.caller, branches: [d.branch.id] } };
  await refuses(buy(theirs, here), 'validation_failed');
  const { id } = await createPurchaseOrder(d.ctx, { branch_id: away.id, supplier_name: 'A Supplier Ltd', vehicle_ids: [theirs] });
  await refuses(cancelPurchaseOrder(here, id), 'not_found');
});
