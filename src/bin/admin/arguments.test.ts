import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCommand, UsageError } from './arguments.ts';
import { commands } from './commands.ts';

const read = (line: string) => readCommand(line === '' ? [] : line.split(' '), commands);
const values = (line: string) => {
  const asked = read(line);
  return 'help' in asked ? asked.help : asked.flags;
};
const refused = (line: string, says: string) => assert.throws(() => read(line), new UsageError(says));

test('flags are read as what they mean', () => {
  assert.deepEqual(values('dealer create --name Test --code test --plan standard'), { name: 'Test', code: 'test', plan: 'STANDARD' });
  assert.deepEqual(values('dealer set --dealer x --theme-builder on --valuations off'), {
    dealer: 'x',
    'theme-builder': true,
    valuations: false,
  });
  assert.deepEqual(values('user set --dealer x --email a@b.example --without stock_edit,STOCK_COSTS --branches all'), {
    dealer: 'x',
    email: 'a@b.example',
    without: ['STOCK_EDIT', 'STOCK_COSTS'],
    branches: 'all',
  });
  assert.deepEqual(values('key set --id 1 --expires never --rate-limit default'), { id: '1', expires: null, 'rate-limit': null });
  assert.deepEqual(values('key set --id 1 --rate-limit=300'), { id: '1', 'rate-limit': 300 });
});

test('what does not exist is told with what does', () => {
  refused('car create', 'There is no "car". There are: dealer, branch, user, key, app, demo, import.');
  refused('key delete', '"key" does not take "delete". It takes: create, set, roll, revoke.');
  refused('key roll --key 1', "Unknown option '--key'. key roll takes: --id, --json.");
  refused('branch create --dealer x', 'Missing: --name N.');
  refused('dealer create --name T --code t --plan GOLD', '--plan takes one of FREE, STANDARD, PROFESSIONAL, not "GOLD".');
  refused('dealer set --dealer x --valuations maybe', '--valuations takes on or off, not "maybe".');
  refused('key set --id 1 --rate-limit many', '--rate-limit takes a whole number, not "many".');
  refused('key roll --id 1 --id 2', '--id is given twice.');
});

test('help names every command, or those of a noun', () => {
  const all = String(values(''));
  for (const { noun, verb } of commands) assert.match(all, new RegExp(`^  ${noun} ${verb} `, 'm'));
  assert.equal(all, values('--help'));
  assert.match(String(values('demo')), /^ {2}demo create \[--vehicles N\]$/m);
  assert.doesNotMatch(String(values('key roll --help')), /key create/);
});
