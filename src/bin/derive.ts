// Writes the files that follow from others: the database's types, the OpenAPI document, the reference pages.
// `--check` writes nothing and names each file that would change.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openApiText } from '../app/openapi.ts';
import { referencePages } from '../app/reference.ts';
import { deriveSchema } from '../platform/db/derive-schema.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const pages = join(root, 'docs', 'reference');
const checking = process.argv.includes('--check');

/** Every derived file; null is one that must go. */
const files = new Map<string, string | null>(leftOvers());
for (const [name, text] of referencePages()) files.set(join(pages, name), text);
files.set(join(root, 'docs', 'openapi.json'), openApiText('http://127.0.0.1:4000'));
files.set(join(root, 'src', 'platform', 'db', 'schema.ts'), await deriveSchema(process.env.DATABASE_URL));

const differing = [...files].filter(([file, text]) => contentOf(file) !== text);
for (const [file, text] of differing) {
  console.log(`${checking ? 'Not as derived' : 'Derived'}: ${file.slice(root.length)}`);
  if (!checking) write(file, text);
}
if (checking && differing.length > 0) {
  console.error('Run `npm run derive` and commit what it writes.');
  process.exitCode = 1;
}

/** Pages of what is no longer there; the derived ones take their place in the map. */
function leftOvers(): [string, null][] {
  return existsSync(pages) ? readdirSync(pages).map((name) => [join(pages, name), null]) : [];
}

function contentOf(file: string): string | null {
  return existsSync(file) ? readFileSync(file, 'utf8') : null;
}

function write(file: string, text: string | null): void {
  mkdirSync(dirname(file), { recursive: true });
  if (text === null) rmSync(file);
  else writeFileSync(file, text);
}
