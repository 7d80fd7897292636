/** A moment as the database keeps it: UTC to the microsecond, `YYYY-MM-DDTHH:MM:SS.ffffffZ`. Sorts as text. */
export type Instant = string & { readonly __instant?: never };

/** Reads PostgreSQL's text form of a timestamptz (`2026-01-31 08:00:00.5+00`), as sent by a session in UTC. */
export function toInstant(text: string): Instant {
  const seconds = text.slice(0, 19).replace(' ', 'T');
  const fraction = text.charAt(19) === '.' ? text.slice(20, text.indexOf('+', 20)) : '';
  return `${seconds}.${fraction.padEnd(6, '0')}Z`;
}

/** The moment as the wire shows it: whole seconds, floored, so that a client which stores what it saw never skips a row. */
export const toDateTime = (instant: Instant): string => `${instant.slice(0, 19)}Z`;

/** Any ISO 8601 date-time as an Instant. The text must be valid. */
export function parseInstant(text: string): Instant {
  const micros = /\.(\d+)/.exec(text)?.[1] ?? '';
  return `${new Date(text).toISOString().slice(0, 19)}.${micros.padEnd(6, '0').slice(0, 6)}Z`;
}

export const fromMillis = (millis: number): Instant => parseInstant(new Date(millis).toISOString());

export const toMillis = (instant: Instant): number => Date.parse(`${instant.slice(0, 23)}Z`);

/** The calendar date of a moment in a time zone, `YYYY-MM-DD`. */
export function dateIn(timeZone: string, instant: Instant): string {
  // A date changes at the turn of a minute, and one request after the other asks for the same minute.
  const minute = instant.slice(0, 16);
  const latest = dates.get(timeZone);
  if (latest?.minute === minute) return latest.date;
  let format = formats.get(timeZone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });
    formats.set(timeZone, format);
  }
  const date = format.format(toMillis(instant));
  dates.set(timeZone, { minute, date });
  return date;
}

/** Whole days from one date to another. */
export const daysBetween = (from: string, to: string): number => Math.round((Date.parse(to) - Date.parse(from)) / 86_400_000);

const formats = new Map<string, Intl.DateTimeFormat>();
const dates = new Map<string, { minute: string; date: string }>();
