import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Wrong } from '../../torture/judge.ts';
import { judge } from '../../torture/judge.ts';
import type { Attempted, Received, Records } from '../../torture/records.ts';
import { endure } from '../../torture/torture.ts';

/** The short form of `npm run torture`. */
const ordeal = { seconds: 25, deliveries: 4_000, kills: 6, restarts: 1, seed: 1 };

test('what was acknowledged is delivered and listed once, in order, though processes are killed, the database is stopped and receivers misbehave', async (t) => {
  const { records, troubles } = await endure(ordeal, () => undefined);
  const { duplicates, due, retries, wrong } = judge(records);
  t.diagnostic(`${due} deliveries due, ${records.received.length} received, duplicates ${JSON.stringify(duplicates)}`);
  assert.deepEqual(found(wrong), {}, JSON.stringify([...wrong], null, 2));
  assert.equal(records.lives.filter(({ killed }) => killed).length, ordeal.kills);
  assert.equal(records.outages.length, ordeal.restarts);
  assert.ok(due > 1_000 && retries.count > 0, 'there was something to judge');
  assert.equal(troubles.faults, 0, 'an API without a database says that it is unavailable, and 500 to nobody');

  // A judge that never finds anything is none: each of these is told as what it is.
  const trouble = Math.max(...records.lives.map(({ to }) => to ?? 0), ...records.outages.map(({ to }) => to));
  const well = new Set(records.endpoints.filter(({ way }) => way === 'takes').map(({ path }) => path));
  const underWay = new Set(records.bereft.map(({ eventId }) => eventId));
  const one = records.received.find(
    ({ path, at, eventId }) => well.has(path) && at > trouble && at < records.closedAt - 20_000 && !underWay.has(eventId),
  )!;
  const [fromOne, others] = [(each: Received) => isOf(each, one), (each: Received) => !isOf(each, one)];
  const again = { ...one, at: one.at + 1_000, signature: 'another' };
  const [own] = records.attempted.filter(({ signature }) => signature === one.signature) as [Attempted];
  const { endpointId, eventId } = own;
  const refused = retriedOnce(records);
  const failing = records.endpoints.find(({ way }) => way === 'fails')!;
  const itsEvents = records.listed.filter(({ dealerId }) => dealerId === failing.dealerId).length;
  const killedLater = records.lives.map((life) => ({ ...life, to: life.to ?? one.at + 60_000 }));
  const muchLater = { at: one.at + 120_000, signature: 'another' };
  const [first, second] = records.listed as [Records['listed'][number], Records['listed'][number]];
  const doctored: [string, Partial<Records>, Partial<Record<Wrong, number>>][] = [
    ['nobody received it', { received: records.received.filter(others) }, { lost: 1, 'logged, not received': 1 }],
    ['it came twice', { received: [...records.received, again] }, { unexplained: 1, 'not logged': 1 }],
    [
      'it came again long after it was written down, whatever became of its sender in between',
      {
        received: [...records.received, { ...one, ...muchLater }],
        attempted: [...records.attempted, { ...own, ...muchLater }],
        lives: killedLater,
      },
      { unexplained: 1 },
    ],
    [
      'it was refused once and never tried again',
      {
        received: records.received.filter(({ signature }) => signature !== refused.signature),
        attempted: records.attempted.filter((each) => each !== refused),
      },
      { lost: 1 },
    ],
    [
      'a receiver that fails was never tried',
      {
        received: records.received.filter(({ path }) => path !== failing.path),
        attempted: records.attempted.filter((each) => each.endpointId !== failing.id),
      },
      { lost: itsEvents },
    ],
    [
      'a receiver that fails is not to be tried again',
      { left: records.left.filter((each) => each.endpointId !== failing.id) },
      { lost: itsEvents },
    ],
    [
      'its next try is put off for too long',
      { left: records.left.map((each) => (each.endpointId === failing.id ? { ...each, nextAt: each.nextAt + 86_400_000 } : each)) },
      { lost: itsEvents },
    ],
    [
      'something is still to be sent',
      { left: [...records.left, { endpointId, eventId, attempt: 1, state: 'due', nextAt: one.at, leaseUntil: null }] },
      { 'not at rest': 1 },
    ],
    [
      'what a killed courier had was left for too long',
      {
        bereft: [...records.bereft, { endpointId, eventId, attempt: own.attempt, killedAt: one.at + 1_000, leaseUntil: one.at + 21_000 }],
        attempted: records.attempted.map((each) => (each === own ? { ...each, at: one.at + 41_000 } : each)),
      },
      { 'resumed late': 1 },
    ],
    [
      'what two killed couriers had, one after the other, was left for too long by the first',
      {
        bereft: [
          ...records.bereft,
          { endpointId, eventId, attempt: own.attempt, killedAt: one.at + 1_000, leaseUntil: one.at + 21_000 },
          { endpointId, eventId, attempt: own.attempt, killedAt: one.at + 42_000, leaseUntil: one.at + 61_000 },
        ],
        attempted: records.attempted.map((each) => (each === own ? { ...each, at: one.at + 62_000 } : each)),
      },
      { 'resumed late': 1 },
    ],
    ['it came with other bytes', { received: replaced(records.received, fromOne, { hash: 'other' }) }, { altered: 1 }],
    ['somebody else signed it', { received: replaced(records.received, fromOne, { genuine: false }) }, { 'not genuine': 1 }],
    [
      'its attempt was not written down',
      { attempted: records.attempted.filter((each) => each.signature !== one.signature) },
      { lost: 1, 'not logged': 1 },
    ],
    ['it was tried again too early', { attempted: sooner(records.attempted, refused) }, { early: 1 }],
    [
      'its change was never acknowledged',
      { acknowledged: records.acknowledged.slice(1) },
      { unasked: records.acknowledged[0]!.causes.length },
    ],
    [
      'who followed did not hear of it',
      { followed: new Map([...records.followed, [first.dealerId, records.followed.get(first.dealerId)!.slice(0, -1)]]) },
      { 'not followed': 1 },
    ],
    [
      'two are listed in the wrong order',
      { listed: [second, first, ...records.listed.slice(2)] },
      { 'out of order': second.at > first.at ? 3 : 2, 'not followed': 2 },
    ],
  ];
  for (const [what, changes, expected] of doctored)
    await t.test(`the judge sees when ${what}`, () => assert.deepEqual(found(judge({ ...records, ...changes }).wrong), expected));
});

const found = (wrong: ReadonlyMap<Wrong, readonly string[]>): Partial<Record<Wrong, number>> =>
  Object.fromEntries([...wrong].flatMap(([kind, cases]) => (cases.length > 0 ? [[kind, cases.length]] : [])));

/** The second attempt, which was the last, of something that was refused once. */
const retriedOnce = ({ endpoints, attempted }: Records): Attempted => {
  const refusing = new Set(endpoints.filter(({ way }) => way === 'fails-once').map(({ id }) => id));
  const of = Map.groupBy(
    attempted.filter(({ endpointId }) => refusing.has(endpointId)),
    ({ eventId }) => eventId,
  );
  const both = [...of.values()].find((all) => all.length === 2 && all.some(({ success }) => !success))!;
  return both.find(({ attempt, success }) => attempt === 2 && success)!;
};

const isOf = (each: Received, one: Received): boolean => each.path === one.path && each.eventId === one.eventId;

const replaced = (all: readonly Received[], which: (each: Received) => boolean, by: Partial<Received>): Received[] =>
  all.map((each) => (which(each) ? { ...each, ...by } : each));

/** A second attempt a second after the first, however late it came. */
const sooner = (all: readonly Attempted[], one: Attempted): Attempted[] => {
  const first = all.findLast(
    ({ endpointId, eventId, attempt }) => endpointId === one.endpointId && eventId === one.eventId && attempt === 1,
  )!;
  return all.map((each) => (each === one ? { ...each, at: first.at + first.durationMs + 1_000 } : each));
};
