import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readConfig } from './config.ts';

/** A request the demo dealer was asked, and what it answered. */
export interface Shown {
  readonly request: { readonly method: string; readonly path: string; readonly body?: unknown };
  readonly response: { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: unknown };
}

/** By the id of their operation; that of its other success by `<id>.or`. */
export type Examples = ReadonlyMap<string, Shown>;

/** Where the derived examples lie. */
export const examplesFolder = fileURLToPath(new URL('../../docs/examples/', import.meta.url));

/** The examples as they were derived, with this server's addresses. */
export function readExamples(baseUrl: string): Examples {
  const names = existsSync(examplesFolder) ? readdirSync(examplesFolder).filter((name) => name.endsWith('.json')) : [];
  const shown = (name: string) => JSON.parse(readFileSync(examplesFolder + name, 'utf8').replaceAll(`"${derivedAt}/`, `"${baseUrl}/`));
  return new Map(names.map((name) => [name.replace(/\.json$/, ''), shown(name)]));
}

const { baseUrl: derivedAt } = readConfig({});
