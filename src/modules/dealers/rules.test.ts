import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  branchCode,
  changedFields,
  checkRoomForBranch,
  checkSettings,
  nextMonth,
  stockCap,
  themeQuota,
  webhookEndpointLimit,
} from './rules.ts';

const quotas = { freeStockCap: 25, sandboxStockCap: 500, themeQuotaStandard: 10, themeQuotaProfessional: 30 };

test('a plan has room for its number of branches', () => {
  const refused = (plan: 'FREE' | 'STANDARD' | 'PROFESSIONAL', isSandbox: boolean, branches: number) =>
    assert.throws(() => checkRoomForBranch({ plan, isSandbox }, branches), { code: 'plan_not_entitled' });
  checkRoomForBranch({ plan: 'FREE', isSandbox: false }, 0);
  refused('FREE', false, 1);
  checkRoomForBranch({ plan: 'STANDARD', isSandbox: false }, 2);
  refused('STANDARD', false, 3);
  checkRoomForBranch({ plan: 'PROFESSIONAL', isSandbox: false }, 1_000);
  checkRoomForBranch({ plan: 'PROFESSIONAL', isSandbox: true }, 2);
  refused('PROFESSIONAL', true, 3);
});

test('quotas follow the plan, in the sandbox that of the caller', () => {
  const table = (['FREE', 'STANDARD', 'PROFESSIONAL'] as const).map((plan) => {
    const [own, sandbox] = [false, true].map((isSandbox) => ({ plan, isSandbox }));
    return [
      stockCap(own!, quotas),
      themeQuota(own!, quotas),
      webhookEndpointLimit(own!),
      stockCap(sandbox!, quotas),
      themeQuota(sandbox!, quotas),
    ];
  });
  assert.deepEqual(table, [
    [25, 0, 0, 500, 0],
    [null, 10, 20, 500, 100],
    [null, 30, 20, 500, 100],
  ]);
});

test('a quota of the month starts anew with the next one, in UTC', () => {
  assert.equal(nextMonth('2026-12-31T23:59:59.999999Z'), '2027-01-01T00:00:00.000000Z');
  assert.equal(nextMonth('2026-02-01T00:00:00.000000Z'), '2026-03-01T00:00:00.000000Z');
});

test('a branch’s code comes from its name, with a number when that is taken', () => {
  assert.equal(branchCode('North Street', []), 'NORTH_STREET');
  assert.equal(branchCode('  Škoda & Söhne! ', ['MAIN']), 'SKODA_SOHNE');
  assert.equal(branchCode('Main', ['MAIN', 'MAIN_2']), 'MAIN_3');
  assert.equal(branchCode('本店', []), 'BRANCH');
});

test('only the sandbox is switched on and off', () => {
  checkSettings(true, { available: false });
  assert.throws(() => checkSettings(false, { available: false }), { code: 'validation_failed' });
});

test('only fields that are named and differ have changed', () => {
  const now = { phone: null, address: { city: 'Leeds', line1: null }, published: true };
  assert.deepEqual(changedFields(now, { phone: null, address: { line1: null, city: 'Leeds' }, published: true }), []);
  assert.deepEqual(changedFields(now, { published: false, address: null, phone: undefined }), ['published', 'address']);
});
