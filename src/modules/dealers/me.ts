import { stockUsed } from '#modules/vehicles/index.ts';
import { countEndpoints } from '#modules/webhooks/index.ts';
import type { Context } from '#platform/context.ts';
import { toDateTime } from '#platform/dates.ts';
import type { Me } from './contract.ts';
import { lastNumber, namesOfBranches, ownDealer } from './queries.ts';
import { monthOf, nextMonth, planNames, stockCap, themeQuota, webhookEndpointLimit } from './rules.ts';
import { toMe } from './view.ts';

/** Whose key it is, what it may do and what is left of its limits. */
export async function readMe(ctx: Context): Promise<Me> {
  const series = themeSeriesOf(ctx);
  const [row, branches, stock, endpoints, themes] = await Promise.all([
    ownDealer(ctx),
    namesOfBranches(ctx),
    stockUsed(ctx),
    countEndpoints(ctx),
    lastNumber(ctx, series),
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
        used: themes,
        resets_at: toDateTime(nextMonth(ctx.now)),
      },
      webhook_endpoints: { limit: webhookEndpointLimit(subscriber), used: endpoints },
      rate_limit_per_minute: ctx.caller.key?.rateLimit ?? 0,
    },
  });
}

/** Where the month's theme generations are counted; in the sandbox they are the calling dealership's. */
const themeSeriesOf = ({ dealer, caller, now }: Context): string =>
  `theme_generations:${monthOf(now)}${dealer.isSandbox ? `:${caller.callingDealerId}` : ''}`;
