import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';

/** Whether a process runs; one that ended and was not yet collected does not. */
export function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  return process.platform !== 'linux' || linuxState(pid)?.state !== 'Z';
}

/** What tells a process from every other, also from a later one with the same number: its number and when it started. */
export const identityOf = (pid: number): string => `${pid}:${startOf(pid)}`;

export const hasIdentity = (identity: string): boolean => {
  const pid = Number.parseInt(identity, 10);
  return lives(pid) && identityOf(pid) === identity;
};

/** The process that started another, 0 when there is none to see. */
export function parentOf(pid: number): number {
  if (process.platform === 'linux') return Number(linuxState(pid)?.parent ?? 0);
  if (process.platform === 'win32') return Number(powershell(`(Get-CimInstance Win32_Process -Filter "ProcessId=${pid}").ParentProcessId`));
  return Number(tolerant(() => execFileSync('ps', ['-o', 'ppid=', '-p', `${pid}`], { encoding: 'utf8' })));
}

/** The command line a process was started with, empty when there is none to see. */
export function commandLine(pid: number): string {
  if (process.platform === 'linux') return tolerant(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' '));
  if (process.platform === 'win32') return powershell(`(Get-CimInstance Win32_Process -Filter "ProcessId=${pid}").CommandLine`);
  return tolerant(() => execFileSync('ps', ['-ww', '-o', 'command=', '-p', `${pid}`], { encoding: 'utf8' }).trim());
}

/** Whether a process works in a folder: null when the system does not tell. */
export function worksIn(pid: number, folder: string): boolean | null {
  if (process.platform !== 'linux') return null;
  try {
    const [theirs, ours] = [statSync(`/proc/${pid}/cwd`), statSync(folder)];
    return theirs.dev === ours.dev && theirs.ino === ours.ino;
  } catch {
    return null;
  }
}

function startOf(pid: number): string {
  if (process.platform === 'linux') return linuxState(pid)?.startedAt ?? '';
  if (process.platform === 'win32') return powershell(`(Get-Process -Id ${pid}).StartTime.Ticks`);
  return tolerant(() => execFileSync('ps', ['-o', 'lstart=', '-p', `${pid}`], { encoding: 'utf8' }).trim()).replaceAll(/\s+/g, '-');
}

/** The name in `/proc/…/stat` is in brackets and may hold anything, so fields are counted from the last bracket. */
function linuxState(pid: number): { state: string; parent: string; startedAt: string } | null {
  const stat = tolerant(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  if (stat === '') return null;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '', parent: fields[1] ?? '', startedAt: fields[19] ?? '' };
}

const powershell = (expression: string): string =>
  tolerant(() => execFileSync('powershell', ['-NoProfile', '-Command', expression], { encoding: 'utf8' }).trim());

function tolerant(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
