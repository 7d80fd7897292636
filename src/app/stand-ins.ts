import { createHash } from 'node:crypto';
import type { Examples, Shown } from './examples.ts';

/**
 * The same examples in every run: what a run makes up (ids of records and requests, names of files, cursors, the public part of a key, signing secrets and signatures, how long something took) has a stand-in, taken from where
 * it is first met, so that it stays the same when other examples come and go.
 */
export function alike(shown: ReadonlyMap<string, Shown>, key: string): Examples {
  const standIns = new Map<string, string>([[lookupOf(key), 'Fq3TzL81mWbd']]);
  const replaced = (text: string, where: string) => {
    const whole = standIns.get(text);
    if (whole !== undefined) return whole;
    return text.replaceAll(madeUp, (id) => {
      const known = standIns.get(id) ?? standInFor(id, where);
      standIns.set(id, known);
      return known;
    });
  };
  const walk = (value: unknown, where: string): unknown => {
    if (typeof value === 'number') return /\.duration_ms$/.test(where) ? usualMs : value;
    if (typeof value === 'string') {
      if (/_cursor$/.test(where)) return cursorFrom(where);
      if (/\.secret_hint$/.test(where)) return signingSecret.slice(-4);
      return replaced(withoutSignature(withoutLink(value, where), where), where);
    }
    if (Array.isArray(value)) return value.map((item, i) => walk(item, `${where}.${i}`));
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, walk(inner, `${where}.${name}`)]));
  };
  return new Map([...shown].map(([id, example]) => [id, walk(example, id) as Shown]));
}

const madeUp = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{2}\/[0-9a-f]{40}|(?<=\breq_)[0-9a-f]{32}/g;

function standInFor(id: string, where: string): string {
  if (id.includes('/')) return fileFrom(where);
  return id.includes('-') ? uuidFrom(where) : hash(where).toString('hex').slice(0, 32);
}

/** `svc_live_sk_<lookup>_<secret>` */
const lookupOf = (key: string): string => key.split('_').at(-2) ?? key;

const hash = (text: string): Buffer => createHash('sha256').update(text).digest();

/** In the form of version 4. */
function uuidFrom(where: string): string {
  const hex = hash(where).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** `ab/ab12…`, as files are named. */
const fileFrom = (where: string): string => `${hash(where).toString('hex').slice(0, 2)}/${hash(where).toString('hex').slice(0, 40)}`;

/** `https://…?link=<signed>` */
const withoutLink = (text: string, where: string): string => text.replace(/(?<=\?link=)[\w-]+\.[\w-]{43}$/, cursorFrom(where));

const usualMs = 31;

/** Nobody can take it for one that is in use. */
const signingSecret = `whsec_${Buffer.from('A secret of nobody, shown as one').toString('base64')}`;

/** `whsec_…`, and the `v1` values that a delivery is signed with. */
const withoutSignature = (text: string, where: string): string =>
  text
    .replace(/^whsec_[\w+/]{43}=$/, signingSecret)
    .replaceAll(/(?<=\bv1=)[0-9a-f]{64}/g, (_, at) => hash(`${where} ${at}`).toString('hex'))
    .replaceAll(/(?<=\bv1,)[\w+/]{43}=/g, (_, at) => hash(`${where} ${at}`).toString('base64'));

const cursorFrom = (where: string): string => hash(where).toString('base64url').slice(0, 32);
