import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Email } from 'postal-mime';
import PostalMime from 'postal-mime';

/** The mails of an outbox as a mail program reads them, in the order of their names. */
export async function mailsIn(folder: string): Promise<(Email & { readonly file: string })[]> {
  const names = await readdir(folder).catch(() => []);
  const files = names.filter((name) => name.endsWith('.eml')).sort();
  return Promise.all(files.map(async (file) => ({ ...(await PostalMime.parse(await readFile(join(folder, file)))), file })));
}
