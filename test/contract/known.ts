import type { Document } from './documents.ts';

/** Records that are there, for requests to name. Their paths stand under their form: `/v1/vehicles/{}/images/{}`. */
export interface Known {
  /** Takes note of a record: what an operation of this path made or listed. */
  add(path: string, at: string): void;
  /** The paths of this form. */
  at(form: string): readonly string[];
  /** The ids a field of this name may hold: those of its kind where that is known, of what belongs to this record where something does. */
  idsFor(field: string, within: string): readonly string[];
}

/** A path without the names of its parameters. */
export const formOf = (path: string): string => path.replaceAll(/\{\w+\}/g, '{}');

export function nothingKnown(): Known {
  const paths = new Map<string, string[]>();
  return {
    add: (path, at) => void paths.set(formOf(path), [...(paths.get(formOf(path)) ?? []), at]),
    at: (form) => paths.get(form) ?? [],
    idsFor(field, within) {
      const one = field.replace(/_ids?$/, '');
      const names = [one, `${one}s`, `${one}es`, one.replace(/y$/, 'ies')];
      const all = [...paths.values()].flat();
      const ofItsKind = all.filter((path) => names.includes(path.split('/').at(-2)?.replaceAll('-', '_') ?? ''));
      const inner = ofItsKind.filter((path) => path.startsWith(`${within}/`));
      const chosen = [inner, ofItsKind, all].find((some) => some.length > 0) ?? [];
      return chosen.map((path) => path.slice(path.lastIndexOf('/') + 1)).filter((id) => uuid.test(id));
    },
  };
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** A value with its ids replaced by some of those there are for their field; `nth` chooses among them. */
export function withIds(value: Document, idsFor: (field: string) => readonly string[], nth: number, field = ''): Document {
  if (Array.isArray(value)) return value.map((item, i) => withIds(item, idsFor, nth + i, field));
  if (value instanceof Object)
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name, withIds(inner, idsFor, nth, name === 'id' ? field : name)]),
    );
  if (typeof value !== 'string' || !uuid.test(value)) return value;
  const ids = idsFor(field);
  return ids[nth % ids.length] ?? value;
}
