// Writes the files that follow from others: the database's types, the examples, the OpenAPI document, the reference pages.
// `--check` writes nothing and names each file that would change.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { prepareDatabase } from '../app/database.ts';
import { deriveExamples } from '../app/derive-examples.ts';
import { examplesFolder } from '../app/examples.ts';
import { openApi, textOf } from '../app/openapi.ts';
import { referencePages } from '../app/reference.ts';
import { deriveSchema } from '../platform/db/derive-schema.ts';
import { onFreshDatabase } from '../platform/db/fresh-database.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const pages = join(root, 'docs', 'reference');
const checking = process.argv.includes('--check');

/** Every derived file; null is one that must go. */
const files = new Map<string, string | null>([...leftOvers(pages), ...leftOvers(examplesFolder)]);
const { schema, examples } = await onFreshDatabase(process.env.DATABASE_URL, async (url) => {
  await prepareDatabase(url);
  return { schema: await deriveSchema(url), examples: await deriveExamples(url) };
});
files.set(join(root, 'src', 'platform', 'db', 'schema.ts'), schema);
for (const [name, text] of referencePages()) files.set(join(pages, name), text);
for (const [id, shown] of examples) files.set(join(examplesFolder, `${id}.json`), `${JSON.stringify(shown, null, 2)}\n`);
files.set(join(root, 'docs', 'openapi.json'), textOf(openApi('http://127.0.0.1:4000', examples)));

const differing = [...files].filter(([file, text]) => contentOf(file) !== text);
for (const [file, text] of differing) {
  console.log(`${checking ? 'Not as derived' : 'Derived'}: ${file.slice(root.length)}`);
  if (!checking) write(file, text);
}
if (checking && differing.length > 0) {
  console.error('Run `npm run derive` and commit what it writes.');
  process.exitCode = 1;
}

/** What is there; the derived files take their place in the map, and the others must go. */
function leftOvers(folder: string): [string, null][] {
  return existsSync(folder) ? readdirSync(folder).map((name) => [join(folder, name), null]) : [];
}

function contentOf(file: string): string | null {
  return existsSync(file) ? readFileSync(file, 'utf8') : null;
}

function write(file: string, text: string | null): void {
  mkdirSync(dirname(file), { recursive: true });
  if (text === null) rmSync(file);
  else writeFileSync(file, text);
}
