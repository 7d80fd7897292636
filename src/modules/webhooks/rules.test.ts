import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import type { EventType } from '#platform/contract.ts';
import { Refusal } from '#platform/errors.ts';
import type { Receiver } from './rules.ts';
import * as rules from './rules.ts';

const refusal = (work: () => unknown): Refusal => {
  try {
    work();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('Nothing was refused.');
};

const type = (name: string, ...scopes: EventType['scopes']): EventType => ({ type: name, summary: '', object: z.object({}), scopes });
const created = type('vehicle.created', 'vehicles:read');

test('what names no type, a ping, and what is named twice are refused, all at once', () => {
  const entries = [
    { entry: 'vehicle.created', types: [created], near: undefined },
    { entry: 'ping', types: [], near: undefined },
    { entry: 'vehicle.craeted', types: [], near: 'vehicle.created' },
    { entry: 'no such', types: [], near: undefined },
    { entry: 'vehicle.created', types: [created], near: undefined },
  ];
  assert.deepEqual(refusal(() => rules.checkEntries('events', entries)).fields, {
    events: [
      'A ping is sent by the test of an endpoint alone; it cannot be subscribed to.',
      'There is no event type "vehicle.craeted". Did you mean "vehicle.created"?',
      'There is no event type "no such".',
      '"vehicle.created" is named twice.',
    ],
  });
  rules.checkEntries('events', entries.slice(0, 1));
});

test('a hidden type is refused for want of its scope, or of the permission behind a scope the key was given', () => {
  rules.refuseHidden([], []);
  const lacking = refusal(() => rules.refuseHidden([created], ['events:read']));
  assert.deepEqual([lacking.code, lacking.required], ['insufficient_scope', { scope: 'vehicles:read' }]);
  const either = type('vehicle_batch.completed', 'vehicles:read', 'vehicles:write');
  const lost = refusal(() => rules.refuseHidden([either], ['vehicles:write']));
  assert.deepEqual([lost.code, lost.required], ['scope_not_permitted_for_owner', { scope: 'vehicles:write', permission: 'STOCK_EDIT' }]);
});

test('the twentieth endpoint has room, the twenty-first has not', () => {
  rules.checkRoom(19);
  assert.equal(refusal(() => rules.checkRoom(20)).code, 'webhook_endpoint_limit_reached');
});

test('a window lies within the last thirty days, and its last second is part of it', () => {
  const now = '2026-03-31T12:00:00.500000Z';
  const read = (since: string, until?: string) => rules.windowOf({ since, until }, now);
  assert.deepEqual(read('2026-03-01T12:00:00.5Z'), { since: '2026-03-01T12:00:00.500000Z', until: now });
  assert.equal(read('2026-03-30T12:00:00+02:00', '2026-03-30T12:00:00+02:00').until, '2026-03-30T10:00:00.999999Z');
  assert.deepEqual(Object.keys(refusal(() => read('2026-03-01T12:00:00Z')).fields ?? {}), ['since']);
  assert.deepEqual(Object.keys(refusal(() => read('2026-03-31T12:00:01Z')).fields ?? {}), ['since']);
  assert.deepEqual(Object.keys(refusal(() => read('2026-03-30T00:00:00Z', '2026-03-29T00:00:00Z')).fields ?? {}), ['until']);
});

test('an event is sent again only where it would go if it happened today', () => {
  const receiver: Receiver = { enabled: true, branches: ['a'], callingDealerId: 'me', types: ['vehicle.created'] };
  const event = { type: 'vehicle.created', branch_id: 'a', calling_dealer_id: 'me' };
  rules.checkReceives(receiver, event, true);
  rules.checkReceives(receiver, { ...event, branch_id: null, calling_dealer_id: 'they' }, false);
  for (const [wrong, isShared] of [
    [{ ...event, type: 'vehicle.deleted' }, false],
    [{ ...event, branch_id: 'b' }, false],
    [{ ...event, calling_dealer_id: 'they' }, true],
  ] as const)
    assert.equal(refusal(() => rules.checkReceives(receiver, wrong, isShared)).code, 'request_refused');
  assert.match(refusal(() => rules.checkEnabled({ enabled: false })).message, /"enabled": true/);
});

test('a hundred thousand events are replayed at once, and not one more', () => {
  rules.checkReplayed(100_000);
  assert.match(refusal(() => rules.checkReplayed(100_001)).message, /100000 events/);
});
