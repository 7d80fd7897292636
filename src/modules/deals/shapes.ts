import { z } from 'zod';
import { person } from '#modules/customers/contract.ts';
import { address } from '#modules/dealers/contract.ts';
import { conditionRatings, financeTypes, reasonsToLeave } from '#modules/enquiries/contract.ts';
import { shownBranch } from '#modules/house/contract.ts';
import { shownCustomer, shownEnquiry, shownStaff, shownVehicle } from '#modules/links/contract.ts';
import { tradeVatRates } from '#modules/parts/contract.ts';
import { registration, vatSchemes } from '#modules/vehicles/contract.ts';
import {
  codeOf,
  dateTime,
  externalIdField,
  id,
  metadataChanges,
  minorUnits,
  moment,
  money,
  openCodeOf,
  shownOpenCode,
  text,
  whole,
} from '#platform/contract.ts';
import { dealExtraKinds, dealStatuses, dealTypes, exchangeStatuses, financeStatuses, handoverMethods } from './codes.ts';

const line = (max: number) => text(max).nullable();
const amount = minorUnits.nullable();

export const dealType = openCodeOf('deal-types', dealTypes);
const extraKind = openCodeOf('deal-extra-kinds', dealExtraKinds);
const cancellationReason = openCodeOf('deal-cancellation-reasons', reasonsToLeave);

// ---- What is written as it is read ----

const traded = {
  make: line(60),
  model: line(60),
  mileage: whole(0, 9_999_999).nullable(),
  condition: codeOf('condition-ratings', conditionRatings).nullable(),
};

const plan = {
  type: codeOf('finance-types', financeTypes).nullable(),
  provider: line(120),
  reference: line(120),
  term_months: whole(1, 999).nullable(),
  apr_bps: whole(0, 99_999).nullable().describe('In basis points: 990 is 9.9 %.'),
  annual_mileage: whole(0, 999_999).nullable(),
  status: codeOf('finance-statuses', financeStatuses).nullable(),
};

const method = z.enum(handoverMethods, { error: 'Either COLLECTION or DELIVERY.' }).nullable();

// ---- Requests, each in the form of a merge patch: absent leaves it, null clears it, an object is merged, an array replaced ----

const someOf = <S extends z.ZodRawShape>(shape: S) => z.strictObject(shape).partial().nullable();

const itemId = id.optional().describe('Of one the deal has already: what is not said of it stays. Absent for a new one.');

const extraChanges = z
  .strictObject({
    id: itemId,
    kind: extraKind.optional(),
    description: line(200).optional(),
    quantity: whole(1, 999).optional().describe('1 unless it is given.'),
    unit_price: minorUnits.optional().describe('With VAT.'),
    vat_code: codeOf('vat-rates', tradeVatRates).optional().describe('STANDARD unless it is given.'),
  })
  .superRefine((extra, ctx) => {
    if (extra.id !== undefined) return;
    for (const field of ['kind', 'unit_price'] as const)
      if (extra[field] === undefined) ctx.addIssue({ code: 'custom', path: [field], message: 'Required for a new extra.' });
  });
export type ExtraChanges = z.output<typeof extraChanges>;

/** A status the API never sets is an error of shape, like a status that does not exist. */
const exchangeSettable = z.enum(exchangeStatuses, { error: 'One of OFFERED, AGREED, WITHDRAWN.' }).exclude(['RECEIVED'], {
  error: ({ input }) => (input === 'RECEIVED' ? 'RECEIVED is set in the DMS when the car has come.' : 'One of OFFERED, AGREED, WITHDRAWN.'),
});

const exchangeChanges = z
  .strictObject({
    id: itemId,
    registration: registration.nullable(),
    ...traded,
    allowance: amount.describe('What the dealership gives for it.'),
    settlement: amount.describe('Finance that is to be cleared.'),
    stand_in_value: amount.describe('Needs the scope `vehicles:costs`.'),
    status: exchangeSettable.describe('OFFERED unless it is given.'),
  })
  .partial()
  .superRefine((exchange, ctx) => {
    if (exchange.id !== undefined || exchange.registration || exchange.make) return;
    ctx.addIssue({ code: 'custom', path: ['registration'], message: 'Required for a new part exchange, unless a make is given.' });
  });
export type ExchangeChanges = z.output<typeof exchangeChanges>;

const listOf = <T extends z.ZodType>(item: T, max: number) =>
  z
    .array(item)
    .max(max, { error: `At most ${max}.` })
    .nullable();

const notAStatus = 'Not a code of the reference list "deal-statuses".';
const settable = z.enum(dealStatuses, { error: notAStatus }).exclude(['SOLD', 'DELIVERED'], {
  error: ({ input }) =>
    input === 'SOLD' || input === 'DELIVERED'
      ? `${input} is set in the DMS when the ${input === 'SOLD' ? 'sales invoice is raised' : 'vehicle is handed over'}.`
      : notAStatus,
});

/** What may be written. */
const writable = {
  external_id: externalIdField,
  branch_id: id,
  type: dealType,
  enquiry_id: id.nullable(),
  customer_id: id.nullable().describe('The enquiry’s customer unless it is given.'),
  vehicle_id: id.nullable(),
  salesperson_id: id.nullable().describe('A member of staff.'),
  vehicle_price: amount.describe('Minor units, with VAT.'),
  discount: amount.describe('Off the price of the vehicle.'),
  extras: listOf(extraChanges, 50),
  part_exchanges: listOf(exchangeChanges, 10),
  deposit: someOf({ required: amount }),
  finance: someOf({ ...plan, advance: amount, monthly_payment: amount, deposit: amount, balloon: amount }).describe(
    'Amounts in minor units.',
  ),
  handover: someOf({ method, scheduled_at: moment.nullable(), completed_at: moment.nullable(), address: person.address }),
  metadata: metadataChanges,
};

/** The body of a change: any of the writable fields. */
export const dealChanges = z
  .strictObject({
    ...writable,
    status: settable,
    cancellation_reason: cancellationReason.nullable().describe('Required with CANCELLED.'),
    cancellation_note: line(2000),
  })
  .partial();
export type DealChanges = z.output<typeof dealChanges>;

const first = z.enum(['QUOTE', 'RESERVED', 'ORDERED'], { error: 'A new deal is QUOTE, RESERVED or ORDERED.' });

/** The body of a creation. */
export const newDeal = z.strictObject({ ...writable, status: first.describe('QUOTE unless it is given.') }).partial();
export type NewDeal = z.output<typeof newDeal>;

/** What is seen of a car when it has come in part exchange, where the deal did not say it. */
export const carSeen = z.strictObject({ make: line(60), model: line(60), mileage: traded.mileage }).partial();
export type CarSeen = z.input<typeof carSeen>;

// ---- Responses ----

const uuid = z.string().meta({ format: 'uuid' });
const known = z.string().nullable();
const price = money.nullable();
const at = dateTime.nullable();

const extra = z
  .object({
    id: uuid,
    kind: shownOpenCode('deal-extra-kinds', dealExtraKinds),
    description: known,
    quantity: z.int(),
    unit_price: money.describe('With VAT.'),
    vat_code: z.enum(tradeVatRates),
    total: money,
  })
  .meta({ id: 'DealExtra', description: 'What is sold with the vehicle.' });
export type Extra = z.output<typeof extra>;

const partExchange = z
  .object({
    id: uuid,
    registration: known,
    ...traded,
    allowance: price.describe('What the dealership gives for it.'),
    settlement: price.describe('Finance that is to be cleared.'),
    net: price.describe('The allowance less the settlement: below zero where more is owed than it is worth.'),
    stand_in_value: price.describe('Null without the scope `vehicles:costs`.'),
    stock_vehicle_id: uuid.nullable().describe('The vehicle it became in stock.'),
    status: z.enum(exchangeStatuses),
  })
  .meta({ id: 'DealPartExchange', description: 'A car the customer gives in part exchange.' });
export type PartExchange = z.output<typeof partExchange>;

const finance = z.object({ ...plan, advance: price, monthly_payment: price, deposit: price, balloon: price }).meta({ id: 'DealFinance' });
export type Finance = z.output<typeof finance>;

const totals = z
  .object({
    vehicle: money,
    extras: money,
    discount: money,
    part_exchange_net: money.describe('Of those that are not withdrawn; may be below zero.'),
    vat: money.describe('Within the total. None of a vehicle under the margin scheme or without VAT.'),
    total: money.describe('Vehicle and extras less the discount, with VAT.'),
    paid: money.describe(
      'What was paid on the invoices of the deal and not given back, but for finance and part exchange, which count as agreed. Below zero where a part exchange worth more was paid out.',
    ),
    finance_advance: money.describe('Unless the finance was declined or has expired.'),
    balance_due: money.describe('The total less part exchange, finance and what is paid.'),
  })
  .meta({
    id: 'DealTotals',
    description:
      'Computed when read. A payment moves `updated_at`; a change of the vehicle’s VAT scheme, which the `vat` of a quote follows, does not.',
  });
export type Totals = z.output<typeof totals>;

/** A deal as the API returns it. */
export const deal = z
  .object({
    id: uuid,
    reference: z.string().describe('`DEAL-` and a number: sequential per dealership, never used again.'),
    external_id: known,
    branch_id: uuid,
    branch: shownBranch,
    status: z.enum(dealStatuses),
    status_changed_at: dateTime,
    type: shownOpenCode('deal-types', dealTypes),
    enquiry_id: uuid.nullable(),
    enquiry: shownEnquiry,
    customer_id: uuid.nullable(),
    customer: shownCustomer,
    vehicle_id: uuid.nullable(),
    vehicle: shownVehicle,
    salesperson_id: uuid.nullable(),
    salesperson: shownStaff,
    vehicle_price: price.describe('With VAT.'),
    discount: price,
    extras: z.array(extra),
    part_exchanges: z.array(partExchange),
    deposit: z
      .object({ required: price, paid: money, paid_at: at.describe('When the last of it was paid.') })
      .meta({ id: 'DealDeposit', description: 'What reserves the vehicle.' }),
    finance: finance.nullable(),
    totals,
    vat_scheme: z
      .enum(vatSchemes)
      .nullable()
      .describe('The vehicle’s when the deal was ordered, or if it had none then, when it was sold.'),
    handover: z.object({ method, scheduled_at: at, completed_at: at, address: address.nullable() }).meta({ id: 'Handover' }),
    ordered_at: at,
    sold_at: at,
    delivered_at: at,
    cancelled_at: at,
    cancellation_reason: shownOpenCode('deal-cancellation-reasons', reasonsToLeave).nullable(),
    cancellation_note: known,
    invoice_ids: z.array(uuid).describe('Oldest first.'),
    metadata: z.record(z.string(), z.string()),
    created_at: dateTime,
    updated_at: dateTime,
  })
  .meta({ id: 'Deal' });
export type Deal = z.output<typeof deal>;
