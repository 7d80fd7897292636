import type { Reader } from '#platform/context.ts';
import { toDateTime } from '#platform/dates.ts';
import type { Money } from '#platform/money.ts';
import { toMoney } from '#platform/money.ts';
import type { Deal, Extra, PartExchange, Totals } from './contract.ts';
import type { DealRow, KeptExchange, KeptExtra, KeptFinance } from './queries.ts';
import { kept, netOf, totalOf, totalsOf } from './rules.ts';

/** The view of one reader, to be used for row after row. */
export function dealView({ currency, scopes }: Reader): (row: DealRow) => Deal {
  const sees = (scope: Reader['scopes'][number]) => scopes.includes(scope);
  const [seesBranches, seesEnquiries, seesCustomers] = [sees('branches:read'), sees('enquiries:read'), sees('customers:read')];
  const [seesVehicles, seesCosts] = [sees('vehicles:read'), sees('vehicles:costs')];
  return (row) => ({
    id: row.id,
    reference: row.reference,
    external_id: row.external_id,
    branch_id: row.branch_id,
    branch: seesBranches && row.branch_name !== null ? { id: row.branch_id, name: row.branch_name } : null,
    status: row.status,
    status_changed_at: toDateTime(row.status_changed_at),
    type: row.type,
    enquiry_id: row.enquiry_id,
    enquiry: seesEnquiries ? row.enquiry : null,
    customer_id: row.customer_id,
    customer: seesCustomers ? row.customer : null,
    vehicle_id: row.vehicle_id,
    vehicle: seesVehicles ? row.vehicle : null,
    salesperson_id: row.salesperson_id,
    salesperson: row.salesperson,
    vehicle_price: toMoney(row.vehicle_price, currency),
    discount: toMoney(row.discount, currency),
    extras: row.extras.map((extra) => toExtra(extra, currency)),
    part_exchanges: row.part_exchanges.map((exchange) => toPartExchange(exchange, currency, seesCosts)),
    deposit: {
      required: toMoney(row.deposit_required, currency),
      paid: { amount: kept(row, row.invoiced).deposit, currency },
      paid_at: toDateTime(row.invoiced.deposit_at),
    },
    finance: row.finance && toFinance(row.finance, currency),
    totals: toTotals(row, currency),
    vat_scheme: row.vat_scheme,
    handover: {
      method: row.handover_method,
      scheduled_at: toDateTime(row.handover_scheduled_at),
      completed_at: toDateTime(row.handover_completed_at),
      address: row.handover_address,
    },
    ordered_at: toDateTime(row.ordered_at),
    sold_at: toDateTime(row.sold_at),
    delivered_at: toDateTime(row.delivered_at),
    cancelled_at: toDateTime(row.cancelled_at),
    cancellation_reason: row.cancellation_reason,
    cancellation_note: row.cancellation_note,
    invoice_ids: row.invoiced.ids,
    metadata: row.metadata,
    created_at: toDateTime(row.created_at),
    updated_at: toDateTime(row.updated_at),
  });
}

const toExtra = (extra: KeptExtra, currency: string): Extra => ({
  ...extra,
  unit_price: { amount: extra.unit_price, currency },
  total: { amount: totalOf(extra), currency },
});

const toPartExchange = (exchange: KeptExchange, currency: string, seesCosts: boolean): PartExchange => ({
  ...exchange,
  allowance: toMoney(exchange.allowance, currency),
  settlement: toMoney(exchange.settlement, currency),
  net: toMoney(netOf(exchange), currency),
  stand_in_value: seesCosts ? toMoney(exchange.stand_in_value, currency) : null,
});

const toFinance = (finance: KeptFinance, currency: string): Deal['finance'] => ({
  ...finance,
  advance: toMoney(finance.advance, currency),
  monthly_payment: toMoney(finance.monthly_payment, currency),
  deposit: toMoney(finance.deposit, currency),
  balloon: toMoney(finance.balloon, currency),
});

/** Once ordered by the scheme that was agreed, before by that of the car as it is. */
function toTotals(row: DealRow, currency: string): Totals {
  const amounts = totalsOf(row, row.ordered_at === null ? row.car_vat_scheme : row.vat_scheme, kept(row, row.invoiced));
  return Object.fromEntries(Object.entries(amounts).map(([name, amount]): [string, Money] => [name, { amount, currency }])) as Totals;
}
