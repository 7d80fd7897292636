import type { Refusal } from '#platform/errors.ts';

/** A result to read: one line per value. */
export const asLines = (result: object): string =>
  Object.entries(result)
    .map(([name, value]) => `${name.replaceAll('_', ' ').padEnd(16)} ${inWords(value)}`)
    .join('\n');

function inWords(value: unknown): string {
  if (Array.isArray(value)) return value.map(inWords).join('; ') || '–';
  if (typeof value === 'number') return value.toLocaleString('en-GB');
  if (value === null || typeof value !== 'object') return String(value ?? '–');
  return (
    Object.entries(value)
      .map(([name, inner]) => `${name} ${inWords(inner)}`)
      .join(', ') || '–'
  );
}

/** A refusal in one line; what is wrong with a field is told by its flag. */
export function refusalLine({ message, fields }: Refusal): string {
  if (!fields) return message;
  return Object.entries(fields)
    .map(([field, faults]) => `--${flagOf(field)}: ${faults.join(' ')}`)
    .join(' ');
}

const flags: Readonly<Record<string, string>> = {
  ownerId: 'owner',
  branchIds: 'branches',
  environment: 'env',
  expiresAt: 'expires',
  redirectUris: 'redirect-uri',
};

function flagOf(field: string): string {
  const [name = field] = field.split('.');
  return flags[name] ?? name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
