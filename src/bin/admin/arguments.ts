import { parseArgs } from 'node:util';
import type { Service } from '#platform/service.ts';

/** A call that names nothing the tool has. */
export class UsageError extends Error {}

/** A flag: what it takes, and how its text becomes a value. */
export interface Flag<T = unknown, Must extends boolean = boolean> {
  readonly takes: string;
  readonly must: Must;
  /** It may be given more than once: its value is the list of them. */
  readonly several?: true;
  readonly read: (text: string) => T;
}

export type Flags = Readonly<Record<string, Flag>>;

/** The values of flags: those that must be given are there. */
export type ValuesOf<F extends Flags> = {
  readonly [N in keyof F]: F[N] extends Flag<infer T, true> ? T : F[N] extends Flag<infer T> ? T | undefined : never;
};

/** A command: what it is called, what it takes, what it does. `offline`: it needs no database, it speaks to an API. */
export interface Command<F extends Flags = Flags> {
  readonly noun: string;
  readonly verb: string;
  readonly does: string;
  readonly flags: F;
  readonly offline?: true;
  run(values: ValuesOf<F>, service?: Service): Promise<object>;
}

type Online<F extends Flags> = Omit<Command<F>, 'offline' | 'run'> & { run(values: ValuesOf<F>, service: Service): Promise<object> };
type Offline<F extends Flags> = Omit<Command<F>, 'offline' | 'run'> & { run(values: ValuesOf<F>): Promise<object> };

/** A command on the running database. */
export const command = <F extends Flags>(declared: Online<F>): Command => declared as unknown as Command;

/** A command that speaks to an API like any client. */
export const clientCommand = <F extends Flags>(declared: Offline<F>): Command => ({ ...declared, offline: true }) as unknown as Command;

export const must = <T>(takes: string, read: (text: string) => T): Flag<T, true> => ({ takes, must: true, read });
export const may = <T>(takes: string, read: (text: string) => T): Flag<T, false> => ({ takes, must: false, read });

/** One that is given once or more. */
export const several = <T>(takes: string, read: (text: string) => T): Flag<T[], true> =>
  ({ takes, must: true, several: true, read }) as unknown as Flag<T[], true>;

// ---- What flags take ----

export const words = (text: string): string => text;

export const list = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

export const listOrAll = (text: string): 'all' | string[] => (text.trim() === 'all' ? 'all' : list(text));

export function onOff(text: string): boolean {
  if (text !== 'on' && text !== 'off') throw new UsageError('on or off');
  return text === 'on';
}

export function whole(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new UsageError('a whole number');
  return Number(text);
}

export const oneOf =
  <const C extends readonly string[]>(codes: C) =>
  (text: string): C[number] => {
    const code = codes.find((known) => known === text.toUpperCase() || known === text.toLowerCase());
    if (code === undefined) throw new UsageError(`one of ${codes.join(', ')}`);
    return code;
  };

export const severalOf =
  <const C extends readonly string[]>(codes: C) =>
  (text: string): C[number][] =>
    list(text).map(oneOf(codes));

// ---- From the words of a call to a command and its values ----

type Asked =
  | { readonly help: string }
  | { readonly command: Command; readonly flags: Readonly<Record<string, unknown>>; readonly json: boolean };

/** Reads a call. Whatever it gets wrong is told with what there is instead. */
export function readCommand(given: readonly string[], commands: readonly Command[]): Asked {
  const [noun = '', verb = '', ...rest] = given;
  if (noun === '' || noun === 'help' || noun === '--help' || noun === '-h') return { help: overview(commands) };
  const ofNoun = commands.filter((command) => command.noun === noun);
  if (ofNoun.length === 0)
    throw new UsageError(`There is no "${noun}". There are: ${[...new Set(commands.map((command) => command.noun))].join(', ')}.`);
  const found = ofNoun.find((command) => command.verb === verb);
  if (!found && (verb === '' || verb === '--help' || verb === '-h')) return { help: overview(ofNoun) };
  if (!found) throw new UsageError(`"${noun}" does not take "${verb}". It takes: ${ofNoun.map((command) => command.verb).join(', ')}.`);
  if (rest.includes('--help') || rest.includes('-h')) return { help: overview([found]) };

  const { json, ...values } = valuesOf(found, rest);
  return { command: found, flags: readValues(found, values), json: json === true };
}

type Given = Record<string, string | boolean | string[] | undefined>;

function valuesOf(command: Command, rest: readonly string[]): Given {
  const options = Object.fromEntries(
    Object.entries(command.flags).map(([name, { several = false }]) => [name, { type: 'string' as const, multiple: several }]),
  );
  try {
    const { values, tokens } = parseArgs({ args: [...rest], options: { ...options, json: { type: 'boolean' } }, tokens: true });
    const names = tokens.flatMap((token) => (token.kind === 'option' ? [token.name] : []));
    const twice = names.find((name, index) => names.indexOf(name) < index && !command.flags[name]?.several);
    if (twice) throw new UsageError(`--${twice} is given twice.`);
    return values as Given;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const said = (error as Error).message.split('. ')[0];
    throw new UsageError(`${said}. ${nameOf(command)} takes: ${flagNames(command)}.`);
  }
}

function readValues({ flags }: Command, values: Given): Record<string, unknown> {
  const missing = Object.entries(flags).filter(([name, flag]) => flag.must && values[name] === undefined);
  if (missing.length > 0) throw new UsageError(`Missing: ${missing.map(([name, { takes }]) => `--${name} ${takes}`).join(' ')}.`);
  return Object.fromEntries(
    Object.entries(flags).flatMap(([name, flag]) => {
      const value = values[name];
      if (value === undefined) return [];
      return [[name, Array.isArray(value) ? value.map((text) => readValue(name, flag, text)) : readValue(name, flag, String(value))]];
    }),
  );
}

function readValue(name: string, { read }: Flag, text: string): unknown {
  try {
    return read(text);
  } catch (error) {
    throw error instanceof UsageError ? new UsageError(`--${name} takes ${error.message}, not "${text}".`) : error;
  }
}

const nameOf = ({ noun, verb }: Command): string => `${noun} ${verb}`;
const flagNames = ({ flags }: Command): string => [...Object.keys(flags), 'json'].map((name) => `--${name}`).join(', ');

function overview(commands: readonly Command[]): string {
  const entries = commands.map((command) => {
    const flags = Object.entries(command.flags).map(([name, { takes, must }]) => (must ? `--${name} ${takes}` : `[--${name} ${takes}]`));
    return `  ${nameOf(command)} ${flags.join(' ')}\n      ${command.does}`;
  });
  return `npm run -s admin -- <noun> <verb> [--flags] [--json]\n\n${entries.join('\n\n')}\n\nWith --json the result is one JSON object.`;
}
