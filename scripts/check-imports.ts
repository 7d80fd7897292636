// Checks who imports whom, by `.dependency-cruiser.cjs`, and that something was checked.
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const cruiser = 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs';

const { status, stdout, stderr } = spawnSync(process.execPath, [cruiser, '--config', '.dependency-cruiser.cjs', 'src'], {
  cwd: root,
  encoding: 'utf8',
});
console.log(`${stdout}${stderr}`.trim());

// Without a compiler it understands the cruiser finds no module, hence no violation, and says that all is well.
const cruised = Number(/(\d+) modules/.exec(stdout)?.[1] ?? 0);
const sources = globSync('src/**/*.ts', { cwd: root }).filter((file) => !file.endsWith('.test.ts')).length;
const missed = cruised < sources;
if (missed) console.error(`Only ${cruised} modules were cruised, of ${sources} source files.`);
if (status !== 0 || missed) process.exitCode = 1;
