import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { dealership } from '../support/dealership.ts';
import { assistant } from '../support/mcp.ts';
import { mcpServer } from '../support/mcp-server.ts';

// The samples of docs/mcp.md, as they stand there.

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'forecourt-guide-'));
after(() => rmSync(folder, { recursive: true }));
symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));

const text = readFileSync(join(root, 'docs/mcp.md'), 'utf8');
const blocks = (language: string) =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(([, code = '']) => code);
const address = 'https://api.dealer.example/v1/mcp';

const samples = Object.assign(
  {},
  ...(await Promise.all(
    blocks('ts').map((code, i) => {
      const file = join(folder, `sample-${i}.mts`);
      writeFileSync(file, code);
      return import(file);
    }),
  )),
) as { onSale: (address: string, key: string) => Promise<unknown>; cursorLink: string; codeLink: string };

test('the sample of the SDK reads what is on sale', async (t) => {
  const { api, app } = await dealership();
  const { url } = await mcpServer(t);
  assert.deepEqual(await samples.onSale(`${url}/v1/mcp`, api.key!), await assistant(app, api.key).call('stock_summary'));
  await assert.rejects(samples.onSale(`${url}/v1/mcp`, 'nobody'));
});

test('the messages that are sent by hand are answered with results', async () => {
  const { api, app } = await dealership();
  const messages = blocks('sh').flatMap((code) => [...code.matchAll(/-d '([^']+)'/g)].map(([, message = '']) => message));
  assert.equal(messages.length, 2);
  for (const message of messages) {
    const { status, body } = await assistant(app, api.key).raw(message);
    assert.deepEqual([status, 'result' in body, body.result.isError], [200, true, undefined], message);
  }
});

test('the set-ups are of the form their clients read, and lead to the endpoint', () => {
  const [cursor, code] = blocks('json').map((block) => JSON.parse(block));
  assert.equal(cursor.mcpServers.forecourt.url, address);
  assert.equal(code.servers.forecourt.url, address);
  const entryOf = (link: string, name: string) => new URL(link).searchParams.get(name) ?? '';
  assert.deepEqual(JSON.parse(atob(entryOf(samples.cursorLink, 'config'))), { url: address });
  assert.equal(JSON.parse(decodeURIComponent(new URL(samples.codeLink).search.slice(1))).url, address);
  assert.match(blocks('toml')[0]!, new RegExp(`url = "${address}"`));
});
