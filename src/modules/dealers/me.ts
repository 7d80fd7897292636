import { stockUsed } from '#modules/vehicles/index.ts';
import type { Context } from '#platform/context.ts';
import { toDateTime } from '#platform/dates.ts';
import type { Me } from './contract.ts';
import { lastNumbers, namesOfBranches, ownDealer } from './queries.ts';
import { monthOf, nextMonth, planNames, stockCap, themeQuota, webhookEndpointLimit } from './rules.ts';
import { toMe } from './view.ts';

/** Whose key it is, what it may do and what is left of its limits. */
export async function readMe(ctx: Context): Promise<Me> {
  const series = seriesOf(ctx);
  const [row, branches, stock, counted] = await Promise.all([
    ownDealer(ctx),
    namesOfBranches(ctx),
    stockUsed(ctx),
    lastNumbers(ctx, Object.values(series)),
  ]);
  const subscriber = { plan: row.calling_plan, isSandbox: ctx.dealer.isSandbox };
  const { limits } = ctx.service;
  return toMe(ctx, row, {
    plan: { code: subscriber.plan, name: planNames[subscriber.plan], is_free: subscriber.plan === 'FREE' },
    branches,
    limits: {
      stock: { cap: stockCap(subscriber, limits), used: stock },
      theme_generations: {
        limit: themeQuota(subscriber, limits),
        used: counted.get(series.themeGenerations) ?? 0,
        resets_at: toDateTime(nextMonth(ctx.now)),
      },
      webhook_endpoints: { limit: webhookEndpointLimit(subscriber), used: counted.get(series.webhookEndpoints) ?? 0 },
      rate_limit_per_minute: ctx.caller.key?.rateLimit ?? 0,
    },
  });
}

/** Where the counts are kept; in the sandbox they belong to the calling dealership. */
function seriesOf({ dealer, caller, now }: Context) {
  const whose = dealer.isSandbox ? `:${caller.callingDealerId}` : '';
  return { themeGenerations: `theme_generations:${monthOf(now)}${whose}`, webhookEndpoints: `webhook_endpoints${whose}` };
}
