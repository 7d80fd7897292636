import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { dealership } from '../support/dealership.ts';
import { script, start } from '../support/processes.ts';
import { contract, fileOf, openapiTypescript, passingFolder, root, tsc } from './outsiders.ts';

const flow = join(root, 'test/contract/client/smoke-flow.ts');

test('types generated from the contract compile, and refuse what it refuses', async (t) => {
  const folder = passingFolder(t);
  const types = join(folder, 'openapi.d.ts');
  const generated = await openapiTypescript(contract, '-o', types);
  assert.equal(generated.status, 0, generated.out);
  const project = fileOf(folder, 'tsconfig.json', {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: { paths: { 'forecourt-api': [types] }, typeRoots: [join(root, 'node_modules/@types')], skipLibCheck: false },
    include: [],
    exclude: [],
    files: [flow, types],
  });
  const compiled = await tsc('-p', project);
  assert.equal(compiled.status, 0, compiled.out);
});

test('a client on those types goes through a flow against a running server', async (t) => {
  const { databaseUrl, newKey } = await dealership();
  const { url } = await start(t, script('api-process.ts'), { DATABASE_URL: databaseUrl });
  const client = spawn(process.execPath, [flow, url, (await newKey()).key], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, err, [status]] = await Promise.all([text(client.stdout), text(client.stderr), once(client, 'exit')]);
  assert.deepEqual([status, out], [0, 'The flow is through.\n'], err);
});
