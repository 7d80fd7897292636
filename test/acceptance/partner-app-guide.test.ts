import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { root } from '../contract/outsiders.ts';
import { masterKeys } from '../support/fixtures.ts';
import { oauthHouse, walk } from '../support/oauth-house.ts';

// The lines of docs/guides/partner-app.md, as they stand there.

const guide = readFileSync(join(root, 'docs/guides/partner-app.md'), 'utf8');
const blocks = [...guide.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, lines = '']) => lines);

test('the lines of the guide register an app, ask for consent, exchange, call, refresh and revoke, and end with 401', async (t) => {
  const house = await oauthHouse();
  const { dealer, member, baseUrl } = house;
  await dealer.api.post('/v1/vehicles', { condition: 'USED', make: 'Ford', model: 'Fiesta' }).succeeds(201);
  const variables = { API: baseUrl, DATABASE_URL: dealer.databaseUrl, MASTER_KEY: masterKeys[0]!.toString('base64'), LOG_LEVEL: 'silent' };
  const shell = spawn('bash', ['-euo', 'pipefail', '-c', blocks.join('')], {
    cwd: root,
    env: { ...process.env, ...variables },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  t.after(() => shell.kill('SIGKILL'));
  const ended = new Promise<number | null>((resolve) => shell.once('exit', resolve));

  const said: string[] = [];
  for await (const line of createInterface({ input: shell.stdout })) {
    if (line.startsWith(`${baseUrl}/v1/oauth/authorize?`)) shell.stdin.write(`${await walk(house, line, member)}\n`);
    else said.push(line);
  }
  assert.equal(await ended, 0);

  const [ours, approved, me = '', vehicles = '', narrow, revoked, call = '', refresh = '', ...rest] = said;
  assert.deepEqual(
    [ours, approved, narrow, revoked, rest],
    ['The answer is ours.', 'vehicles:read vehicles:write', 'vehicles:read', '{}', []],
  );
  assert.deepEqual([JSON.parse(me).data.app.name, JSON.parse(me).data.owner.id], ['Stock Mirror', member.id]);
  assert.equal(JSON.parse(vehicles).data[0].model, 'Fiesta');
  assert.deepEqual([JSON.parse(call.slice(0, -4)).code, call.slice(-4)], ['api_key_revoked', ' 401']);
  assert.deepEqual([JSON.parse(refresh.slice(0, -4)).error, refresh.slice(-4)], ['invalid_grant', ' 400']);
});
