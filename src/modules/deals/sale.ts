import { receiveOffered } from '#modules/enquiries/index.ts';
import type { NewVehicle } from '#modules/vehicles/index.ts';
import { takeInExchange } from '#modules/vehicles/index.ts';
import type { Context } from '#platform/context.ts';
import { acrossBranches } from '#platform/context.ts';
import type { Tombstone } from '#platform/contract.ts';
import { dateIn } from '#platform/dates.ts';
import { erase } from '#platform/db/records.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { Refusal } from '#platform/errors.ts';
import { checked } from '#platform/field-errors.ts';
import { said } from '#platform/merge-patch.ts';
import { toTombstone } from '#platform/records.ts';
import { settled } from './changes.ts';
import { carryOut, namedBy, standing } from './commands.ts';
import type { CarSeen, Deal } from './contract.ts';
import { carSeen } from './contract.ts';
import type { DealRow, KeptExchange } from './queries.ts';
import { getDeal } from './reads.ts';
import * as rules from './rules.ts';

// The steps of a deal that the dealership takes in the DMS.

/** What a sales invoice is made of; amounts in minor units, with VAT. */
export type SoldDeal = Pick<DealRow, 'id' | 'branch_id' | 'extras' | 'part_exchanges' | 'finance' | 'vat_scheme' | 'deposit_required'> & {
  readonly customer_id: string;
  readonly vehicle_id: string;
  readonly vehicle_price: number;
  readonly discount: number;
};

/** An ordered deal is sold: its invoice is being raised in this transaction. */
export const sellDeal = (ctx: Context, dealId: string): Promise<SoldDeal> =>
  inTransaction(
    ctx,
    async (tx) => {
      const deal = await standing(tx, dealId);
      const { customer_id, vehicle_id, vehicle_price } = rules.sellable(deal);
      const sold = await change(tx, deal, { status: 'SOLD' });
      const { id, branch_id, extras, finance, vat_scheme, deposit_required, discount } = sold;
      const part_exchanges = sold.part_exchanges.filter(({ status }) => status !== 'WITHDRAWN');
      const terms = { vehicle_price, discount: discount ?? 0, extras, part_exchanges, finance, vat_scheme, deposit_required };
      return { id, branch_id, customer_id, vehicle_id, ...terms };
    },
    'stock_busy',
  );

/** The car is handed over. */
export const deliverDeal = (ctx: Context, dealId: string): Promise<Deal> =>
  inTransaction(
    ctx,
    async (tx) => {
      const deal = await standing(tx, dealId);
      rules.checkDeliverable(deal);
      await change(tx, deal, { status: 'DELIVERED' });
      return getDeal(tx, dealId);
    },
    'stock_busy',
  );

/** The car given in part exchange has come: it is taken into stock, for what the deal allows for it. */
export const receivePartExchange = (ctx: Context, dealId: string, partExchangeId: string, seen: CarSeen = {}): Promise<Deal> =>
  inTransaction(
    ctx,
    async (tx) => {
      const deal = await standing(tx, dealId);
      const offered = deal.part_exchanges.find(({ id }) => id === partExchangeId);
      if (!offered) throw new Refusal('not_found', 'The deal has no such part exchange.');
      rules.checkReceivable(deal, offered);
      const exchange = { ...offered, ...said(checked(carSeen, seen)) };
      const vehicle = await takeInExchange(tx, carOf(deal, exchange, dateIn(tx.dealer.timeZone, tx.now)));
      const received: KeptExchange = { ...exchange, status: 'RECEIVED', stock_vehicle_id: vehicle.id };
      await change(tx, deal, { part_exchanges: deal.part_exchanges.map((one) => (one === offered ? received : one)) });
      const { lead } = await namedBy(tx, deal);
      if (lead) await receiveOffered(tx, lead.id, exchange.registration, vehicle.id);
      return getDeal(tx, dealId);
    },
    'stock_busy',
  );

/** The invoice of a sold deal is credited: the sale is off, and the car has come back. The reason is a code. */
export const cancelByCredit = (ctx: Context, dealId: string, reason: string | null = null): Promise<void> =>
  inTransaction(
    acrossBranches(ctx),
    async (tx) => {
      const deal = await standing(tx, dealId);
      rules.checkCreditable(deal);
      await change(tx, deal, { status: 'CANCELLED', cancellation_reason: reason });
    },
    'stock_busy',
  );

/** Takes a deal that holds no car out of the records; what is left is a tombstone, of which no event tells. */
export const deleteDeal = (ctx: Context, dealId: string): Promise<Tombstone> =>
  inTransaction(ctx, async (tx) => {
    const deal = await standing(tx, dealId);
    rules.checkDeletable(deal);
    return toTombstone(await change(tx, deal, { deleted_at: tx.now }));
  });

/** Empties the records for the sandbox's reset. */
export const eraseDeals = (ctx: Context): Promise<void> => erase(ctx, ['deal']);

async function change(tx: Context, before: DealRow, what: Partial<DealRow>): Promise<DealRow> {
  const named = await namedBy(tx, before);
  const made = settled(before, { ...before, ...what }, named, tx.now);
  await carryOut(tx, made, named);
  return made.after;
}

/** The price in the stock book is the allowance, whatever the dealership takes the car for itself. */
const carOf = (
  { branch_id, customer }: DealRow,
  { registration, make, model, mileage, allowance }: KeptExchange,
  today: string,
): NewVehicle => ({
  branch_id,
  condition: 'USED',
  status: 'IN_PREPARATION',
  registration,
  ...(make !== null && { make }),
  ...(model !== null && { model }),
  mileage,
  stocked_on: today,
  costs: {
    purchase_price: allowance,
    purchased_on: today,
    purchase_source: 'PART_EXCHANGE',
    supplier_name: customer?.display_name.slice(0, 120) ?? null,
  },
});
