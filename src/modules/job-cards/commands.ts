import { branchFor, branchName, checkBranchMove, houseOf } from '#modules/house/index.ts';
import type { Found } from '#modules/links/index.ts';
import { checkLinks, findLinks, linksIn, newLinks, summaryNow } from '#modules/links/index.ts';
import { checkDealerCodes } from '#modules/reference/index.ts';
import type { Context } from '#platform/context.ts';
import { readerOf } from '#platform/context.ts';
import type { Tombstone } from '#platform/contract.ts';
import { erase, holderOf } from '#platform/db/records.ts';
import { inTransaction, takeNumbers } from '#platform/db/transaction.ts';
import { invalid, Refusal } from '#platform/errors.ts';
import { checkExternalId, toTombstone } from '#platform/records.ts';
import { uuidv7 } from '#platform/secrets.ts';
import { opened, settled, written } from './changes.ts';
import type { CustomerVehicle, JobCard, JobCardChanges, NewJobCard } from './contract.ts';
import type { JobCardRow } from './queries.ts';
import { blankJobCard, ownedCar, visibleJobCard } from './queries.ts';
import * as rules from './rules.ts';
import { jobCardView } from './view.ts';
import { change, save, standing, withParts } from './write.ts';

// A turn that is not had in time is answered `stock_busy` by everything that may move parts.

/** Opens a job card. It has no lines yet. */
export async function createJobCard(ctx: Context, body: NewJobCard): Promise<JobCard> {
  await checkDealerCodes(ctx, openLists, body);
  return inTransaction(
    ctx,
    async (tx) => {
      const [house, found, holder, owned] = await Promise.all([
        houseOf(tx),
        findLinks(tx, linksIn(body, kinds)),
        holderOf(tx, 'job_card', body.external_id),
        carNamed(tx, body),
      ]);
      const branch = branchFor(body.branch_id, house, tx.caller.branches);
      const own = { dealer_id: tx.dealer.id, id: uuidv7(tx.now), branch_id: branch.id, branch_name: branch.name, created_at: tx.now };
      const blank = { ...blankJobCard, ...own };
      const after = opened(blank, body, owned);
      checkExternalId(after, holder);
      checkFields(tx, blank, after, found, body);
      if (body.customer_vehicle?.id && !owned) throw invalid('customer_vehicle.id', 'The customer has no such car.');
      const made = settled(null, withSummaries(blank, after, found), tx.now);
      made.after.number = await takeNumbers(tx, 'job_card', 1);
      await save(tx, made);
      return jobCardView(readerOf(tx))(made.after);
    },
    'stock_busy',
  );
}

/** The one way a job card's own fields change, from the API and from the DMS alike. */
export async function updateJobCard(ctx: Context, id: string, body: JobCardChanges): Promise<JobCard> {
  await checkDealerCodes(ctx, openLists, body);
  return inTransaction(
    ctx,
    async (tx) => {
      const [house, before, found, holder] = await Promise.all([
        houseOf(tx),
        visibleJobCard(tx, id),
        findLinks(tx, linksIn(body, kinds)),
        holderOf(tx, 'job_card', body.external_id),
      ]);
      if (!before) throw new Refusal('not_found');
      checkBranchMove(before.branch_id, body.branch_id, house, tx.caller.branches);
      const after = { ...written(before, body), branch_name: branchName(house, body.branch_id ?? before.branch_id, before) };
      checkExternalId(after, holder);
      rules.checkInvoice(before, after);
      checkFields(tx, before, after, found, body);
      return change(tx, before, withSummaries(before, after, found));
    },
    'stock_busy',
  );
}

/** The invoice of a card was raised: it is INVOICED, and its parts are issued. To be called once the invoice is written. */
export const markInvoiced = (ctx: Context, id: string): Promise<JobCard> =>
  inTransaction(
    ctx,
    async (tx) => {
      const card = await standing(tx, id);
      rules.checkInvoiceable(card);
      return change(tx, card, { ...card, status: 'INVOICED' }, [
        'invoice_id',
        'invoice_status',
        ...(card.invoice?.settled ? ['is_paid'] : []),
      ]);
    },
    'stock_busy',
  );

/** The invoice of a card was paid or credited, and with it what the card tells of it. To be called once that is written. */
export const invoiceChanged = (ctx: Context, id: string): Promise<JobCard> =>
  inTransaction(ctx, async (tx) => {
    const card = await standing(tx, id);
    return change(tx, card, card, card.invoice?.settled ? ['invoice_status', 'is_paid'] : ['invoice_status']);
  });

/** The customer has fetched the car. */
export const collectVehicle = (ctx: Context, id: string): Promise<JobCard> =>
  inTransaction(ctx, async (tx) => {
    const card = await standing(tx, id);
    rules.checkCollectable(card);
    return change(tx, card, { ...card, collected_at: card.collected_at ?? tx.now });
  });

/** Takes a card that was never billed out of the records, and what is put by for it back; what is left is a tombstone. Not by the API. */
export const deleteJobCard = (ctx: Context, id: string): Promise<Tombstone> =>
  inTransaction(
    ctx,
    async (tx) => {
      const card = await standing(tx, id);
      rules.checkDeletable(card);
      const lines = await withParts(tx, card, { ...card, status: 'CANCELLED' });
      const deleted = settled(card, { ...card, lines, deleted_at: tx.now }, tx.now);
      await save(tx, deleted);
      return toTombstone(deleted.after);
    },
    'stock_busy',
  );

/** Empties the records for the sandbox's reset. */
export const eraseJobCards = (ctx: Context): Promise<void> => erase(ctx, ['job_card_line', 'job_card']);

/** What a job card names. */
const kinds = {
  customer_id: 'customer',
  vehicle_id: 'vehicle',
  appointment_id: 'appointment',
  deal_id: 'deal',
  advisor_id: 'staff',
  technician_ids: 'staff',
} as const;

const openLists = { type: 'job-card-types', transport_option: 'transport-options' } as const;

/** Asks the rules about single fields: of what is named, only what is named anew. */
function checkFields(tx: Context, before: JobCardRow, after: JobCardRow, found: Found, body: NewJobCard | JobCardChanges): void {
  checkLinks(newLinks(linksIn(body, kinds), { ...before }), found, after.branch_id, tx.caller.branches);
  rules.checkCard(after, body);
}

const carNamed = async (
  tx: Context,
  { customer_id: customerId, customer_vehicle: car }: NewJobCard,
): Promise<CustomerVehicle | undefined> => (customerId && car?.id ? ownedCar(tx, customerId, car.id) : undefined);

/** The card with the summaries of what it names now. */
const withSummaries = (before: JobCardRow, after: JobCardRow, found: Found): JobCardRow => ({
  ...after,
  customer: summaryNow('customer', after.customer_id, { id: before.customer_id, shown: before.customer }, found),
  vehicle: summaryNow('vehicle', after.vehicle_id, { id: before.vehicle_id, shown: before.vehicle }, found),
  appointment: summaryNow('appointment', after.appointment_id, { id: before.appointment_id, shown: before.appointment }, found),
  deal: summaryNow('deal', after.deal_id, { id: before.deal_id, shown: before.deal }, found),
  advisor: summaryNow('staff', after.advisor_id, { id: before.advisor_id, shown: before.advisor }, found),
});
