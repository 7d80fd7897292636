import { z } from 'zod';
import { among, nextCursor, oneOf, pageInput, reads, tool } from '#platform/mcp/tool.ts';
import { deal, dealStatuses } from './contract.ts';
import * as sales from './reads.ts';

const listDeals = tool({
  name: 'list_deals',
  title: 'List deals',
  description:
    'The sales deals of the dealership: vehicle, customer, price, extras, part exchanges, deposit, finance, totals. ' +
    'Amounts are in minor units of the currency that stands in them: {"amount": 1849500, "currency": "GBP"} is 18,495.00. totals.balance_due is what is still to be paid. ' +
    'Deals hold personal data: repeat no more of it than the user needs.',
  scope: 'sales:read',
  hints: reads,
  input: z.strictObject({
    status: oneOf(dealStatuses)
      .optional()
      .describe(
        'QUOTE: offered, holds no vehicle. RESERVED: deposit. ORDERED: order signed. SOLD: invoiced. DELIVERED: handed over. CANCELLED.',
      ),
    ...pageInput,
  }),
  output: z.object({ deals: z.array(deal), next_cursor: nextCursor }),
  refusals: {},
  async run(ctx, { limit, cursor, status }) {
    const { data, meta } = await sales.listDeals(ctx, { limit, cursor, status: among(status) });
    return { deals: data, next_cursor: meta.next_cursor };
  },
});

export const dealTools = [listDeals];
