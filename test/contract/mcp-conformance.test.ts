import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { dealership } from '../support/dealership.ts';
import { fixtures, keyedProxy, mcpServer } from '../support/mcp-server.ts';
import { connected } from '../support/oauth.ts';
import { conformance, nextConformance, passingFolder, root } from './outsiders.ts';

const baseline = join(root, 'test/contract/mcp-baseline.yml');

/** The endpoint with the suite's tools, behind a proxy that has the key. */
async function served(t: { after(undo: () => unknown): void }, key: string): Promise<string> {
  const proxy = await keyedProxy(t, key);
  proxy.lead((await mcpServer(t, { mcpOrigins: [proxy.url], moreTools: fixtures })).url);
  return `${proxy.url}/v1/mcp`;
}

for (const [name, suite] of [
  ['the stable conformance suite', conformance],
  ['the conformance suite to come', nextConformance],
] as const) {
  test(`${name} finds in 2025-06-18 nothing but what the baseline says`, async (t) => {
    const { api } = await dealership();
    const url = await served(t, api.key!);
    const args = ['--spec-version', '2025-06-18', '--expected-failures', baseline, '--output-dir', passingFolder(t)];
    const { status, out } = await suite('server', '--url', url, ...args);
    assert.equal(status, 0, out);
    for (const passed of ['server-initialize', 'ping', 'tools-list', 'tools-call-simple-text', 'tools-call-error'])
      assert.match(out, new RegExp(`✓ ${passed}: [1-9]`), out);
  });
}

test('it would find a baseline that says too much, or too little', async (t) => {
  const { api } = await dealership();
  const url = await served(t, api.key!);
  const { status } = await conformance('server', '--url', url, '--spec-version', '2025-06-18', '--output-dir', passingFolder(t));
  assert.equal(status, 1);
});

for (const [name, scenario, suite, ...options] of [
  ['stable', 'dns-rebinding-protection', conformance, '--spec-version', '2025-11-25'],
  // Asked of a later version it goes on with that, whatever was agreed upon.
  ['to come', 'dns-rebinding-protection', nextConformance, '--spec-version', '2025-06-18', '--force'],
  ['to come', 'json-schema-2020-12', nextConformance, '--spec-version', '2025-11-25'],
] as const) {
  test(`${scenario} of the suite (${name}) is passed with an OAuth token`, async (t) => {
    const { access } = await connected(await dealership());
    const url = await served(t, access);
    const { status, out } = await suite('server', '--url', url, '--scenario', scenario, ...options, '--output-dir', passingFolder(t));
    assert.equal(status, 0, out);
  });
}
