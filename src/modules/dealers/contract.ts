import { z } from 'zod';
import { anyOf, byId, date, dateTime, everyKey, flag, id, listQuery, operation, text } from '#platform/contract.ts';

export const plans = ['FREE', 'STANDARD', 'PROFESSIONAL'] as const;
export type Plan = (typeof plans)[number];

// ---- Branches ----

export const departments = ['SALES', 'SERVICE', 'PARTS', 'BODYSHOP'] as const;

const nullable = z.string().nullable();

export const address = z
  .object({ line1: nullable, line2: nullable, city: nullable, county: nullable, postcode: nullable, country: nullable })
  .meta({ id: 'Address' });

const openingHours = z.object({
  department: z.enum(departments),
  day: z.int().describe('1 is Monday, 7 is Sunday.'),
  opens: z.string().describe('Local time, `HH:MM`.'),
  closes: z.string(),
});

const uuid = z.string().meta({ format: 'uuid' });

export const branch = z
  .object({
    id: uuid,
    name: z.string(),
    code: z.string(),
    is_default: z.boolean(),
    published: z.boolean(),
    address: address.nullable(),
    phone: nullable,
    email: nullable,
    website_url: nullable,
    latitude: z.number().nullable(),
    longitude: z.number().nullable(),
    time_zone: z.string(),
    departments: z.array(z.enum(departments)),
    opening_hours: z.array(openingHours),
    closed_on: z.array(z.string().meta({ format: 'date' })),
    created_at: dateTime,
    updated_at: dateTime,
  })
  .meta({ id: 'Branch' });

export type Branch = z.output<typeof branch>;

const branchReaders = { scopes: ['branches:read'], kinds: everyKey } as const;

export const branchQuery = listQuery({
  branch_id: anyOf(id).optional().describe('Only these branches; repeatable or comma-separated.'),
  published: flag.optional().describe('Only branches that are, or are not, shown to the public.'),
});

export type BranchQuery = z.output<typeof branchQuery>;

export const listBranches = operation({
  id: 'branches.list',
  method: 'GET',
  path: '/v1/branches',
  tag: 'Branches',
  summary: 'List branches',
  description: 'The branches within the key’s reach; publishable keys see published ones only.',
  access: branchReaders,
  query: branchQuery,
  success: { status: 200, data: branch, shape: 'page' },
  refusals: ['validation_failed'],
});

export const getBranch = operation({
  id: 'branches.get',
  method: 'GET',
  path: '/v1/branches/{id}',
  tag: 'Branches',
  summary: 'Read a branch',
  access: branchReaders,
  params: byId,
  success: { status: 200, data: branch },
  refusals: ['not_found'],
});

const time = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, { error: 'A time of day, such as 09:00.' });
const address120 = text(120).nullable().default(null);

const branchFields = {
  published: z.boolean(),
  address: z
    .strictObject({ line1: address120, line2: address120, city: address120, county: address120, postcode: address120, country: address120 })
    .nullable(),
  phone: text(40).nullable(),
  email: z.email({ error: 'Not an e-mail address.' }).nullable(),
  websiteUrl: z.url({ protocol: /^https?$/, error: 'A web address.' }).nullable(),
  latitude: z.number().min(-90).max(90).nullable(),
  longitude: z.number().min(-180).max(180).nullable(),
  departments: z.array(z.enum(departments)),
  openingHours: z.array(z.strictObject({ department: z.enum(departments), day: z.int().min(1).max(7), opens: time, closes: time })),
  closedOn: z.array(date),
};

/** A new branch of the dealership. */
export const newBranch = z.strictObject({ name: text(120), ...z.object(branchFields).partial().shape });

export const branchChanges = newBranch.partial();

export type NewBranch = z.output<typeof newBranch>;
export type BranchChanges = z.output<typeof branchChanges>;

// ---- The dealership ----

const count = { limit: z.int(), used: z.int() };

const keyOfMe = z.object({
  id: uuid.nullable(),
  name: z.string(),
  kind: z.enum(['secret', 'publishable', 'oauth']),
  lookup: nullable,
  scopes: z.array(z.string()).describe('What the key was given.'),
  effective_scopes: z.array(z.string()).describe('What is left of that after its owner’s permissions.'),
  all_branches: z.boolean(),
  branch_ids: z.array(uuid).describe('The branches within reach: the key’s and its owner’s. Empty with `all_branches` false reaches none.'),
  expires_at: dateTime.nullable(),
  created_at: dateTime.nullable(),
});

const branchOfMe = z.object({ id: uuid, name: z.string() });

export const me = z
  .object({
    id: uuid,
    name: z.string(),
    trading_name: nullable,
    dealer_code: z.string(),
    environment: z.enum(['live', 'test']),
    currency: z.string(),
    country: z.string(),
    time_zone: z.string(),
    locale: z.string(),
    vat_number: nullable,
    website_url: nullable,
    plan: z.object({ code: z.enum(plans), name: z.string(), is_free: z.boolean() }),
    features: z.object({ theme_builder: z.boolean(), instant_valuations: z.boolean() }),
    limits: z.object({
      stock: z.object({ cap: z.int().nullable(), used: z.int() }),
      theme_generations: z.object({ ...count, resets_at: dateTime }),
      webhook_endpoints: z.object(count),
      rate_limit_per_minute: z.int(),
    }),
    branches: z.array(branchOfMe),
    key: keyOfMe,
    owner: z.object({ id: uuid, name: z.string() }).nullable(),
    app: z
      .object({
        id: uuid,
        name: z.string(),
        website_url: nullable,
        logo_url: nullable,
        authorised_at: dateTime,
        scopes: z.array(z.string()),
      })
      .nullable()
      .describe('The app, when the token is an OAuth token.'),
  })
  .meta({ id: 'Me' });

export const publishableMe = z
  .object({
    ...me.pick({
      id: true,
      name: true,
      trading_name: true,
      environment: true,
      currency: true,
      country: true,
      time_zone: true,
      website_url: true,
      branches: true,
    }).shape,
    key: keyOfMe.pick({ id: true, kind: true, scopes: true }),
    app: z.null(),
  })
  .meta({ id: 'PublishableMe' });

export type Me = z.output<typeof me>;

export const getMe = operation({
  id: 'me.get',
  method: 'GET',
  path: '/v1/me',
  tag: 'Me',
  summary: 'Read whose key this is',
  description: 'The dealership the key opens, what the key may do there, and what is left of its limits.',
  access: { scopes: [], kinds: everyKey },
  success: { status: 200, data: me, publishable: publishableMe },
  refusals: [],
});

/** A new dealership, with its first branch. */
export const newDealer = z.strictObject({
  name: text(120),
  code: z
    .string()
    .trim()
    .toLowerCase()
    .regex(/^[a-z0-9][a-z0-9-]{1,39}$/, { error: '2 to 40 characters of a-z 0-9 -, not beginning with a hyphen.' }),
  plan: z.enum(plans, { error: `One of ${plans.join(', ')}.` }),
  currency: z
    .string()
    .trim()
    .toUpperCase()
    .refine((code) => Intl.supportedValuesOf('currency').includes(code), { error: 'An ISO 4217 currency, such as GBP.' })
    .default('GBP'),
  timeZone: z.string().trim().refine(isTimeZone, { error: 'A time zone, such as Europe/London.' }).default('Europe/London'),
});

/** What the operator sets. `available` and `actsAsId` are the sandbox's alone. */
export const dealerChanges = z
  .strictObject({
    plan: z.enum(plans, { error: `One of ${plans.join(', ')}.` }),
    themeBuilder: z.boolean(),
    valuations: z.boolean(),
    instantValuations: z.boolean(),
    available: z.boolean(),
    actsAsId: id,
  })
  .partial();

export type NewDealer = z.input<typeof newDealer>;
export type DealerChanges = z.output<typeof dealerChanges>;

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return name.includes('/') || name === 'UTC';
  } catch {
    return false;
  }
}
