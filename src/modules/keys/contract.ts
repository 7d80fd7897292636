import { z } from 'zod';
import { scopeNames } from '#modules/staff/contract.ts';
import { id, moment, text, whole } from '#platform/contract.ts';

/** The scopes every publishable key carries; it can be given no more. */
export const publishableScopes = ['vehicles:read', 'branches:read', 'public:enquiries', 'public:valuation_requests'] as const;

/** The scopes a secret key may be given. */
export const secretScopes = scopeNames.filter((scope) => !scope.startsWith('public:'));

const range = z
  .string()
  .refine((value) => z.union([z.cidrv4(), z.cidrv6(), z.ipv4(), z.ipv6()]).safeParse(value).success && !value.includes('%'), {
    error: 'An address or CIDR range, such as 203.0.113.0/24.',
  });

const origin = z
  .string()
  .refine((value) => /^https:\/\/[^/?#@\s*]+$/i.test(value) && URL.canParse(value) && new URL(value).pathname === '/', {
    error: 'An origin, such as https://www.example.com.',
  });

const keyShape = {
  name: text(120),
  ownerId: id,
  kind: z.enum(['secret', 'publishable']),
  environment: z.enum(['live', 'test']),
  scopes: z.union([z.literal('all'), z.array(z.enum(scopeNames, { error: 'Not a scope.' }))]).default('all'),
  branchIds: z.union([z.literal('all'), z.array(id)]).default('all'),
  ips: z.array(range).default([]),
  origins: z.array(origin).default([]),
  expiresAt: moment.nullable().default(null),
  rateLimit: whole(1, 1_000_000).nullable().default(null),
};

/** A key to be issued. */
export const newKey = z.strictObject(keyShape).check((ctx) => {
  const { kind, ips, origins, scopes } = ctx.value;
  const wrong = (path: string, message: string) => ctx.issues.push({ code: 'custom', message, path: [path], input: ctx.value });
  if (kind === 'publishable' && origins.length === 0) wrong('origins', 'A publishable key needs at least one origin.');
  if (kind === 'publishable' && ips.length > 0) wrong('ips', 'Only a secret key has an address list.');
  if (kind === 'publishable' && scopes !== 'all') wrong('scopes', 'A publishable key always carries the same scopes.');
  if (kind === 'secret' && origins.length > 0) wrong('origins', 'Only a publishable key has origins.');
  if (kind === 'secret' && scopes !== 'all' && scopes.some((scope) => scope.startsWith('public:'))) {
    wrong('scopes', 'public:… scopes belong to publishable keys.');
  }
});

/** What may be changed of a key without replacing it. */
export const keyChanges = z
  .strictObject({ name: text(120), ownerId: id, expiresAt: moment.nullable(), rateLimit: whole(1, 1_000_000).nullable() })
  .partial();

export type NewKey = z.input<typeof newKey>;
export type KeyChanges = z.input<typeof keyChanges>;
