import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** The text of `schema.ts`: the types of a migrated database. */
export async function deriveSchema(databaseUrl: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'forecourt-types-'));
  try {
    const file = join(folder, 'schema.ts');
    // A process of its own: the generator leaves connections behind, which must not outlive it.
    await run(process.execPath, [generator, '--url', databaseUrl, '--out-file', file, ...flags]);
    return readFileSync(file, 'utf8');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const run = promisify(execFile);
const generator = createRequire(import.meta.url).resolve('kysely-codegen/dist/cli/bin.js');

const flags = [
  ...['--dialect', 'postgres', '--date-parser', 'string', '--numeric-parser', 'number', '--log-level', 'error'],
  ...['--exclude-pattern', '{queue.*,migration}'],
  ...['--type-mapping', JSON.stringify({ timestamptz: 'Instant', int8: 'number', uuid: 'string', date: 'string' })],
  ...['--custom-imports', JSON.stringify({ Instant: '../dates.ts#Instant' })],
];
