import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refusal } from '#platform/errors.ts';
import type { Kind, Link } from './contract.ts';
import type { FoundThing } from './rules.ts';
import { checkLinks, linksIn, newLinks } from './rules.ts';

const kinds = { customer_id: 'customer', vehicle_id: 'vehicle', technician_ids: 'staff' } as const;

const record = (branchId: string, kind: Kind = 'customer'): FoundThing => ({ kind, branch_id: branchId, works: null });
const vehicle = (branchId: string) => record(branchId, 'vehicle');
const member = { status: 'active', all_branches: false, branch_ids: ['b'] };
const staff = (facts: Partial<typeof member> = {}): FoundThing => ({ kind: 'staff', branch_id: null, works: { ...member, ...facts } });

/** The fields that are refused. */
function refused(links: readonly Link[], found: Record<string, FoundThing>, reach: 'all' | readonly string[] = 'all'): string[] {
  try {
    checkLinks(links, new Map(Object.entries(found)), 'b', reach);
    return [];
  } catch (error) {
    assert.ok(error instanceof Refusal && error.code === 'validation_failed');
    return Object.keys(error.fields ?? {});
  }
}

const all: Link[] = [
  { field: 'customer_id', kind: 'customer', id: 'c' },
  { field: 'vehicle_id', kind: 'vehicle', id: 'v' },
  { field: 'assigned_to_id', kind: 'staff', id: 's' },
];

test('a body names what its fields say, one or several; what is cleared or absent names nothing', () => {
  assert.deepEqual(linksIn({ customer_id: 'c', vehicle_id: null, technician_ids: ['s', 't'] }, kinds), [
    { field: 'customer_id', kind: 'customer', id: 'c' },
    { field: 'technician_ids', kind: 'staff', id: 's' },
    { field: 'technician_ids', kind: 'staff', id: 't' },
  ]);
  assert.deepEqual(linksIn({}, kinds), []);
});

test('what a record named before is not asked about again', () => {
  const links = linksIn({ customer_id: 'c', vehicle_id: 'v', technician_ids: ['s', 't'] }, kinds);
  assert.deepEqual(
    newLinks(links, { customer_id: 'c', vehicle_id: null, technician_ids: ['t'] }).map(({ id }) => id),
    ['v', 's'],
  );
});

test('only what the caller sees is named, and only who works at the branch is given a record', () => {
  assert.deepEqual(refused(all, {}), ['customer_id', 'vehicle_id', 'assigned_to_id']);
  assert.deepEqual(refused(all, { c: record('c'), v: vehicle('c'), s: staff() }), []);
  assert.deepEqual(refused(all, { c: record('c'), v: vehicle('b'), s: staff() }, ['b']), ['customer_id']);
  assert.deepEqual(refused(all, { c: record('b'), v: vehicle('b'), s: staff({ branch_ids: ['c'] }) }), ['assigned_to_id']);
  assert.deepEqual(refused(all, { c: record('b'), v: vehicle('b'), s: staff({ branch_ids: [], all_branches: true }) }), []);
  assert.deepEqual(refused(all, { c: record('b'), v: vehicle('b'), s: staff({ status: 'banned' }) }), ['assigned_to_id']);
});

test('an id is one of its field’s kind, or of none', () => {
  const links = linksIn({ customer_id: 'v', vehicle_id: 'v', technician_ids: ['v'] }, kinds);
  assert.deepEqual(refused(links, { v: vehicle('b') }), ['customer_id', 'technician_ids']);
});
