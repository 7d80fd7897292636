import { sql } from 'kysely';
import type { Context, Dealer } from '#platform/context.ts';
import type { Page } from '#platform/contract.ts';
import type { Instant } from '#platform/dates.ts';
import { readPage } from '#platform/db/pages.ts';
import { acrossDealers } from '#platform/db/queries.ts';
import type { Service } from '#platform/service.ts';
import type { Branch, BranchChanges, BranchQuery, DealerChanges, NewDealer, Plan } from './contract.ts';
import { toBranch } from './view.ts';

// ---- The dealership ----

/** A dealership as whoever acts for it needs it, with the time it was read. */
export interface Found {
  readonly dealer: Dealer;
  readonly plan: Plan;
  readonly now: Instant;
}

type Named = { readonly id: string } | { readonly code: string } | 'sandbox';

/** Looks a dealership up across all of them. */
export async function findDealer(service: Service, named: Named): Promise<Found | undefined> {
  const dealers = acrossDealers(service.pools.work)
    .selectFrom('dealer')
    .select(['id', 'code', 'currency', 'country', 'time_zone', 'is_sandbox', 'plan', sql<Instant>`clock_timestamp()`.as('now')]);
  const row = await (named === 'sandbox'
    ? dealers.where('is_sandbox', '=', true)
    : 'id' in named
      ? dealers.where('id', '=', named.id)
      : dealers.where('code', '=', named.code)
  ).executeTakeFirst();
  if (!row) return undefined;
  const { id, code, currency, country, time_zone: timeZone, is_sandbox: isSandbox, plan, now } = row;
  return { dealer: { id, code, currency, country, timeZone, isSandbox }, plan, now: service.clock() ?? now };
}

const own = (ctx: Context) => ctx.db.selectFrom('dealer').where('dealer.id', '=', ctx.dealer.id);

/** The dealership itself, with the plan of whose key it is. */
export const ownDealer = (ctx: Context) =>
  own(ctx)
    .innerJoin('dealer as caller', (join) => join.on('caller.id', '=', ctx.caller.callingDealerId))
    .selectAll('dealer')
    .select('caller.plan as calling_plan')
    .executeTakeFirstOrThrow();

export type DealerRow = Awaited<ReturnType<typeof ownDealer>>;

/** What the operator can set, as it stands. */
export const settingsOf = (row: DealerRow): Required<DealerChanges> => ({
  plan: row.plan,
  themeBuilder: row.theme_builder,
  valuations: row.valuations,
  instantValuations: row.instant_valuations,
  available: row.available,
  actsAsId: row.acts_as_id ?? '',
});

/** The last number taken of a series, 0 when none was. */
export async function lastNumber(ctx: Context, series: string): Promise<number> {
  const found = await ctx.db
    .selectFrom('counter')
    .select('last')
    .where('dealer_id', '=', ctx.dealer.id)
    .where('series', '=', series)
    .executeTakeFirst();
  return found?.last ?? 0;
}

/** Gives a dealership that is being made its clock, so that the turn can be taken. */
export async function insertClock(tx: Context): Promise<void> {
  await tx.db.insertInto('dealer_clock').values({ dealer_id: tx.dealer.id, last: '2000-01-01T00:00:00Z' }).execute();
}

export const codeTaken = async (tx: Context, code: string): Promise<boolean> =>
  (await tx.db.selectFrom('dealer').select('id').where('code', '=', code).executeTakeFirst()) !== undefined;

export async function insertDealer(tx: Context, { name, plan }: Pick<NewDealer, 'name' | 'plan'>): Promise<void> {
  const { id, code, currency, country, timeZone, isSandbox } = tx.dealer;
  await tx.db
    .insertInto('dealer')
    .values({
      id,
      code,
      name,
      plan,
      currency,
      country,
      time_zone: timeZone,
      is_sandbox: isSandbox,
      created_at: tx.now,
      updated_at: tx.now,
    })
    .execute();
}

export async function saveDealer(tx: Context, changes: DealerChanges): Promise<void> {
  const { plan, themeBuilder, valuations, instantValuations, available, actsAsId } = changes;
  await tx.db
    .updateTable('dealer')
    .set({
      ...(plan !== undefined && { plan }),
      ...(themeBuilder !== undefined && { theme_builder: themeBuilder }),
      ...(valuations !== undefined && { valuations }),
      ...(instantValuations !== undefined && { instant_valuations: instantValuations }),
      ...(available !== undefined && { available }),
      ...(actsAsId !== undefined && { acts_as_id: actsAsId }),
      updated_at: tx.now,
    })
    .where('id', '=', tx.dealer.id)
    .execute();
}

// ---- Branches ----

const branches = (ctx: Context) =>
  ctx.db.selectFrom('branch').where('branch.dealer_id', '=', ctx.dealer.id).where('branch.deleted_at', 'is', null);

/** The branches that exist for this caller. */
const visible = (ctx: Context) => {
  const { kind, branches: reach } = ctx.caller;
  const found = kind === 'publishable' ? branches(ctx).where('branch.published', '=', true) : branches(ctx);
  return reach === 'all' ? found : found.where(sql<boolean>`branch.id = any(${reach}::uuid[])`);
};

const columns = [
  'branch.id',
  'branch.name',
  'branch.code',
  'branch.is_default',
  'branch.published',
  'branch.address',
  'branch.phone',
  'branch.email',
  'branch.website_url',
  'branch.latitude',
  'branch.longitude',
  'branch.time_zone',
  'branch.departments',
  'branch.opening_hours',
  'branch.created_at',
  'branch.updated_at',
] as const;

const shown = (ctx: Context) => visible(ctx).select(columns).select(sql<string[]>`branch.closed_on::text[]`.as('closed_on'));

export const branchById = (ctx: Context, id: string) => shown(ctx).where('branch.id', '=', id).executeTakeFirst();

export type BranchRow = NonNullable<Awaited<ReturnType<typeof branchById>>>;

/** What can be changed of a branch, as it stands. */
export const detailsOf = ({ website_url, opening_hours, closed_on, ...same }: BranchRow) => ({
  ...same,
  websiteUrl: website_url,
  openingHours: opening_hours,
  closedOn: closed_on,
});

export const pageOfBranches = (ctx: Context, query: BranchQuery): Promise<Page<Branch>> =>
  readPage(ctx, {
    list: 'branches',
    table: 'branch',
    query,
    from: shown(ctx),
    matching: [
      ...(query.branch_id ? [sql<boolean>`branch.id = any(${query.branch_id}::uuid[])`] : []),
      ...(query.published === undefined ? [] : [sql<boolean>`branch.published = ${query.published}`]),
    ],
    toWire: toBranch,
  });

/** Their names, the default branch first. */
export const namesOfBranches = (ctx: Context) =>
  visible(ctx)
    .select(['branch.id', 'branch.name'])
    .orderBy('branch.is_default', 'desc')
    .orderBy('branch.created_at')
    .orderBy('branch.id')
    .execute();

export async function branchCodes(tx: Context): Promise<string[]> {
  const rows = await branches(tx).select('branch.code').execute();
  return rows.map(({ code }) => code);
}

interface NewRow {
  readonly id: string;
  readonly name: string;
  readonly code: string;
  readonly isDefault: boolean;
  readonly details: BranchChanges;
}

export async function insertBranch(tx: Context, { id, name, code, isDefault, details }: NewRow): Promise<void> {
  await tx.db
    .insertInto('branch')
    .values({
      dealer_id: tx.dealer.id,
      id,
      code,
      is_default: isDefault,
      time_zone: tx.dealer.timeZone,
      created_at: tx.now,
      updated_at: tx.now,
      ...columnsOf(details),
      name,
    })
    .execute();
}

export async function saveBranch(tx: Context, id: string, changes: BranchChanges): Promise<void> {
  await tx.db
    .updateTable('branch')
    .set({ ...columnsOf(changes), updated_at: tx.now })
    .where('dealer_id', '=', tx.dealer.id)
    .where('id', '=', id)
    .execute();
}

/** Only what is named. */
const columnsOf = ({ address, openingHours, closedOn, websiteUrl, ...same }: BranchChanges) => ({
  ...(Object.fromEntries(Object.entries(same).filter(([, value]) => value !== undefined)) as typeof same),
  ...(websiteUrl !== undefined && { website_url: websiteUrl }),
  ...(address !== undefined && { address: address && JSON.stringify(address) }),
  ...(openingHours !== undefined && { opening_hours: JSON.stringify(openingHours) }),
  ...(closedOn !== undefined && { closed_on: closedOn }),
});
