import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventTypes } from './lists.ts';
import { isReadable, means, ownTypes, typesRead } from './rules.ts';

test('an entry means a type, its family, or everything', () => {
  for (const entry of ['vehicle.created', 'vehicle.*', '*']) assert.ok(means(entry, 'vehicle.created'), entry);
  for (const entry of ['vehicle.updated', 'vehicle', 'vehicle.', 'vehicle_batch.*', 'v*', '*.created', 'VEHICLE.*', '']) {
    assert.ok(!means(entry, 'vehicle.created'), entry);
  }
  assert.ok(means('vehicle_batch.*', 'vehicle_batch.completed'));
  assert.ok(!means('vehicle.*', 'vehicle_batch.completed'));
});

test('ping is of no family', () => {
  assert.ok(means('ping', 'ping') && means('*', 'ping'));
  for (const entry of ['pin.*', 'ping.*', '.*', 'null.*']) assert.ok(!means(entry, 'ping'), entry);
});

test('a type is read with any one of its scopes, and one that needs none by everybody', () => {
  assert.ok(isReadable({ ...eventTypes[0]!, scopes: ['a:read', 'b:read'] }, ['b:read']));
  assert.ok(!isReadable({ ...eventTypes[0]!, scopes: ['a:read', 'b:read'] }, ['a:write']));
  assert.ok(isReadable({ ...eventTypes[0]!, scopes: [] }, []));
});

test('of what is asked for, what the scopes let one read', () => {
  assert.deepEqual(typesRead([]), ['ping']);
  assert.deepEqual(typesRead(['customers:read'], ['customer.*', 'enquiry.created']), [
    'customer.created',
    'customer.updated',
    'customer.deleted',
  ]);
  assert.deepEqual(typesRead(['customers:read'], ['enquiry.*']), []);
  assert.deepEqual(typesRead(['vehicles:write']), ['vehicle_batch.completed', 'ping']);
  assert.deepEqual(typesRead(['vehicles:read'], ['*']).length, 6);
});

test('in the sandbox batches and tests of endpoints are told to nobody else', () => {
  assert.deepEqual(ownTypes, ['vehicle_batch.completed', 'ping']);
});
