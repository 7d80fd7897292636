import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dateIn, firstMoment, fromMillis, lastMoment, toMillis } from './dates.ts';

const zones = [
  'Europe/London',
  'Atlantic/Azores',
  'America/St_Johns',
  'Africa/Cairo',
  'Australia/Lord_Howe',
  'Pacific/Kiritimati',
  'UTC',
  '+05:30',
];
const dayOf = (zone: string, date: string) => [firstMoment(zone, date), lastMoment(zone, date)].map((at) => `${at.slice(0, 19)}Z`);
const dayAfter = (date: string) => fromMillis(Date.parse(date) + 86_400_000).slice(0, 10);

test('a date is a day of the time zone: 23 or 25 hours when the clocks are changed, and from one o’clock on where they skip midnight', () => {
  assert.deepEqual(dayOf('Europe/London', '2026-01-31'), ['2026-01-31T00:00:00Z', '2026-01-31T23:59:59Z']);
  assert.deepEqual(dayOf('Europe/London', '2026-03-29'), ['2026-03-29T00:00:00Z', '2026-03-29T22:59:59Z']);
  assert.deepEqual(dayOf('Europe/London', '2026-07-01'), ['2026-06-30T23:00:00Z', '2026-07-01T22:59:59Z']);
  assert.deepEqual(dayOf('Europe/London', '2026-10-25'), ['2026-10-24T23:00:00Z', '2026-10-25T23:59:59Z']);
  assert.deepEqual(dayOf('Atlantic/Azores', '2026-03-29'), ['2026-03-29T01:00:00Z', '2026-03-29T23:59:59Z']);
  assert.deepEqual(dayOf('Atlantic/Azores', '2026-10-25'), ['2026-10-25T00:00:00Z', '2026-10-26T00:59:59Z']);
  assert.deepEqual(dayOf('Pacific/Kiritimati', '2026-01-31'), ['2026-01-30T10:00:00Z', '2026-01-31T09:59:59Z']);
});

test('the days of a year follow one another without gap or overlap, in whatever zone', () => {
  for (const zone of zones) {
    for (let date = '2026-01-01'; date < '2027-01-01'; date = dayAfter(date)) {
      const [first, last, next] = [firstMoment(zone, date), lastMoment(zone, date), firstMoment(zone, dayAfter(date))];
      assert.deepEqual([dateIn(zone, first), dateIn(zone, last)], [date, date], zone);
      assert.deepEqual([last.slice(19), toMillis(next) - toMillis(last)], ['.999999Z', 1], `${zone} ${date}`);
    }
  }
});

test('a date that a zone left out holds no moment', () => {
  assert.ok(firstMoment('Pacific/Apia', '2011-12-30') > lastMoment('Pacific/Apia', '2011-12-30'));
});

test('the ends of the calendar are dates too', () => {
  for (const date of ['0001-01-01', '1000-01-01', '9999-12-31'])
    assert.deepEqual(dayOf('Europe/London', date), [`${date}T00:00:00Z`, `${date}T23:59:59Z`]);
});

test('a date-time means itself', () => {
  for (const moment of [firstMoment, lastMoment])
    assert.equal(moment('Europe/London', '2026-07-01T10:00:00.25+01:00'), '2026-07-01T09:00:00.250000Z');
});
