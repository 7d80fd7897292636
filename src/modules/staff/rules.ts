import type { Instant } from '#platform/dates.ts';
import { toMillis } from '#platform/dates.ts';
import type { KnownScope, Permission, Role } from './contract.ts';
import { permissionCodes, scopeCatalogue } from './contract.ts';

/** A member of staff as far as permissions go. */
export interface Standing {
  readonly role: Role;
  readonly granted: readonly string[];
  readonly withheld: readonly string[];
}

/** What a member of staff may do now: what the role gives and what was granted beside it, less what was withheld. */
export const permissionsOf = ({ role, granted, withheld }: Standing): Permission[] =>
  permissionCodes.filter((code) => (byRole.get(role)?.has(code) || granted.includes(code)) && !withheld.includes(code));

/** Of the active members of staff those who look after what needs this permission: who has it, or the administrators where it was withheld from all. */
export function managersAmong<M extends Standing>(members: readonly M[], permission: Permission): M[] {
  const having = members.filter((member) => permissionsOf(member).includes(permission));
  return having.length > 0 ? having : members.filter(({ role }) => role === 'ADMINISTRATOR');
}

/** Whether someone with these permissions may use a scope. */
export function allowsScope(permissions: readonly string[], scope: KnownScope): boolean {
  const needed = scopeCatalogue[scope].permission;
  return needed === null || permissions.includes(needed);
}

/** SALES_MANAGER as "Sales manager". */
export const roleName = (role: Role): string => role.charAt(0) + role.slice(1).toLowerCase().replaceAll('_', ' ');

/** Gives and takes single permissions; the last word about a code counts. */
export function withSingles(
  standing: Standing,
  { with: given = [], without: taken = [] }: { with?: readonly Permission[] | undefined; without?: readonly Permission[] | undefined },
): Pick<Standing, 'granted' | 'withheld'> {
  const less = (codes: readonly string[], gone: readonly string[]) => codes.filter((code) => !gone.includes(code));
  const plus = (codes: readonly string[], more: readonly string[]) => [...codes, ...less(more, codes)];
  return {
    granted: plus(less(standing.granted, taken), less(given, taken)),
    withheld: plus(less(standing.withheld, less(given, taken)), taken),
  };
}

/** Attempts to sign in that a quarter of an hour has room for. */
export const allowedAttempts = { fromAddress: 60, atAccountFromAddress: 5, atAccount: 25, atAccountOnDevice: 10 } as const;

/** Whether the password was given so lately that it need not be given again for what reaches far. */
export const isProvedLately = ({ now, provedAt }: { readonly now: Instant; readonly provedAt: Instant }): boolean =>
  toMillis(now) - toMillis(provedAt) <= 30 * 60_000;

// One column per role: Administrator, sales Manager, sales Executive, serVice advisor, Technician, marketing (W), accounts (F), Read only.
const columns: Record<string, Role> = {
  A: 'ADMINISTRATOR',
  M: 'SALES_MANAGER',
  E: 'SALES_EXECUTIVE',
  V: 'SERVICE_ADVISOR',
  T: 'TECHNICIAN',
  W: 'MARKETING',
  F: 'ACCOUNTS',
  R: 'READ_ONLY',
};

const defaults: Record<Permission, string> = {
  STOCK_VIEW: 'AMEV-WFR',
  STOCK_EDIT: 'AME-----',
  STOCK_DELETE: 'AM------',
  STOCK_COSTS: 'AM----F-',
  ENQUIRIES_VIEW: 'AMEV---R',
  ENQUIRIES_EDIT: 'AMEV----',
  CUSTOMERS_VIEW: 'AMEV--FR',
  CUSTOMERS_EDIT: 'AMEV----',
  SALES_VIEW: 'AME---FR',
  SALES_EDIT: 'AME---F-',
  DIARY_VIEW: 'AMEV---R',
  DIARY_EDIT: 'AMEV----',
  WORKSHOP_VIEW: 'AM-VT--R',
  WORKSHOP_EDIT: 'A--VT---',
  WEBSITE_VIEW: 'AM---W-R',
  WEBSITE_DESIGN: 'A----W--',
  WEBSITE_PUBLISH: 'A----W--',
  WEBHOOKS_MANAGE: 'A-------',
  EVENTS_VIEW: 'A-------',
};

const byRole = new Map<Role, ReadonlySet<Permission>>(
  Object.entries(columns).map(([letter, role]) => [role, new Set(permissionCodes.filter((code) => defaults[code].includes(letter)))]),
);
