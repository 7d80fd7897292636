import { arch, cpus, loadavg, platform } from 'node:os';
import { parseArgs } from 'node:util';
import { figuresOf } from '../bench/load.ts';
import { ms, print, whole } from '../bench/table.ts';
import type { Verdict } from './judge.ts';
import { judge, type wrongs } from './judge.ts';
import type { Ended, Ordeal } from './torture.ts';
import { endure } from './torture.ts';

// Kills and starves the product while dealers work with it, and compares what was acknowledged with what was delivered:
// `npm run torture -- --seconds 600 --deliveries 100000 --kills 50`. Ends with 1 when anything is not as promised.
const startedAt = performance.now();
const since = () => `${((performance.now() - startedAt) / 1000).toFixed(1).padStart(6)} s`;
const ordeal = asked();
const loadBefore = loadavg()[0]!;
const ended = await endure(ordeal, (line) => console.error(`${since()}  ${line}`));
const verdict = judge(ended.records);
report(ordeal, ended, verdict);
const failures = [...verdict.wrong].filter(([, cases]) => cases.length > 0);
for (const [kind, cases] of failures) {
  console.log(`\n${kind}: ${cases.length}`);
  for (const one of cases.slice(0, 10)) console.log(`  ${one}`);
}
if (failures.length > 0) {
  console.log(`\nThe end of the processes' log:\n${ended.log.split('\n').slice(-20).join('\n')}`);
  process.exitCode = 1;
}

function asked(): Ordeal {
  const option = { type: 'string' } as const;
  const { values } = parseArgs({ options: { seconds: option, deliveries: option, kills: option, restarts: option, seed: option } });
  const number = (name: keyof typeof values, otherwise: number): number => {
    const value = Number(values[name] ?? otherwise);
    if (Number.isSafeInteger(value) && value >= 0) return value;
    console.error(`--${name} takes a whole number.`);
    return process.exit(2);
  };
  const seconds = number('seconds', 300);
  const kills = number('kills', Math.round(seconds / 10));
  return {
    seconds,
    deliveries: number('deliveries', seconds * 150),
    kills,
    restarts: number('restarts', Math.ceil(kills / 10)),
    seed: number('seed', 1),
  };
}

function report({ seconds, seed }: Ordeal, { records, troubles }: Ended, verdict: Verdict): void {
  const { duplicates, retries, orphans } = verdict;
  const of = (kind: (typeof wrongs)[number]) => `${verdict.wrong.get(kind)!.length}`;
  const killed = (role: string) => records.lives.filter((life) => life.role === role && life.killed).length;
  const roles = [...new Set(records.lives.map(({ role }) => role))];
  const byThemselves = records.lives.filter(({ to, killed, served }) => to !== null && !killed && served).length;
  const inVain = records.lives.filter(({ to, killed, served }) => to !== null && !killed && !served).length;
  const longest = (values: readonly number[]) => (values.length > 0 ? Math.max(...values) : 0);
  const [calm, meanwhile] = [figuresOf(verdict.calm, 1), figuresOf(verdict.meanwhile, 1)];
  console.log(
    `Node ${process.version}, embedded PostgreSQL with fsync, ${cpus().length} × ${cpus()[0]?.model} (${platform()} ${arch()}).\n` +
      `Load, processes, database and receivers share this machine. Load of the machine in the minute before: ${loadBefore.toFixed(1)}.`,
  );
  print(
    `${seconds} s of load, seed ${seed}`,
    ['', ''],
    [
      ['changes acknowledged', whole(records.acknowledged.length)],
      ['events', whole(verdict.events)],
      ['deliveries due', whole(verdict.due)],
      ['received', whole(verdict.received)],
      ['kills', `${roles.map((role) => `${killed(role)} ${role}`).join(', ')}`],
      ['processes that ended by themselves', `${byThemselves}, and ${inVain} that could not start`],
      ['database stopped', `${records.outages.length}, at most ${ms(longest(records.outages.map(({ from, to }) => to - from)))} ms away`],
      ['requests unanswered, put off, at fault', `${troubles.unanswered}, ${troubles.later}, ${troubles.faults}`],
      ['lost', of('lost')],
      ['duplicates', `${duplicates.killed} by a kill, ${duplicates.database} by the database, ${duplicates.unexplained} unexplained`],
      ['failures of receivers that are well', `${verdict.failures}`],
      ['events listed, followed', `${of('not listed once')} not once, ${of('not followed')} missed, ${of('out of order')} out of order`],
      ['retries', `${retries.count}, ${of('early')} early, at most ${ms(retries.latestMs)} ms late`],
      ['event → receipt in calm, p50, p99', `${ms(calm.p50)} ms, ${ms(calm.p99)} ms (${whole(verdict.calm.length)})`],
      ['event → receipt among faults, p50, p99', `${ms(meanwhile.p50)} ms, ${ms(meanwhile.p99)} ms (${whole(verdict.meanwhile.length)})`],
      ['orphans', `${orphans.length}, resumed after at most ${ms(longest(orphans))} ms`],
    ],
  );
}
