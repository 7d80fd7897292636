import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nameServer } from '../../../test/support/name-server.ts';
import { rememberedNames } from './names.ts';
import type { Names } from './public-address.ts';

test('what many ask of a name is asked once, each family by itself', async (t) => {
  const asked: string[] = [];
  const names = rememberedNames(
    await nameServer(t, (name) => {
      asked.push(name);
      return ['192.0.2.1', '2001:db8::1'];
    }),
  );
  const answers = await Promise.all([...Array(20)].map(() => names.resolve4('hooks.example.')));
  assert.deepEqual(new Set(answers.flat()), new Set(['192.0.2.1']));
  assert.deepEqual(await names.resolve6('hooks.example.'), ['2001:db8::1']);
  assert.equal(asked.length, 2);
});

test('an answer holds for half a minute, and none at all for five seconds', async () => {
  let now = 0;
  let asked = 0;
  const resolve4 = async (name: string) => {
    asked++;
    if (name === 'nobody.example.') throw new Error('ENOTFOUND');
    return ['192.0.2.1'];
  };
  const names = rememberedNames({ resolve4 } as unknown as Names, () => now);
  const ask = (name: string) => names.resolve4(name).catch(() => null);
  for (const [at, name, count] of [
    [0, 'hooks.example.', 1],
    [29_999, 'hooks.example.', 1],
    [30_000, 'hooks.example.', 2],
    [30_000, 'nobody.example.', 3],
    [34_999, 'nobody.example.', 3],
    [35_000, 'nobody.example.', 4],
  ] as const) {
    now = at;
    await ask(name);
    assert.equal(asked, count, `${name} at ${at}`);
  }
});
