/**
 * An http or https address as it will be called, or null when it is not written as one plainly is. A URL parser takes far more
 * (`https:10.0.0.1`, `https:///host`, `0x7f.1`, fullwidth digits, tabs inside names); what it would have to repair is refused.
 */
export function plainUrl(given: string): URL | null {
  const [, host = '', port] = form.exec(given) ?? [];
  const url = host === '' ? null : URL.parse(given);
  if (!url || given.length > 2048 || !isHost(host.toLowerCase(), url.hostname)) return null;
  return port === undefined || (Number(port) >= 1 && Number(port) <= 65_535) ? url : null;
}

/** Scheme, host, port, and a rest without control characters, spaces, backslashes and fragment. No user information. */
const form = /^https?:\/\/(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::(\d{1,5}))?(?:[/?][^\p{Cc}\s\\#]*)?$/iu;

/** An address in its usual form, or a name with a dot whose last label is no number. */
function isHost(given: string, parsed: string): boolean {
  if (given !== parsed) return false;
  if (given.startsWith('[') || /^\d+\.\d+\.\d+\.\d+$/.test(given)) return true;
  const labels = given.split('.');
  return given.length <= 253 && labels.length > 1 && labels.every((label) => /^[a-z0-9-]{1,63}$/.test(label)) && /\D/.test(labels.at(-1)!);
}
