import { isIP } from 'node:net';
import type { MailServer, Person } from './postbox.ts';

/** Reads the address of a mail server, `smtp://` or `smtps://`; undefined when it is none. */
export function parseMailServer(given: string): Omit<MailServer, 'from'> | undefined {
  const url = URL.parse(given);
  const secure = url?.protocol === 'smtps:';
  if (!url || (!secure && url.protocol !== 'smtp:') || !/^\/?$/.test(url.pathname) || url.search || url.hash) return undefined;
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const [user, password] = [decoded(url.username), decoded(url.password)];
  if (!isHost(host) || url.port === '0' || user === undefined || password === undefined || (user === '') !== (password === ''))
    return undefined;
  return { kind: 'server', host, port: Number(url.port) || (secure ? 465 : 587), secure, auth: user === '' ? null : { user, password } };
}

/** Reads `name@host` or `Name <name@host>`; undefined when it is neither. */
export function parsePerson(given: string): Person | undefined {
  const [, quoted, plain, address = given] = /^(?:"([^"<>]*)"|([^"<>]*?))\s*<([^<>]*)>$/.exec(given) ?? [];
  const name = quoted ?? plain ?? '';
  if (/\p{Cc}/u.test(name) || address.length > 254 || !/^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(address))
    return undefined;
  return { name, address };
}

/** Whom mail is from where nobody says so: an address at the host of the API, if that is a name others may know. */
export function senderAt(baseUrl: string): Person {
  const { hostname } = new URL(baseUrl);
  const isName = hostname.includes('.') && !hostname.startsWith('[') && !isIP(hostname);
  return { name: 'Forecourt', address: `forecourt@${isName ? hostname : 'localhost'}` };
}

const isHost = (host: string): boolean => isIP(host) !== 0 || /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(host);

/** Undefined when a percent sign stands for nothing. */
function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
