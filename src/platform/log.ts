import { type Logger, pino } from 'pino';

export type Log = Logger;

/** A log on standard error: JSON, or short lines to read in a terminal. No secret gets out of it, wherever in a line it stands. */
export function createLog({ level, pretty = process.stderr.isTTY, to = standardError() }: LogOptions): Log {
  const write = (line: string) => to.write(redact(pretty ? readable(line) : line));
  return pino({ level, base: { pid: process.pid }, timestamp: pino.stdTimeFunctions.isoTime }, { write });
}

/** Replaces keys, tokens, signing secrets, `Authorization` values and passwords of addresses in any text. */
export function redact(text: string): string {
  let out = text;
  for (const [secret, replacement] of secrets) out = out.replace(secret, replacement);
  return out;
}

type LogOptions = { level: string; pretty?: boolean; to?: { write(line: string): unknown } };

/** Lines are written together: a write for each would cost a request more than its log line is worth. */
const standardError = () => pino.destination({ dest: 2, sync: false, minLength: 4096, periodicFlush: 250 });

const gone = '[redacted]';
const secrets: readonly (readonly [RegExp, string])[] = [
  [/\b(svc_(?:(?:live|test)_(?:sk|pk)|oat|ort|oac)_)[\w-]+/g, `$1${gone}`],
  [/\b(whsec_)[\w+/=-]+/g, `$1${gone}`],
  // Of a session in the web application.
  [/\b(dms_)[0-9A-Za-z]{43}/g, `$1${gone}`],
  // A header in JSON: as a member, or as a name before its value in a list of raw headers. Then the same quoted once more, then plain text.
  [/("(?:proxy-)?authorization"\s*[:,]\s*\[?\s*")(?:[^"\\]|\\.)*/gi, `$1${gone}`],
  [/(authorization\\*["']\s*[:,]\s*\[?\s*\\*["'])[^"'\\\r\n]+/gi, `$1${gone}`],
  [/(authorization\s*[:=]\s*)[^"'\\\r\n]+/gi, `$1${gone}`],
  [/\b((?:Bearer|Basic)\s+)[\w.~+/=-]+/gi, `$1${gone}`],
  [/(\w:\/\/[^\s/:@"\\]*:)[^\s/@"\\]+(?=@)/g, `$1${gone}`],
];

const levels: Record<number, string> = { 10: 'trace', 20: 'debug', 30: 'info', 40: 'warn', 50: 'error', 60: 'fatal' };

function readable(line: string): string {
  const { level, time, pid, msg = '', err, ...rest } = JSON.parse(line);
  const values = Object.entries(rest).map(([name, value]) => ` ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  const trace = err ? `\n${err.stack ?? JSON.stringify(err)}` : '';
  return `${time.slice(11, 23)} ${(levels[level] ?? level).padEnd(5)} ${pid} ${msg}${values.join('')}${trace}\n`;
}
