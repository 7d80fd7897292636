import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { lives, parentOf } from '#platform/processes.ts';
import { reasonOf } from '../app/reason.ts';
import { readRoles, roles } from '../app/roles.ts';
import { supervise } from '../app/supervise.ts';

// `npm start`: every role, or those that `--role` names, until SIGINT or SIGTERM.
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort());
// npm and its shell die of a signal without handing it on: what they started must notice that it is alone.
const above = [process.ppid, parentOf(process.ppid)];
if (process.env.npm_lifecycle_event) setInterval(() => above.every(lives) || stop.abort(), 250).unref();

const usage = `npm start [-- --role ${roles.join(',')}]

  Starts Forecourt, or one part of it alone. Settings are environment variables; the README names them.`;

const asked = wanted();
try {
  await supervise(asked, fileURLToPath(import.meta.resolve('./role.ts')), stop.signal);
  process.exit(0);
} catch (error) {
  refuse(reasonOf(error), 1);
}

function wanted() {
  const { role, help } = words();
  if (help) tell(usage);
  try {
    return readRoles(role);
  } catch (error) {
    return refuse(reasonOf(error), 2);
  }
}

function words() {
  try {
    return parseArgs({ options: { role: { type: 'string', default: roles.join(',') }, help: { type: 'boolean', short: 'h' } } }).values;
  } catch (error) {
    return refuse(`${reasonOf(error).split('. ')[0]}. npm start takes: --role, --help.`, 2);
  }
}

function tell(text: string): never {
  console.log(text);
  process.exit(0);
}

function refuse(line: string, code: number): never {
  console.error(line);
  process.exit(code);
}
