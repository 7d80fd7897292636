import type { AppDetails, Context } from '#platform/context.ts';
import type { Instant } from '#platform/dates.ts';
import { toDateTime } from '#platform/dates.ts';
import type { Branch, Me } from './contract.ts';

interface BranchRow extends Omit<Branch, 'address' | 'departments' | 'opening_hours' | 'created_at' | 'updated_at'> {
  readonly address: unknown;
  readonly departments: readonly string[];
  readonly opening_hours: unknown;
  readonly created_at: Instant;
  readonly updated_at: Instant;
}

/** Rows were checked by the contract when they were written. */
export const toBranch = ({ address, departments, opening_hours, created_at, updated_at, ...same }: BranchRow): Branch => ({
  ...same,
  address: address as Branch['address'],
  departments: departments as Branch['departments'],
  opening_hours: opening_hours as Branch['opening_hours'],
  created_at: toDateTime(created_at),
  updated_at: toDateTime(updated_at),
});

interface DealerRow {
  readonly id: string;
  readonly name: string;
  readonly code: string;
  readonly trading_name: string | null;
  readonly currency: string;
  readonly country: string;
  readonly time_zone: string;
  readonly locale: string;
  readonly vat_number: string | null;
  readonly website_url: string | null;
  readonly theme_builder: boolean;
  readonly instant_valuations: boolean;
}

type Rest = Pick<Me, 'plan' | 'limits' | 'branches'>;

/** Whose key it is, for whoever holds it. */
export function toMe({ dealer, caller }: Context, row: DealerRow, rest: Rest): Me {
  const { key, branches } = caller;
  return {
    id: row.id,
    name: row.name,
    trading_name: row.trading_name,
    dealer_code: row.code,
    environment: key?.environment ?? (dealer.isSandbox ? 'test' : 'live'),
    currency: row.currency,
    country: row.country,
    time_zone: row.time_zone,
    locale: row.locale,
    vat_number: row.vat_number,
    website_url: row.website_url,
    features: { theme_builder: row.theme_builder, instant_valuations: row.instant_valuations },
    ...rest,
    key: {
      id: caller.id,
      name: caller.name,
      kind: caller.kind === 'system' || caller.kind === 'user' ? 'secret' : caller.kind,
      lookup: key?.lookup ?? null,
      scopes: [...caller.granted],
      effective_scopes: [...caller.scopes],
      all_branches: branches === 'all',
      branch_ids: branches === 'all' ? [] : [...branches],
      expires_at: key?.expiresAt ? toDateTime(key.expiresAt) : null,
      created_at: key ? toDateTime(key.createdAt) : null,
    },
    owner: caller.kind === 'publishable' ? null : caller.owner,
    app: toApp(key?.app ?? null),
  };
}

const toApp = (app: AppDetails | null): Me['app'] =>
  app && {
    id: app.id,
    name: app.name,
    website_url: app.websiteUrl,
    logo_url: app.logoUrl,
    authorised_at: toDateTime(app.authorisedAt),
    scopes: [...app.scopes],
  };
