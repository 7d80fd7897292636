import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { freePort } from '../../support/free-port.ts';
import { oauthHouse, walk } from '../../support/oauth-house.ts';
import { longestMs, root } from '../outsiders.ts';

test('the authorization suite of MCP’s conformance tests finds nothing amiss', async (t) => {
  const house = await oauthHouse();
  const port = await freePort();
  const { clientId, clientSecret } = await house.newApp({ redirectUri: `http://127.0.0.1:${port}/callback` });
  const suite = join(root, 'node_modules/mcp-conformance-next/dist/index.js');
  const words = ['authorization', '--url', house.baseUrl, '--client-id', clientId, '--client-secret', clientSecret, '--port', String(port)];
  const run = spawn(process.execPath, [suite, ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: longestMs,
    killSignal: 'SIGKILL',
  });
  t.after(() => run.kill('SIGKILL'));
  const ended = new Promise<number | null>((resolve) => run.once('exit', resolve));

  const said: string[] = [];
  for await (const line of createInterface({ input: run.stdout })) {
    said.push(line);
    if (line.startsWith(`${house.baseUrl}/v1/oauth/authorize?`)) await fetch(await walk(house, line, house.member));
  }
  assert.equal(await ended, 0, said.join('\n'));
  assert.ok(said.includes('Total: 2 passed, 0 failed'), said.join('\n'));
});
