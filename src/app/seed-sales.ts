import type { Customer } from '#modules/customers/contract.ts';
import { customerListQuery } from '#modules/customers/contract.ts';
import { listCustomers } from '#modules/customers/index.ts';
import { createDeal, deliverDeal, updateDeal } from '#modules/deals/index.ts';
import { createEnquiry } from '#modules/enquiries/index.ts';
import { invoiceListQuery } from '#modules/invoices/contract.ts';
import {
  creditInvoice,
  listInvoices,
  raiseDepositInvoice,
  raisePartsInvoice,
  raiseSalesInvoice,
  recordPayment,
} from '#modules/invoices/index.ts';
import type { Vehicle } from '#modules/vehicles/contract.ts';
import { vehicleListQuery } from '#modules/vehicles/contract.ts';
import { listVehicles } from '#modules/vehicles/index.ts';
import type { Context } from '#platform/context.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { unlessMade } from './seed-once.ts';
import type { Outcome, Traded } from './seed-stock.ts';

const deposit = 50_000;

/** Makes a deal of each car that is traded, and leads it to where it ends; and sells some parts over the counter. */
export async function seedSales(ctx: Context, traded: readonly Traded[], staffId: string | undefined): Promise<void> {
  const { data } = await listCustomers(ctx, customerListQuery.parse({ limit: '100' }));
  const customers = data
    .filter((one): one is Customer => 'external_id' in one && (one.external_id ?? '').startsWith('seed-'))
    .sort((a, b) => a.reference.localeCompare(b.reference));
  for (const [n, { external_id, outcome }] of traded.entries()) {
    await inTransaction(ctx, async (tx) => {
      const { data: cars } = await listVehicles(tx, vehicleListQuery.parse({ external_id }));
      const car = cars.find((one): one is Vehicle => 'stock_number' in one);
      const near = customers.filter(({ branch_id }) => branch_id === car?.branch_id);
      const customer = near[n % Math.max(1, near.length)];
      if (car && customer) await trade(tx, { n, car, customer, outcome, staffId });
    });
  }
  const [first] = customers;
  if (first) await sellParts(ctx, first);
}

interface Trade {
  readonly n: number;
  readonly car: Vehicle;
  readonly customer: Customer;
  readonly outcome: Outcome;
  readonly staffId: string | undefined;
}

async function trade(tx: Context, { n, car, customer, outcome, staffId }: Trade): Promise<void> {
  const given = { branch_id: car.branch_id, customer_id: customer.id, vehicle_id: car.id };
  const enquiry = await unlessMade(tx, () =>
    createEnquiry(tx, {
      ...given,
      external_id: `seed-deal-${n + 1}`,
      source: 'WALK_IN',
      channel: 'IN_PERSON',
      message: 'Came to see the car.',
    }),
  );
  if (!enquiry) return;
  const { id } = await createDeal(tx, {
    ...given,
    external_id: `seed-${n + 1}`,
    enquiry_id: enquiry.id,
    ...(staffId && { salesperson_id: staffId }),
    vehicle_price: car.asking_price?.amount ?? 1_000_000,
    discount: n % 3 === 0 ? 25_000 : null,
    extras: [
      { kind: 'WARRANTY', description: '12 months', unit_price: 39_900 },
      ...(n % 2 === 0 ? [{ kind: 'DELIVERY', description: 'To the door', unit_price: 15_000 }] : []),
    ],
    ...(n % 4 === 1 && {
      part_exchanges: [
        { registration: `TR${String(n % 100).padStart(2, '0')}ADE`, make: 'Ford', model: 'Ka', mileage: 71_000, allowance: 180_000 },
      ],
    }),
    deposit: { required: deposit },
  });
  await lead(tx, id, outcome);
}

/** Leads a deal to where it ends, as the dealership would. */
async function lead(tx: Context, id: string, outcome: Outcome): Promise<void> {
  if (outcome === 'QUOTE') return;
  await updateDeal(tx, id, { status: 'RESERVED' });
  if (outcome === 'RESERVED') return payDeposit(tx, id);
  await updateDeal(tx, id, { status: 'ORDERED' });
  if (outcome === 'ORDERED') return payDeposit(tx, id);
  if (outcome === 'CANCELLED') {
    await updateDeal(tx, id, { status: 'CANCELLED', cancellation_reason: 'FINANCE_DECLINED' });
    return;
  }
  const invoice = await raiseSalesInvoice(tx, id);
  if (outcome === 'CREDITED') {
    await creditInvoice(tx, invoice.id, { reason: 'CONDITION' });
    return;
  }
  const { outstanding } = invoice.totals;
  const amount = outcome === 'SOLD' ? Math.floor(outstanding.amount / 2) : outstanding.amount;
  await recordPayment(tx, invoice.id, { method: 'BANK_TRANSFER', amount, reference: 'Seed' });
  if (outcome === 'DELIVERED') await deliverDeal(tx, id);
}

async function payDeposit(tx: Context, dealId: string): Promise<void> {
  const { id } = await raiseDepositInvoice(tx, dealId);
  await recordPayment(tx, id, { method: 'CARD', amount: deposit, reference: null });
}

/** A run that was killed half way has sold them, or not: there is one such invoice at most. */
async function sellParts(ctx: Context, { id, branch_id }: Customer): Promise<void> {
  await inTransaction(ctx, async (tx) => {
    const { data } = await listInvoices(tx, invoiceListQuery.parse({ type: 'PARTS', limit: '1' }));
    if (data.length > 0) return;
    await raisePartsInvoice(tx, {
      branch_id,
      customer_id: id,
      lines: [{ description: 'Wiper blades, pair', quantity: 1, unit_price: 2_250 }],
    });
  });
}
