// Runs before `npm start` and `npm test`, on any Node the package allows: installs what is missing, and nothing else.
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const changedAt = (file) => statSync(`${root}/${file}`, { throwIfNoEntry: false })?.mtimeMs ?? 0;

if (changedAt('node_modules/.package-lock.json') < changedAt('package-lock.json')) install();
if (!existsSync(`${root}/node_modules/.bin/node`) && Number.parseInt(process.versions.node, 10) < 24) {
  stop(`Forecourt runs on Node 24, and npm has no package of it for ${process.platform}-${process.arch}: install Node 24 or newer.`);
}

function install() {
  console.log('Installing the packages Forecourt needs …');
  const arguments_ = ['ci', '--include=optional', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  const npm = process.env.npm_execpath;
  const { status } = npm
    ? spawnSync(process.execPath, [npm, ...arguments_], { cwd: root, stdio: 'inherit' })
    : spawnSync('npm', arguments_, { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' });
  if (status !== 0) stop('npm ci failed: see its lines above.');
}

function stop(reason) {
  console.error(reason);
  process.exit(1);
}
