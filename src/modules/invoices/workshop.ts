import { recordActivity } from '#modules/activity/index.ts';
import { invoiceChanged, markInvoiced } from '#modules/job-cards/index.ts';
import type { Context } from '#platform/context.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { Refusal } from '#platform/errors.ts';
import { checked } from '#platform/field-errors.ts';
import type { InvoiceDetails, NewWorkshopInvoice } from './contract.ts';
import { newWorkshopInvoice } from './contract.ts';
import type { NewLine } from './issue.ts';
import { drafted, issued, save, withLines } from './issue.ts';
import type { DetailedRow } from './queries.ts';
import { getInvoice } from './reads.ts';
import * as rules from './rules.ts';
import type { JobLineRow } from './source-queries.ts';
import { billToCustomer, linesOfJobCard, visibleJobCard } from './source-queries.ts';

// The invoices of the workshop.

/** Invoices a job card. Whom, where it is not the customer: the warrantor, the insurer. */
export const raiseWorkshopInvoice = (ctx: Context, jobCardId: string, input: NewWorkshopInvoice = {}): Promise<InvoiceDetails> =>
  inTransaction(
    ctx,
    async (tx) => {
      const { bill_to, due_on } = checked(newWorkshopInvoice, input);
      const card = await visibleJobCard(tx, jobCardId);
      if (!card) throw new Refusal('not_found');
      if (card.invoice_number) throw new Refusal('request_refused', `The job card is invoiced: ${card.invoice_number}.`);
      const { branch_id, customer_id, vehicle_id } = card;
      if (customer_id === null && !bill_to) throw new Refusal('request_refused', 'The job card has no customer.');
      const lines = rules.billed(card.type, await linesOfJobCard(tx, jobCardId)).map(toLine);
      rules.checkLines(lines, false);
      const draft = drafted(tx, {
        type: 'WORKSHOP',
        branch_id,
        customer_id,
        bill_to: bill_to ?? (await billToCustomer(tx, customer_id)),
        job_card_id: jobCardId,
        vehicle_id,
        prices_include_vat: false,
        statements: [`For job card ${card.number}${card.registration === null ? '' : `, registration ${card.registration}`}.`],
        due_on,
      });
      const invoice = await issued(tx, withLines(tx, draft, lines));
      await save(tx, null, invoice);
      recordActivity(tx, 'created', 'invoice', invoice.id, []);
      await markInvoiced(tx, jobCardId);
      return getInvoice(tx, invoice.id);
    },
    'stock_busy',
  );

/** What a job card learns of its invoice: that it was paid, in part or in full, or credited. */
export async function tellJobCard(tx: Context, { type, job_card_id }: DetailedRow): Promise<void> {
  if (type === 'WORKSHOP' && job_card_id !== null) await invoiceChanged(tx, job_card_id);
}

const toLine = ({ id, kind, description, part_number, quantity, unit_price, discount, vat_code }: JobLineRow): NewLine => ({
  kind,
  description: rules.partNamed(description, part_number),
  quantity,
  unit_price,
  discount,
  vat_code,
  job_line_id: id,
});
