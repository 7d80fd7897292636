import type { Asking } from '#modules/customers/index.ts';
import { customerAsking, stampCustomers } from '#modules/customers/index.ts';
import type { Chronicle } from '#modules/events/index.ts';
import { tell } from '#modules/events/index.ts';
import { branchFor, branchName, checkBranchMove, houseOf } from '#modules/house/index.ts';
import type { Found } from '#modules/links/index.ts';
import { checkLinks, findLinks, linksIn, newLinks, summaryNow } from '#modules/links/index.ts';
import { checkDealerCodes } from '#modules/reference/index.ts';
import type { Context } from '#platform/context.ts';
import { acrossBranches, familyReader, readerOf } from '#platform/context.ts';
import type { Tombstone } from '#platform/contract.ts';
import { erase, holderOf } from '#platform/db/records.ts';
import { inTransaction, takeNumbers } from '#platform/db/transaction.ts';
import { Refusal } from '#platform/errors.ts';
import { checked } from '#platform/field-errors.ts';
import { dialable } from '#platform/phone.ts';
import type { Change } from '#platform/records.ts';
import { checkExternalId, showing, toTombstone } from '#platform/records.ts';
import { uuidv7 } from '#platform/secrets.ts';
import { settled, written } from './changes.ts';
import type { EnquiryChanges, EnquiryStatus, EnquiryWithNotes, NewEnquiry, NewNote, Note } from './contract.ts';
import { appraisal, enquiryCreated, enquiryDeleted, enquiryUpdated } from './contract.ts';
import type { DetailedRow } from './queries.ts';
import { blankEnquiry, insertNote, saveEnquiries, savePartExchange, visibleEnquiry } from './queries.ts';
import * as rules from './rules.ts';
import { detailsView, toNote } from './view.ts';

/** Takes down an enquiry. A contact is taken for the customer it means, or for a new one. */
export async function createEnquiry(ctx: Context, enquiry: NewEnquiry): Promise<EnquiryWithNotes> {
  const body = withNumbers(ctx, enquiry);
  await checkDealerCodes(ctx, openLists, body);
  return inTransaction(ctx, async (tx) => {
    const [house, found, holder] = await Promise.all([
      houseOf(tx),
      findLinks(tx, linksIn(body, kinds)),
      holderOf(tx, 'enquiry', body.external_id),
    ]);
    const branch = branchFor(body.branch_id, house, tx.caller.branches);
    const blank = { ...blankEnquiry, dealer_id: tx.dealer.id, id: uuidv7(tx.now), branch_id: branch.id, created_at: tx.now };
    const after = { ...written(blank, body, tx.now), branch_name: branch.name };
    checkExternalId(after, holder);
    checkFields(tx, blank, after, found, body);

    const asking = await askingOf(tx, after, found, branch);
    after.customer_id = asking.customer.id;
    const made = settled(null, { ...withSummaries(blank, after, found), customer: asking.customer }, tx.now);
    made.after.reference = `ENQ-${String(await takeNumbers(tx, 'enquiry', 1)).padStart(6, '0')}`;
    await save(tx, made);
    asking.tell();
    return detailsView(readerOf(tx))(made.after);
  });
}

/** The one way an enquiry changes, from every door but the deal's. */
export async function updateEnquiry(ctx: Context, id: string, changes: EnquiryChanges): Promise<EnquiryWithNotes> {
  const body = withNumbers(ctx, changes);
  await checkDealerCodes(ctx, openLists, body);
  return inTransaction(ctx, async (tx) => {
    const [house, before, found, holder] = await Promise.all([
      houseOf(tx),
      visibleEnquiry(tx, id),
      findLinks(tx, linksIn(body, kinds)),
      holderOf(tx, 'enquiry', body.external_id),
    ]);
    if (!before) throw new Refusal('not_found');
    checkBranchMove(before.branch_id, body.branch_id, house, tx.caller.branches);
    const after = { ...written(before, body, tx.now), branch_name: branchName(house, body.branch_id ?? before.branch_id, before) };
    checkExternalId(after, holder);
    rules.checkInvoiced(before, after);
    rules.checkPartExchange(before, after);
    rules.checkMove(before.status, after.status);
    checkFields(tx, before, after, found, body);
    return change(tx, before, withSummaries(before, after, found));
  });
}

/** Takes an enquiry out of the records; what is left is a tombstone, and its external id is free again. */
export const deleteEnquiry = (ctx: Context, id: string): Promise<Tombstone> =>
  inTransaction(ctx, async (tx) => {
    const enquiry = await standing(tx, id);
    rules.checkInvoiced(enquiry, null);
    rules.checkPartExchange(enquiry, null);
    const deleted = settled(enquiry, { ...enquiry, deleted_at: tx.now }, tx.now);
    await save(tx, deleted);
    return toTombstone(deleted.after);
  });

/** Adds a note in the name of whoever asks. */
export const addNote = (ctx: Context, id: string, { body }: NewNote): Promise<Note> =>
  inTransaction(ctx, async (tx) => {
    const enquiry = await standing(tx, id);
    const note: Note = { id: uuidv7(tx.now), body, author: authorOf(tx), created_at: tx.now };
    await insertNote(tx, id, note);
    await change(tx, enquiry, { ...enquiry, notes: [...enquiry.notes, note] });
    return toNote(note);
  });

/** What the dealership would give for the car offered in part exchange. From then on it is not forgotten. */
export const appraisePartExchange = (ctx: Context, id: string, amount: number): Promise<EnquiryWithNotes> =>
  inTransaction(ctx, async (tx) => {
    const { valuation } = checked(appraisal, { valuation: amount });
    const enquiry = await standing(tx, id);
    const { part_exchange: offer } = enquiry;
    if (!offer) throw new Refusal('not_found', 'Nothing is offered in part exchange.');
    const status = offer.status === 'OFFERED' ? 'APPRAISED' : offer.status;
    return change(tx, enquiry, { ...enquiry, part_exchange: { ...offer, status, valuation, valued_at: tx.now } });
  });

/** What a deal makes of its enquiry, at whatever branch: the only way to WON and back. `lostReason` goes with LOST. */
export const moveForDeal = (ctx: Context, id: string, status: EnquiryStatus, lostReason: string | null = null): Promise<void> =>
  inTransaction(acrossBranches(ctx), async (tx) => {
    const enquiry = await standing(tx, id);
    await change(tx, enquiry, { ...enquiry, status, lost_reason: lostReason, lost_note: null });
  });

/** The car that was offered in part exchange has come, and is a vehicle in stock; one of another registration is another car. */
export const receiveOffered = (ctx: Context, id: string, registration: string | null, vehicleId: string): Promise<void> =>
  inTransaction(acrossBranches(ctx), async (tx) => {
    const enquiry = await standing(tx, id);
    const { part_exchange: offer } = enquiry;
    if (!offer || offer.registration === null || offer.registration !== registration) return;
    await change(tx, enquiry, { ...enquiry, part_exchange: { ...offer, status: 'RECEIVED', vehicle_id: vehicleId } });
  });

/** Empties the records for the sandbox's reset. */
export const eraseEnquiries = (ctx: Context): Promise<void> => erase(ctx, ['enquiry_note', 'part_exchange', 'enquiry']);

async function standing(tx: Context, id: string): Promise<DetailedRow> {
  const enquiry = await visibleEnquiry(tx, id);
  if (!enquiry) throw new Refusal('not_found');
  return enquiry;
}

/** A body with the numbers of its contact in E.164. */
export const withNumbers = <B extends Pick<EnquiryChanges, 'contact'>>({ dealer }: Context, body: B): B =>
  body.contact ? { ...body, contact: dialable(body.contact, dealer.country, 'contact') } : body;

/** The lists of its codes to which the dealer may add. */
const openLists = { type: 'enquiry-types', source: 'enquiry-sources', lost_reason: 'enquiry-lost-reasons' } as const;

/** What an enquiry names. */
const kinds = { customer_id: 'customer', vehicle_id: 'vehicle', assigned_to_id: 'staff' } as const;

/** Asks the rules about single fields: of what is named, only what is named anew. */
function checkFields(tx: Context, before: DetailedRow, after: DetailedRow, found: Found, body: EnquiryChanges): void {
  checkLinks(newLinks(linksIn(body, kinds), { ...before }), found, after.branch_id, tx.caller.branches);
  rules.checkEnquiry(after, body);
}

async function askingOf(tx: Context, enquiry: DetailedRow, found: Found, branch: { id: string; name: string }): Promise<Asking> {
  const named = summaryNow('customer', enquiry.customer_id || null, nobodyYet, found);
  if (named) return { customer: named, tell: () => undefined };
  if (!enquiry.contact) throw new Error('An enquiry has a customer or a contact.');
  return customerAsking(tx, enquiry.contact, { branch, consent: enquiry.marketing_consent });
}

const nobodyYet = { id: null, shown: null };

/** The enquiry with the summaries of what it names now. */
const withSummaries = (before: DetailedRow, after: DetailedRow, found: Found): DetailedRow => ({
  ...after,
  customer: summaryNow('customer', after.customer_id, { id: before.customer_id, shown: before.customer }, found),
  vehicle: summaryNow('vehicle', after.vehicle_id, { id: before.vehicle_id, shown: before.vehicle }, found),
  assigned_to: summaryNow('staff', after.assigned_to_id, { id: before.assigned_to_id, shown: before.assigned_to }, found),
});

/** Who writes a note. In the sandbox everyone reads it, and nobody is told whose key it was. */
function authorOf({ caller, dealer }: Context): Note['author'] {
  if (caller.kind === 'system') return { id: null, name: caller.name, kind: 'system' };
  if (caller.kind === 'user') return { id: caller.id, name: caller.name, kind: 'user' };
  return dealer.isSandbox ? { id: null, name: 'A test key', kind: 'api' } : { id: caller.id, name: caller.name, kind: 'api' };
}

/** Saves and tells a change, if it is one. */
async function change(tx: Context, before: DetailedRow, after: DetailedRow): Promise<EnquiryWithNotes> {
  const change = settled(before, after, tx.now);
  if (change.changed.length > 0) await save(tx, change);
  return detailsView(readerOf(tx))(change.after);
}

async function save(tx: Context, change: Change<DetailedRow>): Promise<void> {
  const { after, changed } = change;
  await saveEnquiries(tx, [after]);
  stampCustomers(tx, showing(change, 'customer_id', ['contacted_at', 'branch_id']));
  if (changed.includes('part_exchange')) await savePartExchange(tx, after.id, after.part_exchange);
  tell(tx, chronicle, change, detailsView(familyReader(tx, 'enquiries:read')));
}

const chronicle: Chronicle = { record: 'enquiry', created: enquiryCreated, updated: enquiryUpdated, deleted: enquiryDeleted };
