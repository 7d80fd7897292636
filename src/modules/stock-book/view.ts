import { titleOf } from '#modules/vehicles/index.ts';
import type { Reader } from '#platform/context.ts';
import { toDateTime } from '#platform/dates.ts';
import { toMoney } from '#platform/money.ts';
import type { StockBookEntry } from './contract.ts';
import type { EntryRow } from './queries.ts';
import { marginOf, vatDueOn } from './rules.ts';

/** The view of one reader, to be used for row after row. */
export function entryView({ currency }: Reader): (row: EntryRow) => StockBookEntry {
  return (row) => {
    const { sale, cost_purchase_price: purchasePrice } = row;
    const margin = sale?.vat_code === 'MARGIN' && purchasePrice !== null ? marginOf(sale.selling_price, purchasePrice) : null;
    return {
      id: row.id,
      stock_number: row.stock_number,
      registration: row.registration,
      vin: row.vin,
      description: titleOf(row),
      first_registered_on: row.first_registered_on,
      purchased_on: row.cost_purchased_on,
      purchase_invoice_number: row.cost_purchase_invoice_number,
      supplier_name: row.cost_supplier_name,
      purchase_price: toMoney(purchasePrice, currency),
      sold_on: row.sold_on,
      sales_invoice_number: sale?.number ?? null,
      buyer_name: sale?.buyer_name ?? null,
      selling_price: toMoney(sale?.selling_price ?? null, currency),
      disposal_method: sale ? sale.deal_type : wayOut(row),
      margin: toMoney(margin, currency),
      vat_due: toMoney(margin === null ? null : vatDueOn(margin), currency),
      updated_at: toDateTime(row.updated_at),
    };
  };
}

const wayOut = ({ status, deleted_at }: EntryRow): string | null =>
  status === 'DISPOSED' ? 'DISPOSED' : deleted_at === null ? null : 'WITHDRAWN';
