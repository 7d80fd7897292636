import { ConfigError } from './config.ts';

/** The parts of the product that run as processes of their own. */
export const roles = ['api', 'dms', 'worker'] as const;
export type Role = (typeof roles)[number];

/** The processes of a role. Deliveries have one of their own, so that nothing a job does or dies of holds them up. */
export type ProcessKind = Role | 'courier';

export const processesOf = (role: Role, { workers }: { readonly workers: number }): ProcessKind[] =>
  ({ api: Array<ProcessKind>(workers).fill('api'), dms: ['dms' as const], worker: ['worker' as const, 'courier' as const] })[role];

/** `api,worker` as roles, each once. */
export function readRoles(list: string): Role[] {
  const names = new Set(list.split(/[\s,]+/).filter(Boolean));
  const unknown = [...names].find((name) => !roles.some((role) => role === name));
  if (unknown !== undefined || names.size === 0) {
    throw new ConfigError(`--role takes ${roles.join(', ')}, several separated by commas, not ${JSON.stringify(unknown ?? list)}.`);
  }
  return roles.filter((role) => names.has(role));
}
