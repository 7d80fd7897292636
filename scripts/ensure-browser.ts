// Begins `npm test`, once its own Node is installed: gets the browser that the tests of the web application drive, where there is none yet.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { browserPath } from '../test/support/browser-path.ts';

if (!browserPath()) install();

/** Debian's package, by whoever may install one without being asked for a password. */
function install(): void {
  console.log('Installing Chromium, which the tests of the web application drive …');
  const asRoot = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
  if (!existsSync('/usr/bin/apt-get')) stop('Only apt-get is known to install it here.');
  const apt = (...words: string[]) => {
    const [command = '', ...rest] = [...asRoot, 'apt-get', '-qq', ...words];
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    return spawnSync(command, rest, { env, stdio: ['ignore', 'ignore', 'inherit'], timeout: 15 * 60_000 }).status === 0;
  };
  // A machine that knows no packages yet has to learn of them first.
  if (!(apt('install', '-y', 'chromium') || (apt('update') && apt('install', '-y', 'chromium')))) stop('apt-get could not.');
  if (!browserPath()) stop('apt-get installed it, but it is not on the path.');
}

function stop(why: string): never {
  console.error(`The tests need Chromium, and there is none. ${why} Install it, or name one by the variable CHROMIUM.`);
  process.exit(1);
}
