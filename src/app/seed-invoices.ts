import { customerListQuery } from '#modules/customers/contract.ts';
import { listCustomers } from '#modules/customers/index.ts';
import { invoiceListQuery } from '#modules/invoices/contract.ts';
import type { NewPartsInvoice } from '#modules/invoices/index.ts';
import {
  creditInvoice,
  draftInvoice,
  listInvoices,
  raiseDepositInvoice,
  raisePartsInvoice,
  raiseSalesInvoice,
  raiseWorkshopInvoice,
  recordPayment,
} from '#modules/invoices/index.ts';
import type { Context } from '#platform/context.ts';
import { inTransaction } from '#platform/db/transaction.ts';

/** What the seed has sold besides what goes over the counter: ordered deals, and completed job cards. */
interface Sold {
  readonly dealIds?: readonly string[];
  readonly jobCardIds?: readonly string[];
}

/** Invoices what the seed has sold, paid in turn not, in part and in full: the same everywhere but for ids and times. */
export async function seedInvoices(ctx: Context, { dealIds = [], jobCardIds = [] }: Sold = {}): Promise<void> {
  await sellOverTheCounter(ctx);
  for (const [n, id] of dealIds.entries()) {
    await inTransaction(ctx, async (tx) => {
      await pay(tx, await raiseDepositInvoice(tx, id, { amount: 25_000 }), 1);
      await pay(tx, await raiseSalesInvoice(tx, id), n % 2);
    });
  }
  for (const [n, id] of jobCardIds.entries()) {
    await inTransaction(ctx, async (tx) => pay(tx, await raiseWorkshopInvoice(tx, id), n % 2));
  }
}

const parts = [
  { description: 'Wiper blades, pair', unit_price: 2_150 },
  { description: 'Engine oil 5W-30, litre', unit_price: 995 },
  { description: 'Child seat', unit_price: 11_900, vat_code: 'REDUCED' },
  { description: 'Number plate, front', unit_price: 1_450 },
  { description: 'Key fob battery', unit_price: 420 },
] as const;

/** What becomes of them, one after another. */
const outcomes: readonly ((tx: Context, invoice: NewPartsInvoice) => Promise<unknown>)[] = [
  async (tx, invoice) => pay(tx, await raisePartsInvoice(tx, invoice), 1),
  async (tx, invoice) => pay(tx, await raisePartsInvoice(tx, invoice), 0.5),
  raisePartsInvoice,
  async (tx, invoice) => creditInvoice(tx, (await raisePartsInvoice(tx, invoice)).id),
  draftInvoice,
];

/** Those a run that was killed half way has made are left out. */
async function sellOverTheCounter(ctx: Context): Promise<void> {
  const { data: made } = await listInvoices(ctx, invoiceListQuery.parse({ type: 'PARTS' }));
  const { data } = await listCustomers(ctx, customerListQuery.parse({ limit: '5' }));
  const customers = data.flatMap((one) => ('deleted' in one ? [] : [one]));
  for (const [n, become] of outcomes.entries()) {
    const customer = customers[n];
    if (n < made.length || !customer) continue;
    const invoice = { customer_id: customer.id, branch_id: customer.branch_id, lines: [{ ...parts[n % parts.length]!, quantity: 1 + n }] };
    await inTransaction(ctx, (tx) => become(tx, invoice));
  }
}

/** A share of what is outstanding. */
async function pay(tx: Context, { id, totals }: Awaited<ReturnType<typeof raisePartsInvoice>>, share: number): Promise<void> {
  const amount = Math.floor(totals.outstanding.amount * share);
  if (amount > 0) await recordPayment(tx, id, { method: 'CARD', amount });
}
