import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { createGunzip } from 'node:zlib';
import { parse } from 'csv-parse';
import type { Listing } from './listings.ts';
import { columns } from './listings.ts';

/** The name rows are known by; packed or not, a file's rows keep their names. */
export const nameOfFile = (file: string): string => basename(file).replace(/\.gz$/i, '');

/** How many rows a file has. It is read whole, so that a broken one is known before anything is sent. */
export async function countRows(file: string): Promise<number> {
  let rows = 0;
  for await (const _row of rowsOf(file)) rows++;
  return rows;
}

/** The rows of a CSV file, one at a time, so that a file of any size fits. */
export async function* rowsOf(file: string): AsyncGenerator<Listing> {
  const found = await stat(file).catch((error) => {
    throw error.code === 'ENOENT' ? new Error(`There is no file ${file}.`) : error;
  });
  if (!found.isFile()) throw new Error(`${file} is not a file.`);
  const source = createReadStream(file);
  const unpacked = /\.gz$/i.test(file) ? source.pipe(createGunzip()) : source;
  const parser = parse({ bom: true, columns: (header: string[]) => checkedHeader(file, header), skip_empty_lines: true });
  // A pipe does not hand errors on.
  source.on('error', (error: Error) => parser.destroy(error));
  unpacked.on('error', (error: Error) => parser.destroy(new Error(`${file} cannot be unpacked: ${error.message}`)));
  yield* unpacked.pipe(parser) as AsyncIterable<Listing>;
}

function checkedHeader(file: string, header: string[]): string[] {
  const names = header.map((name) => name.trim().toLowerCase());
  const missing = columns.filter((column) => !names.includes(column));
  if (missing.length > 0) throw new Error(`${file} lacks the column${missing.length > 1 ? 's' : ''} ${missing.join(', ')}.`);
  return names;
}
