import { recordActivity } from '#modules/activity/index.ts';
import { checkDealerCodes } from '#modules/reference/index.ts';
import type { Context } from '#platform/context.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { checked } from '#platform/field-errors.ts';
import { standing } from './commands.ts';
import type { InvoiceDetails, NewCredit } from './contract.ts';
import { newCredit } from './contract.ts';
import { takeParts } from './counter.ts';
import { drafted, issued, save, withReckoned, withSetOff } from './issue.ts';
import type { DetailedRow } from './queries.ts';
import { invoicesOfDeal } from './queries.ts';
import { getInvoice } from './reads.ts';
import * as rules from './rules.ts';
import { tellDeal } from './sale.ts';
import { tellJobCard } from './workshop.ts';

/**
 * Credits an invoice as a whole: the credit note takes back what was invoiced, and what nobody has paid yet needs not be given back.
 * A sale that is credited cancels its deal, with this reason; a job card that is credited is not invoiced any more.
 */
export async function creditInvoice(ctx: Context, id: string, input: NewCredit = {}): Promise<InvoiceDetails> {
  const { reason } = checked(newCredit, input);
  await checkDealerCodes(ctx, { reason: 'deal-cancellation-reasons' }, { reason });
  return inTransaction(
    ctx,
    async (tx) => {
      const invoice = await standing(tx, id);
      rules.checkCreditable(invoice, await invoicesOfDeal(tx, invoice.deal_id));
      const note = await noteOn(tx, invoice);
      const credited: DetailedRow = { ...invoice, status: 'CREDITED' };
      await save(tx, null, note);
      await takeParts(tx, note);
      await save(tx, invoice, credited);
      recordActivity(tx, 'created', 'invoice', note.id, []);
      recordActivity(tx, 'updated', 'invoice', invoice.id, ['status', 'totals']);
      await tellDeal(tx, credited, reason);
      await tellJobCard(tx, credited);
      return getInvoice(tx, note.id);
    },
    'stock_busy',
  );
}

async function noteOn(tx: Context, invoice: DetailedRow): Promise<DetailedRow> {
  const { branch_id, customer_id, bill_to, deal_id, job_card_id, vehicle_id, prices_include_vat, number, issued_on } = invoice;
  const draft = drafted(tx, {
    type: 'CREDIT_NOTE',
    branch_id,
    customer_id,
    bill_to,
    deal_id,
    job_card_id,
    vehicle_id,
    prices_include_vat,
    credit_note_of_id: invoice.id,
    statements: [`Credits invoice ${number} of ${issued_on} in full.`],
  });
  const note = withReckoned(tx, draft, invoice.lines.map(rules.reversed));
  return withSetOff(await issued(tx, note), rules.outstandingOf(invoice));
}
