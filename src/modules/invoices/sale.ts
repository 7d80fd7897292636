import { recordActivity } from '#modules/activity/index.ts';
import type { SoldDeal } from '#modules/deals/index.ts';
import { cancelByCredit, sellDeal } from '#modules/deals/index.ts';
import type { VatRate } from '#modules/parts/contract.ts';
import { titleOf } from '#modules/vehicles/index.ts';
import type { Context } from '#platform/context.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { Refusal } from '#platform/errors.ts';
import { checked } from '#platform/field-errors.ts';
import type { InvoiceDetails, NewDepositInvoice, NewSalesInvoice } from './contract.ts';
import { newDepositInvoice, newSalesInvoice } from './contract.ts';
import type { About, NewLine, NewPayment } from './issue.ts';
import { drafted, issued, save, withLines, withPayments } from './issue.ts';
import type { DetailedRow } from './queries.ts';
import { invoicesOfDeal } from './queries.ts';
import { getInvoice } from './reads.ts';
import * as rules from './rules.ts';
import type { CarRow, DealRow } from './source-queries.ts';
import { billToCustomer, carOf, visibleDeal } from './source-queries.ts';

// The invoices of a deal: of its deposit, and of the sale.

/** Invoices the sale of a deal's car, and so sells it. What was paid on account, given in part exchange or financed counts as paid. */
export const raiseSalesInvoice = (ctx: Context, dealId: string, input: NewSalesInvoice = {}): Promise<InvoiceDetails> =>
  inTransaction(
    ctx,
    async (tx) => {
      const { due_on } = checked(newSalesInvoice, input);
      const deal = await standing(tx, dealId);
      const earlier = await invoicesOfDeal(tx, dealId);
      rules.checkUnsold(earlier);
      rules.checkDeposits(earlier, deal.customer_id);
      const about = await aboutDeal(tx, deal, { type: 'VEHICLE_SALE', due_on });
      // The invoice is there before the deal is told sold, so that the event names it.
      const opened: DetailedRow = { ...(await issued(tx, drafted(tx, about))), status: 'ISSUED' };
      await save(tx, null, opened);
      const sold = await sellDeal(tx, dealId);
      const lines = linesOf(sold, await carOf(tx, about.vehicle_id));
      rules.checkLines(lines, true);
      const invoice = withPayments(tx, withLines(tx, opened, lines), [...deposits(earlier), ...exchanges(sold), ...advance(sold)]);
      await save(tx, opened, invoice);
      recordActivity(tx, 'created', 'invoice', invoice.id, []);
      return getInvoice(tx, invoice.id);
    },
    'stock_busy',
  );

/** Invoices a deposit on a deal: what the deal asks for, unless said. */
export const raiseDepositInvoice = (ctx: Context, dealId: string, input: NewDepositInvoice = {}): Promise<InvoiceDetails> =>
  inTransaction(ctx, async (tx) => {
    const { amount, due_on } = checked(newDepositInvoice, input);
    const deal = await standing(tx, dealId);
    rules.checkDepositOf(deal);
    const about = await aboutDeal(tx, deal, { type: 'DEPOSIT', statements: [rules.depositStatement], due_on });
    const price = amount ?? deal.deposit_required ?? 0;
    const line: NewLine = {
      kind: 'DEPOSIT',
      description: `Deposit – ${describe(await carOf(tx, about.vehicle_id))}`,
      quantity: 1,
      unit_price: price,
      discount: 0,
      vat_code: 'OUTSIDE_SCOPE',
      vehicle_id: about.vehicle_id,
    };
    rules.checkLines(price > 0 ? [line] : [], true);
    const invoice = await issued(tx, withLines(tx, drafted(tx, about), [line]));
    await save(tx, null, invoice);
    recordActivity(tx, 'created', 'invoice', invoice.id, []);
    return getInvoice(tx, invoice.id);
  });

/** What a deal learns of a credit note: a sale that is taken back cancels it. */
export async function tellDeal(tx: Context, { type, deal_id }: DetailedRow, reason: string | null): Promise<void> {
  if (type === 'VEHICLE_SALE' && deal_id !== null) await cancelByCredit(tx, deal_id, reason);
}

async function standing(tx: Context, dealId: string): Promise<DealRow> {
  const deal = await visibleDeal(tx, dealId);
  if (!deal) throw new Refusal('not_found');
  return deal;
}

/** An invoice of a deal needs somebody to pay it, and a car. Prices of cars include VAT. */
async function aboutDeal(tx: Context, deal: DealRow, about: Pick<About, 'type' | 'due_on' | 'statements'>) {
  const { id, branch_id, customer_id, vehicle_id } = deal;
  if (customer_id === null) throw new Refusal('request_refused', 'The deal has no customer.');
  if (vehicle_id === null) throw new Refusal('request_refused', 'The deal has no vehicle.');
  return {
    ...about,
    branch_id,
    customer_id,
    bill_to: await billToCustomer(tx, customer_id),
    deal_id: id,
    vehicle_id,
    prices_include_vat: true,
  };
}

function linesOf({ vehicle_id, vehicle_price, discount, vat_scheme, extras }: SoldDeal, car: CarRow): NewLine[] {
  const vehicle: NewLine = {
    kind: 'VEHICLE',
    description: describe(car),
    quantity: 1,
    unit_price: vehicle_price ?? 0,
    discount: discount ?? 0,
    vat_code: rules.vatOfCar(vat_scheme),
    vehicle_id,
  };
  return [
    vehicle,
    ...extras.map(({ kind, description, quantity, unit_price, vat_code }): NewLine => {
      return { kind, description: description ?? rules.spelled(kind), quantity, unit_price, discount: 0, vat_code: vat_code as VatRate };
    }),
  ];
}

/** With what the stock book knows the car by. */
const describe = (car: CarRow): string =>
  [titleOf(car), car.registration && `registration ${car.registration}`, car.vin && `VIN ${car.vin}`, `stock number ${car.stock_number}`]
    .filter((part) => part)
    .join(', ');

const deposits = (earlier: Awaited<ReturnType<typeof invoicesOfDeal>>): NewPayment[] =>
  earlier
    .filter(({ type, status }) => type === 'DEPOSIT' && status === 'PAID')
    .map(({ paid, number }) => ({ method: 'DEPOSIT', amount: paid, reference: number }));

/** Where more is owed on a car than is allowed for it, the difference is added to what is to be paid. */
const exchanges = ({ part_exchanges }: SoldDeal): NewPayment[] =>
  part_exchanges
    .filter(({ status }) => status !== 'WITHDRAWN')
    .map(({ registration, allowance, settlement }) => ({
      method: 'PART_EXCHANGE',
      amount: (allowance ?? 0) - (settlement ?? 0),
      reference: registration,
    }))
    .filter(({ amount }) => amount !== 0);

/** A finance company's money counts once it is there. */
const advance = ({ finance }: SoldDeal): NewPayment[] =>
  finance?.status === 'PAID_OUT' && finance.advance ? [{ method: 'FINANCE', amount: finance.advance, reference: finance.reference }] : [];
