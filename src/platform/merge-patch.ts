/** What a merge patch may say of an object: an absent field is left, null clears it. */
export type Patch<T> = { readonly [F in keyof T]?: T[F] | undefined };

/** A document with a patch laid over it. It has all fields of `blank`; one of which nothing is left is null, as is one that is cleared. */
export function patched<T extends object>(blank: T, before: T | null, patch: Patch<T> | null): T | null {
  if (patch === null) return null;
  const after = { ...blank, ...before, ...said(patch) };
  return Object.values(after).every((value) => value === null) ? null : after;
}

/** A map of names to texts with a patch laid over it; a name given as null is removed. */
export const patchedMap = (before: Record<string, string>, patch: Record<string, string | null> | null): Record<string, string> =>
  patch === null
    ? {}
    : Object.fromEntries(Object.entries({ ...before, ...patch }).filter((entry): entry is [string, string] => entry[1] !== null));

/** The fields a patch speaks of. */
export const said = <T extends object>(patch: T): { [F in keyof T]: Exclude<T[F], undefined> } =>
  Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined)) as { [F in keyof T]: Exclude<T[F], undefined> };
