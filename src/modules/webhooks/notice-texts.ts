import { disabledAfterHours } from '#modules/deliveries/index.ts';
import type { Instant } from '#platform/dates.ts';
import { after, toDateTime, toMillis } from '#platform/dates.ts';
import { oneLine } from '#platform/mail/postbox.ts';

/** What is told of an endpoint by mail. */
export const notices = ['failing', 'failing_24_hours', 'failing_48_hours', 'disabled', 'recovered'] as const;
export type Notice = (typeof notices)[number];

/** What is known of the failure. */
export interface Facts {
  readonly failingSince: Instant;
  /** What became of the last attempt, as the delivery log names it. */
  readonly lastError: string | null;
}

interface Endpoint {
  readonly id: string;
  readonly url: string;
  readonly description: string | null;
  readonly inSandbox: boolean;
}

/** Where the API is, and by which clock the reader lives. */
interface Place {
  readonly baseUrl: string;
  readonly timeZone: string;
}

/** A notice as a mail: what happened to which endpoint, what comes of it, and what to do. */
export function noticeText(notice: Notice, endpoint: Endpoint, facts: Facts, place: Place): { subject: string; text: string } {
  const { host } = new URL(endpoint.url);
  const paragraphs = [
    opening[notice],
    described(endpoint),
    history(notice, facts, place.timeZone),
    ...whatToDo(notice, `${place.baseUrl}/v1`, endpoint.id, toDateTime(facts.failingSince)),
  ];
  return {
    subject: `${endpoint.inSandbox ? '[Sandbox] ' : ''}Webhook endpoint ${headline[notice]}: ${host}`,
    text: `${paragraphs.join('\n\n')}\n`,
  };
}

const headline: Record<Notice, string> = {
  failing: 'failing',
  failing_24_hours: 'failing for 24 hours',
  failing_48_hours: 'failing for 48 hours',
  disabled: 'disabled',
  recovered: 'working again',
};

const opening: Record<Notice, string> = {
  failing: 'Events do not reach this webhook endpoint:',
  failing_24_hours: 'For 24 hours no event has reached this webhook endpoint:',
  failing_48_hours: 'For 48 hours no event has reached this webhook endpoint:',
  disabled: 'This webhook endpoint was disabled, because for three days no event had reached it:',
  recovered: 'Events reach this webhook endpoint again:',
};

/** A query may hold a secret of the receiver’s: the path and the id say which endpoint it is. */
function described({ id, url, description, inSandbox }: Endpoint): string {
  const { origin, pathname, search } = new URL(url);
  const lines = [`${origin}${pathname}${search && '?…'}`, oneLine(description ?? ''), `Id ${id}${inSandbox ? ', in the sandbox' : ''}`];
  return lines
    .filter(Boolean)
    .map((line) => `  ${line}`)
    .join('\n');
}

function history(notice: Notice, { failingSince, lastError }: Facts, timeZone: string): string {
  const since = moment(failingSince, timeZone);
  if (notice === 'recovered') return `It had failed since ${since}.`;
  const last = lastError === null ? '' : ` The last attempt failed: ${inWords(lastError)}.`;
  const failing = `Every delivery since ${since} has failed.${last}`;
  if (notice === 'disabled') return `${failing} No more events are sent to it, and what was waiting was cancelled.`;
  const end = moment(after(failingSince, disabledAfterHours * 3_600_000), timeZone);
  return `${failing} Deliveries are tried again by themselves. If none succeeds, the endpoint is disabled on ${end}.`;
}

function whatToDo(notice: Notice, api: string, id: string, since: string): string[] {
  const endpoint = `${api}/webhook-endpoints/${id}`;
  const steps = {
    'To see what was sent and answered': `GET ${endpoint}/deliveries?success=false`,
    ...(notice === 'disabled' && { 'To enable it again, once it is mended': `PATCH ${endpoint} with {"enabled": true}` }),
    'To read what happened meanwhile': `GET ${api}/events?created_since=${since}`,
    'To have sent again what never arrived': `POST ${endpoint}/replay with {"since": "${since}"}`,
  };
  const lines = Object.entries(steps).map(([purpose, call]) => `${purpose}:\n  ${call}`);
  return [...lines, 'All of this is also in the DMS, under Developers.'];
}

/** By the reader’s clock and, for comparing with logs, in UTC. */
function moment(at: Instant, timeZone: string): string {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone, ...longDate });
  const part = Object.fromEntries(format.formatToParts(toMillis(at)).map(({ type, value }) => [type, value]));
  const { weekday, day, month, year, hour, minute } = part;
  return `${weekday} ${day} ${month} ${year}, ${hour}:${minute} ${timeZone} time (${toDateTime(at)})`;
}

const longDate = {
  ...({ weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' } as const),
  ...({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const),
};

const inWords = (error: string): string => words[error] ?? oneLine(error);

const words: Record<string, string> = {
  dns: 'the name of its host was not found',
  connect: 'no connection was had, or it broke',
  tls: 'its host has no valid certificate',
  timeout: 'no answer came within 10 seconds',
  blocked_address: 'its host is not at a public address',
  redirect: 'it answered with a redirect, which is not followed',
  status: 'it answered with another status than 2xx',
};
