import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refusal } from '#platform/errors.ts';
import type { AppointmentStatus } from './contract.ts';
import { appointmentStatuses, closedStatuses } from './contract.ts';
import type { Standing } from './rules.ts';
import { checkAppointment, checkCancellable, checkDeletable, checkMove, checkOpen } from './rules.ts';

const [before, start, after] = ['2026-05-01T08:59:59.999999Z', '2026-05-01T09:00:00.000000Z', '2026-05-01T09:00:00.000001Z'];

const appointment: Standing = {
  status: 'BOOKED',
  starts_at: start,
  ends_at: '2026-05-01T09:30:00.000000Z',
  customer_id: 'c',
  contact: null,
  metadata: {},
};

/** What is said against it: a code, or the fields of a 422. */
function against(work: () => void): string {
  try {
    work();
    return '';
  } catch (refusal) {
    assert.ok(refusal instanceof Refusal);
    return refusal.fields ? Object.keys(refusal.fields).join() : refusal.code;
  }
}

test('an appointment goes forward along its course, steps left out or not, and from anywhere on it to NO_SHOW', () => {
  const allowed: Partial<Record<AppointmentStatus, AppointmentStatus[]>> = {
    BOOKED: ['BOOKED', 'CONFIRMED', 'ARRIVED', 'COMPLETED', 'NO_SHOW'],
    CONFIRMED: ['CONFIRMED', 'ARRIVED', 'COMPLETED', 'NO_SHOW'],
    ARRIVED: ['ARRIVED', 'COMPLETED', 'NO_SHOW'],
  };
  for (const [from, targets] of Object.entries(allowed) as [AppointmentStatus, AppointmentStatus[]][])
    for (const status of appointmentStatuses.filter((one) => one !== 'CANCELLED'))
      assert.equal(
        against(() => checkMove(from, { ...appointment, status }, after)),
        targets.includes(status) ? '' : 'status',
        `${from} to ${status}`,
      );
});

test('it is missed once it was due', () => {
  const missed = { ...appointment, status: 'NO_SHOW' } as const;
  assert.deepEqual(
    [before, start, after].map((now) => against(() => checkMove('BOOKED', missed, now))),
    ['status', '', ''],
  );
  assert.equal(
    against(() => checkMove('NO_SHOW', missed, before)),
    '',
    'said again',
  );
});

test('what is over keeps its status and its time; the rest is written on', () => {
  for (const status of appointmentStatuses) {
    const standing = { ...appointment, status };
    const over = closedStatuses.some((closed) => closed === status) ? 'appointment_closed' : '';
    for (const change of [{ status: 'ARRIVED' }, { starts_at: before }, { ends_at: after }] as Partial<Standing>[])
      assert.equal(
        against(() => checkOpen(standing, { ...standing, ...change })),
        change.status === status ? '' : over,
        status,
      );
    assert.equal(
      against(() => checkOpen(standing, { ...standing, customer_id: 'd', metadata: { a: 'b' } })),
      '',
    );
    assert.equal(
      against(() => checkCancellable(status)),
      over,
    );
  }
});

test('it ends after it starts, and someone comes', () => {
  const check = (of: Partial<Standing>, wrong = {}) => against(() => checkAppointment({ ...appointment, ...of }, wrong));
  assert.equal(check({}), '');
  assert.equal(check({ ends_at: start }), 'ends_at');
  assert.equal(check({ ends_at: before }), 'ends_at');
  assert.equal(check({ customer_id: null }), 'contact');
  assert.equal(check({ customer_id: null, contact: {} }), '');
  assert.equal(check({ ends_at: before }, { 'contact.email': ['Missing.'] }), 'contact.email,ends_at');
});

test('one that the workshop works on is not deleted', () => {
  assert.equal(
    against(() => checkDeletable(null)),
    '',
  );
  assert.equal(
    against(() => checkDeletable('j')),
    'request_refused',
  );
});
