import { isDeepStrictEqual } from 'node:util';
import { mostEndpoints } from '#modules/webhooks/contract.ts';
import type { Instant } from '#platform/dates.ts';
import { invalid, Refusal } from '#platform/errors.ts';
import type { DealerChanges, Plan } from './contract.ts';

export const planNames: Readonly<Record<Plan, string>> = { FREE: 'Free', STANDARD: 'Standard', PROFESSIONAL: 'Professional' };

/** A dealership as far as its plan goes. */
export interface Subscriber {
  readonly plan: Plan;
  readonly isSandbox: boolean;
}

const branchLimits: Readonly<Record<Plan, number>> = { FREE: 1, STANDARD: 3, PROFESSIONAL: Number.POSITIVE_INFINITY };
const sandboxBranches = 3;

/** Whether one more branch fits. */
export function checkRoomForBranch({ plan, isSandbox }: Subscriber, branches: number): void {
  const limit = isSandbox ? sandboxBranches : branchLimits[plan];
  if (branches < limit) return;
  const room = limit === 1 ? 'one branch' : `${limit} branches`;
  if (isSandbox) throw new Refusal('plan_not_entitled', `The sandbox has room for ${room}.`);
  throw new Refusal('plan_not_entitled', `The plan ${planNames[plan]} has room for ${room}.`, {
    required: { plan: plan === 'FREE' ? 'STANDARD' : 'PROFESSIONAL' },
  });
}

/** The plan limits that `GET /v1/me` tells, of whoever asks: in the sandbox their own dealership's plan counts. */
export interface Quotas {
  readonly freeStockCap: number;
  readonly sandboxStockCap: number;
  readonly themeQuotaStandard: number;
  readonly themeQuotaProfessional: number;
}

export const stockCap = ({ plan, isSandbox }: Subscriber, { freeStockCap, sandboxStockCap }: Quotas): number | null =>
  isSandbox ? sandboxStockCap : plan === 'FREE' ? freeStockCap : null;

const sandboxThemeGenerations = 100;

export function themeQuota({ plan, isSandbox }: Subscriber, { themeQuotaStandard, themeQuotaProfessional }: Quotas): number {
  if (plan === 'FREE') return 0;
  if (isSandbox) return sandboxThemeGenerations;
  return plan === 'STANDARD' ? themeQuotaStandard : themeQuotaProfessional;
}

export const webhookEndpointLimit = ({ plan }: Subscriber): number => (isPaid(plan) ? mostEndpoints : 0);

export const isPaid = (plan: Plan): boolean => plan !== 'FREE';

/** The calendar month (UTC) of a moment, `YYYY-MM`. */
export const monthOf = (now: Instant): string => now.slice(0, 7);

/** The first moment of the month after. */
export function nextMonth(now: Instant): Instant {
  const [year = 0, month = 0] = monthOf(now).split('-').map(Number);
  return `${new Date(Date.UTC(year, month, 1)).toISOString().slice(0, 19)}.000000Z`;
}

/** Only the sandbox is switched on and off, and has a member of staff test keys act as. */
export function checkSettings(isSandbox: boolean, { available, actsAsId }: DealerChanges): void {
  if (isSandbox) return;
  if (available !== undefined) throw invalid('available', 'Only the sandbox can be switched on and off.');
  if (actsAsId !== undefined) throw invalid('actsAsId', 'Only the sandbox has a user that keys act as.');
}

/** A branch's code from its name: `North Street` → `NORTH_STREET`, with a number when that is taken. */
export function branchCode(name: string, taken: readonly string[]): string {
  const plain = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, '_');
  const stem = plain.slice(0, 36).replaceAll(/^_+|_+$/g, '') || 'BRANCH';
  for (let number = 1; ; number++) {
    const code = number === 1 ? stem : `${stem}_${number}`;
    if (!taken.includes(code)) return code;
  }
}

/** The fields whose wanted value differs from what stands. Order within an object does not count. */
export const changedFields = <T extends object>(now: { readonly [F in keyof T]-?: unknown }, wanted: T): string[] =>
  (Object.keys(wanted) as (keyof T & string)[]).filter(
    (field) => wanted[field] !== undefined && !isDeepStrictEqual(wanted[field] ?? null, now[field] ?? null),
  );
