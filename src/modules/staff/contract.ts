import { z } from 'zod';
import { id, text } from '#platform/contract.ts';

/** What a member of staff may do in the DMS, with the name the DMS shows. */
export const permissions = {
  STOCK_VIEW: 'Stock – view',
  STOCK_EDIT: 'Stock – edit',
  STOCK_DELETE: 'Stock – delete',
  STOCK_COSTS: 'Stock – view costs and margin',
  ENQUIRIES_VIEW: 'Sales – view enquiries',
  ENQUIRIES_EDIT: 'Sales – edit enquiries',
  CUSTOMERS_VIEW: 'Customers – view',
  CUSTOMERS_EDIT: 'Customers – edit',
  SALES_VIEW: 'Sales – view deals and invoices',
  SALES_EDIT: 'Sales – edit deals',
  DIARY_VIEW: 'Diary – view',
  DIARY_EDIT: 'Diary – edit',
  WORKSHOP_VIEW: 'Workshop – view job cards',
  WORKSHOP_EDIT: 'Workshop – edit job cards',
  WEBSITE_VIEW: 'Website – view',
  WEBSITE_DESIGN: 'Website – design',
  WEBSITE_PUBLISH: 'Website – publish',
  WEBHOOKS_MANAGE: 'Developers – manage webhooks',
  EVENTS_VIEW: 'Developers – view events',
} as const;

export type Permission = keyof typeof permissions;
export const permissionCodes = Object.keys(permissions) as [Permission, ...Permission[]];

/** The roles in the order of the role table below. */
export const roles = [
  'ADMINISTRATOR',
  'SALES_MANAGER',
  'SALES_EXECUTIVE',
  'SERVICE_ADVISOR',
  'TECHNICIAN',
  'MARKETING',
  'ACCOUNTS',
  'READ_ONLY',
] as const;

export type Role = (typeof roles)[number];
export const staffStatuses = ['active', 'banned', 'deleted'] as const;

/** A scope of the API: what it lets somebody do, in words for the dealership, the permission its owner needs, and whether it reaches personal data. */
export interface ScopeFacts {
  readonly words: string;
  readonly permission: Permission | null;
  readonly personalData: boolean;
}

const lets = (words: string, permission: Permission | null, personalData = false): ScopeFacts => ({ words, permission, personalData });
const personal = true;

/** Every scope there is. */
export const scopeCatalogue = {
  'vehicles:read': lets('See vehicles with their prices and photos', 'STOCK_VIEW'),
  'vehicles:write': lets('Add, change and remove vehicles, their prices and photos', 'STOCK_EDIT'),
  'vehicles:costs': lets('See what vehicles cost and what is earned with them', 'STOCK_COSTS'),
  'branches:read': lets('See the branches and their opening hours', null),
  'enquiries:read': lets('See enquiries, their notes and who made them', 'ENQUIRIES_VIEW', personal),
  'enquiries:write': lets('Record and change enquiries', 'ENQUIRIES_EDIT', personal),
  'customers:read': lets('See customers and how to reach them', 'CUSTOMERS_VIEW', personal),
  'customers:write': lets('Add, change and remove customers', 'CUSTOMERS_EDIT', personal),
  'sales:read': lets('See deals and invoices', 'SALES_VIEW', personal),
  'sales:write': lets('Make and change deals', 'SALES_EDIT', personal),
  'appointments:read': lets('See the diary', 'DIARY_VIEW', personal),
  'appointments:write': lets('Make, change and cancel appointments', 'DIARY_EDIT', personal),
  'workshop:read': lets('See job cards of the workshop', 'WORKSHOP_VIEW', personal),
  'workshop:write': lets('Open and change job cards, and move their parts', 'WORKSHOP_EDIT', personal),
  'website_themes:read': lets('See the designs of the website', 'WEBSITE_VIEW'),
  'website_themes:write': lets('Have designs of the website made, and publish them', 'WEBSITE_DESIGN'),
  'webhooks:manage': lets('Decide where events are sent', 'WEBHOOKS_MANAGE'),
  'events:read': lets('Read what happened, as far as the other rights reach', 'EVENTS_VIEW'),
  'public:enquiries': lets('Send enquiries of visitors of the website', null),
  'public:valuation_requests': lets('Send valuation requests of visitors of the website', null),
} as const satisfies Record<`${string}:${string}`, ScopeFacts>;

export type KnownScope = keyof typeof scopeCatalogue;
export const scopeNames = Object.keys(scopeCatalogue) as [KnownScope, ...KnownScope[]];

const branches = z.union([z.literal('all'), z.array(id).min(1)], { error: 'Either "all" or ids of branches.' });
const role = z.enum(roles, { error: `One of ${roles.join(', ')}.` });
const permission = z.enum(permissionCodes, { error: 'Not a permission code.' });

/** The length is asked about first: the pattern of an address takes a stack of its length. */
export const email = z
  .string()
  .trim()
  .max(254, { error: 'At most 254 characters.', abort: true })
  .toLowerCase()
  .check(z.email({ error: 'Not an e-mail address.' }));

const password = z.string().min(8, { error: 'At least 8 characters.' }).max(200, { error: 'At most 200 characters.' });

/** A new member of staff. */
export const newUser = z.strictObject({
  email,
  name: text(120),
  role,
  password,
  branches: branches.default('all'),
});

/** `with` and `without` give and take single permissions beside those of the role. */
export const userChanges = z
  .strictObject({
    role,
    status: z.enum(staffStatuses, { error: `One of ${staffStatuses.join(', ')}.` }),
    password,
    with: z.array(permission),
    without: z.array(permission),
    branches,
  })
  .partial();

/** After so many hours a session is over: unused, and in any case. */
export const sessionHours = { unused: 8, atMost: 7 * 24 } as const;

export type NewUser = z.input<typeof newUser>;
export type UserChanges = z.input<typeof userChanges>;
