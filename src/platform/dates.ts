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

/** A moment as it will be shown, so that what was read can be written back and changes nothing. */
export const wholeSecond = (instant: Instant): Instant => parseInstant(toDateTime(instant));

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
export const daysBetween = (from: string, to: string): number => Math.round((Date.parse(to) - Date.parse(from)) / dayMs);

/** The first moment a filter means: a date-time says it; of a date in a time zone it is midnight, or later where the clocks skip that. */
export function firstMoment(timeZone: string, text: string): Instant {
  if (!isDate(text)) return parseInstant(text);
  return isZoned(text) ? fromMillis(firstMinute(timeZone, text, (shown) => shown >= text)) : `${text}T00:00:00.000000Z`;
}

/** The last one: of a date the end of that day, which has 23 or 25 hours when the clocks are changed. */
export function lastMoment(timeZone: string, text: string): Instant {
  // A moment to the second is the whole of it: what is shown of a time is floored.
  if (!isDate(text)) return text.includes('.') ? parseInstant(text) : `${parseInstant(text).slice(0, 20)}999999Z`;
  const next = isZoned(text) ? firstMinute(timeZone, text, (shown) => shown > text) : Date.parse(text) + dayMs;
  return `${fromMillis(next - minuteMs).slice(0, 17)}59.999999Z`;
}

const minuteMs = 60_000;
const dayMs = 86_400_000;

const isDate = (text: string): boolean => text.length === 10;

/** At the ends of the calendar a date is read in UTC: beyond them the zones write years of more or fewer digits than four. */
const isZoned = (date: string): boolean => date > '1001' && date < '9999-12';

/** The minute around a date from which on the calendar of a time zone shows what is looked for. */
function firstMinute(timeZone: string, date: string, begun: (shown: string) => boolean): number {
  let [before, from] = [Date.parse(date) - dayMs, Date.parse(date) + 2 * dayMs];
  while (from - before > minuteMs) {
    const middle = before + Math.floor((from - before) / 2 / minuteMs) * minuteMs;
    if (begun(dateIn(timeZone, fromMillis(middle)))) from = middle;
    else before = middle;
  }
  return from;
}

const formats = new Map<string, Intl.DateTimeFormat>();
const dates = new Map<string, { minute: string; date: string }>();
