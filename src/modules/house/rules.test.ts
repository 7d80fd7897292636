import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refusal } from '#platform/errors.ts';
import type { BranchStanding, House } from './rules.ts';
import * as rules from './rules.ts';

const branch = (id: string, isDefault = false): BranchStanding => ({ id, name: id, isDefault, published: true });

const house = (facts: Partial<House> = {}): House => ({
  branches: [branch('north', true), branch('south'), branch('west')],
  transfersByApi: true,
  ...facts,
});

const refuses = (code: string, work: () => unknown, field?: string) =>
  assert.throws(work, (error: unknown) => error instanceof Refusal && error.code === code && (!field || field in (error.fields ?? {})));

test('a new record lies at the default branch, or else at the only branch of the key', () => {
  assert.equal(rules.branchFor(undefined, house(), 'all').id, 'north');
  assert.equal(rules.branchFor(undefined, house(), ['south']).id, 'south');
  refuses('validation_failed', () => rules.branchFor(undefined, house(), ['south', 'west']), 'branch_id');
  refuses('validation_failed', () => rules.branchFor(undefined, house(), []), 'branch_id');
  refuses('validation_failed', () => rules.branchFor('elsewhere', house(), 'all'), 'branch_id');
  refuses('branch_move_not_permitted', () => rules.branchFor('west', house(), ['south']));
});

test('a record moves to branches of the key only, and only where transfers are allowed', () => {
  rules.checkBranchMove('north', 'south', house(), 'all');
  rules.checkBranchMove('north', 'north', house({ transfersByApi: false }), ['north']);
  refuses('branch_move_not_permitted', () => rules.checkBranchMove('north', 'south', house(), ['north']));
  refuses('branch_move_not_permitted', () => rules.checkBranchMove('north', 'south', house({ transfersByApi: false }), 'all'));
  refuses('validation_failed', () => rules.checkBranchMove('north', 'elsewhere', house(), 'all'), 'branch_id');
});
