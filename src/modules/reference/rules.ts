import type { FieldErrors } from '#platform/errors.ts';
import { invalidFields } from '#platform/errors.ts';
import type { Arrangement, ReferenceCode } from './contract.ts';

/** A list as far as arranging it goes. */
export interface Standing {
  readonly takesDealerCodes: boolean;
  /** The list as it stands, the dealer's own codes among it. */
  readonly codes: readonly ReferenceCode[];
}

/** An entry as it is kept. */
export interface Placed {
  readonly code: string;
  readonly name: string;
  readonly description: string | null;
  readonly position: number;
  readonly is_active: boolean;
}

const isDealerMade = (code: string): boolean => code.startsWith('X_');

/** What a dealer makes of a list: every code once, in the new order. Codes are fixed; only lists marked for it take new ones, `X_…`. */
export function arranged({ codes, takesDealerCodes }: Standing, entries: Arrangement): Placed[] {
  const known = new Map(codes.map((code) => [code.code, code]));
  const errors: FieldErrors = {};
  entries.forEach(({ code, name }, index) => {
    const fail = (field: string, message: string) => {
      errors[`${index}.${field}`] = [message];
    };
    if (entries.findIndex((entry) => entry.code === code) < index) fail('code', 'Stands in the list twice.');
    else if (!known.has(code) && !isDealerMade(code)) fail('code', 'Not a code of this list. Codes of your own begin with X_.');
    else if (!known.has(code) && !takesDealerCodes) fail('code', 'This list takes no codes of your own.');
    else if (!known.has(code) && name === undefined) fail('name', 'Required.');
  });
  const missing = codes.filter(({ code }) => !entries.some((entry) => entry.code === code));
  if (missing.length > 0) errors.entries = [`Missing: ${missing.map(({ code }) => code).join(', ')}. A code can be hidden, not removed.`];
  if (Object.keys(errors).length > 0) throw invalidFields(errors);

  return entries.map(({ code, name, description, is_active }, position) => {
    const before = known.get(code);
    return {
      code,
      name: name ?? before?.name ?? code,
      description: description === undefined ? (before?.description ?? null) : description,
      position,
      is_active: is_active ?? before?.is_active ?? true,
    };
  });
}

/** The codes whose name, description, hiding or place differs. */
export const codesThatDiffer = (codes: readonly ReferenceCode[], placed: readonly Placed[]): string[] =>
  placed
    .filter(({ code, name, description, position, is_active }) => {
      const before = codes[position];
      return before?.code !== code || before.name !== name || before.description !== description || before.is_active !== is_active;
    })
    .map(({ code }) => code);
