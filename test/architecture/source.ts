import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The paths of the repository's files that a pattern finds, from its root, with `/`. */
export const filesLike = (pattern: string): string[] =>
  globSync(pattern, { cwd: root })
    .map((path) => path.replaceAll('\\', '/'))
    .sort();

/** The product's own source: everything under `src` but the tests beside it. */
export const sources = (): string[] => filesLike('src/**/*.ts').filter((path) => !path.endsWith('.test.ts'));

export const textOf = (path: string): string => readFileSync(root + path, 'utf8');

/** The module or layer a source file belongs to: `vehicles`, `platform`, `app`, `bin`. */
export const roomOf = (path: string): string => /^src\/(?:modules\/)?([^/]+)\//.exec(path)?.[1] ?? path;
