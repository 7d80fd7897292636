import type { Customer } from '#modules/customers/contract.ts';
import { customerListQuery } from '#modules/customers/contract.ts';
import { listCustomers } from '#modules/customers/index.ts';
import { raiseWorkshopInvoice, recordPayment } from '#modules/invoices/index.ts';
import type { NewJobCard } from '#modules/job-cards/index.ts';
import { addJobLines, createJobCard, updateJobCard } from '#modules/job-cards/index.ts';
import { partListQuery } from '#modules/parts/contract.ts';
import { createPart, listParts, receiveParts } from '#modules/parts/index.ts';
import type { Vehicle } from '#modules/vehicles/contract.ts';
import { vehicleListQuery } from '#modules/vehicles/contract.ts';
import { listVehicles } from '#modules/vehicles/index.ts';
import type { Context } from '#platform/context.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { unlessMade } from './seed-once.ts';

/** The shelves of a small workshop. Prices without VAT. */
const shelves = [
  { part_number: 'OF-1042', description: 'Oil filter', unit_price: 1_150, unit_cost: 520, on_hand: 14 },
  { part_number: 'AF-2210', description: 'Air filter', unit_price: 1_890, unit_cost: 870, on_hand: 8 },
  { part_number: 'OIL-5W30', description: 'Engine oil 5W-30, litre', unit_price: 990, unit_cost: 410, on_hand: 60 },
  { part_number: 'BP-3307-F', description: 'Brake pads, front', unit_price: 4_650, unit_cost: 2_300, on_hand: 5 },
  { part_number: 'BD-3308-F', description: 'Brake disc, front', unit_price: 5_900, unit_cost: 3_150, on_hand: 6 },
  { part_number: 'WB-0610', description: 'Wiper blades, pair', unit_price: 2_250, unit_cost: 980, on_hand: 10 },
  { part_number: 'BAT-063', description: 'Battery 63 Ah', unit_price: 8_900, unit_cost: 5_600, on_hand: 6 },
  { part_number: 'TB-4410', description: 'Timing belt kit', unit_price: 14_500, unit_cost: 8_200, on_hand: 0 },
] as const;

/** As far as the seed's job cards have got: every status, and of those invoiced one that is paid. */
const steps = [
  'ESTIMATE',
  'BOOKED',
  'CHECKED_IN',
  'AWAITING_PARTS',
  'IN_PROGRESS',
  'AWAITING_AUTHORISATION',
  'COMPLETED',
  'INVOICED',
  'PAID',
  'CANCELLED',
] as const;

const jobs = [
  { concern: 'Annual service due.', hours: 1.5, work: 'Interim service', parts: ['OF-1042', 'OIL-5W30', 'AF-2210'] },
  { concern: 'Squeals when braking.', hours: 1.2, work: 'Replace front brake pads and discs', parts: ['BP-3307-F', 'BD-3308-F'] },
  { concern: 'Does not start on cold mornings.', hours: 0.5, work: 'Test and replace battery', parts: ['BAT-063'] },
];

/** The part of this one is not on the shelf. */
const awaitingParts = { concern: 'Timing belt due at this mileage.', hours: 4, work: 'Replace timing belt', parts: ['TB-4410'] };

/** Fills the shelves of every branch and opens `count` job cards, spread over the statuses: the same everywhere but for ids and times. */
export async function seedWorkshop(ctx: Context, branchIds: readonly string[], count: number): Promise<void> {
  await inTransaction(ctx, (tx) => fillShelves(tx, branchIds));
  const cars = await carsFor(ctx);
  for (let n = 0; n < count; n++) await inTransaction(ctx, (tx) => seedCard(tx, cars, n));
}

/** A run that was killed half way has filled all of them, or none. */
async function fillShelves(tx: Context, branchIds: readonly string[]): Promise<void> {
  if ((await listParts(tx, partListQuery.parse({ limit: '1' }))).data.length > 0) return;
  const lines: { part_id: string; quantity: number }[] = [];
  for (const { on_hand, ...part } of shelves) {
    const { id } = await createPart(tx, part);
    if (on_hand > 0) lines.push({ part_id: id, quantity: on_hand });
  }
  for (const branch_id of branchIds) await receiveParts(tx, { branch_id, note: 'First stock', lines });
}

interface Cars {
  /** Whose cars come in. */
  readonly customers: readonly Customer[];
  /** What is prepared for sale. */
  readonly vehicles: readonly Vehicle[];
}

/** In an order that is the same everywhere. */
async function carsFor(ctx: Context): Promise<Cars> {
  const { data: people } = await listCustomers(ctx, customerListQuery.parse({ limit: '100' }));
  const { data: stock } = await listVehicles(ctx, vehicleListQuery.parse({ status: 'IN_PREPARATION', limit: '100' }));
  const customers = people.filter((one): one is Customer => 'external_id' in one && (one.external_id ?? '').startsWith('seed-'));
  const vehicles = stock.filter((one): one is Vehicle => 'stock_number' in one);
  return {
    customers: customers.sort((a, b) => a.reference.localeCompare(b.reference)),
    vehicles: vehicles.sort((a, b) => Number(a.stock_number) - Number(b.stock_number)),
  };
}

async function seedCard(tx: Context, { customers, vehicles }: Cars, n: number): Promise<void> {
  const step = steps[n % steps.length]!;
  const job = step === 'AWAITING_PARTS' ? awaitingParts : jobs[n % jobs.length]!;
  const prepared = n % 5 === 4 ? vehicles[n % Math.max(1, vehicles.length)] : undefined;
  const whose = prepared ?? customers[n % Math.max(1, customers.length)];
  if (!whose) return;
  const card: NewJobCard = {
    external_id: `seed-${n + 1}`,
    branch_id: whose.branch_id,
    concern: job.concern,
    mileage_in: 24_000 + n * 3_150,
    ...(prepared
      ? { type: 'INTERNAL', vehicle_id: prepared.id }
      : {
          customer_id: whose.id,
          customer_vehicle: { registration: `WK${String(n % 100).padStart(2, '0')}SHP`, make: 'Ford', model: 'Focus' },
        }),
  };
  const opened = await unlessMade(tx, () => createJobCard(tx, card));
  if (!opened) return;
  const { id } = opened;
  const payer = prepared ? ('INTERNAL' as const) : ('CUSTOMER' as const);
  const common = { pay_type: payer, authorised: step !== 'ESTIMATE' && step !== 'AWAITING_AUTHORISATION' };
  await addJobLines(tx, id, [
    { kind: 'LABOUR', description: job.work, hours: job.hours, unit_price: 8_500, ...common },
    ...job.parts.map((part_number) => ({ kind: 'PART' as const, part_number, quantity: part_number === 'OIL-5W30' ? 4.5 : 1, ...common })),
    ...(n % 3 === 0 ? [{ kind: 'MOT' as const, description: 'MOT test', unit_price: 5_485, ...common }] : []),
  ]);
  await lead(tx, id, step, job.work);
}

/** Leads a job card to where it has got. */
async function lead(tx: Context, id: string, step: (typeof steps)[number], work: string): Promise<void> {
  if (step === 'ESTIMATE') return;
  if (step !== 'COMPLETED' && step !== 'INVOICED' && step !== 'PAID') {
    await updateJobCard(tx, id, { status: step });
    return;
  }
  await updateJobCard(tx, id, { status: 'COMPLETED', work_done: work });
  if (step === 'COMPLETED') return;
  const invoice = await raiseWorkshopInvoice(tx, id);
  if (step === 'PAID') await recordPayment(tx, invoice.id, { method: 'CARD', amount: invoice.totals.outstanding.amount, reference: null });
}
