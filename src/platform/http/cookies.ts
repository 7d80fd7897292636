/** A cookie to be kept until the browser ends, or for so long; a value of null ends it. */
export interface Cookie {
  readonly name: string;
  readonly value: string | null;
  readonly keptSeconds?: number;
}

/** What a browser sends back of a cookie that was set so. */
export function cookieIn(header: string | undefined, name: string, secure: boolean): string | null {
  const wanted = `${nameOf(name, secure)}=`;
  const found = header
    ?.split(';')
    .map((pair) => pair.trim())
    .find((pair) => pair.startsWith(wanted));
  return found?.slice(wanted.length) ?? null;
}

/** For this host alone, out of reach of scripts, and not sent along with what other sites have posted or framed. */
export const setCookie = ({ name, value, keptSeconds }: Cookie, secure: boolean): string =>
  [
    `${nameOf(name, secure)}=${value ?? ''}`,
    'Path=/; HttpOnly; SameSite=Lax',
    ...(secure ? ['Secure'] : []),
    ...(value === null ? ['Max-Age=0'] : keptSeconds === undefined ? [] : [`Max-Age=${keptSeconds}`]),
  ].join('; ');

/** With this prefix no other host of the domain can set it. */
const nameOf = (name: string, secure: boolean): string => `${secure ? '__Host-' : ''}forecourt_${name}`;
