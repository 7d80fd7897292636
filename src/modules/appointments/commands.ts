import { stampEnquiries, withNumbers, wrongContact } from '#modules/enquiries/index.ts';
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
import { inTransaction } from '#platform/db/transaction.ts';
import { Refusal } from '#platform/errors.ts';
import type { Change } from '#platform/records.ts';
import { checkExternalId, showing, toTombstone } from '#platform/records.ts';
import { uuidv7 } from '#platform/secrets.ts';
import { settled, written } from './changes.ts';
import type { Appointment, AppointmentChanges, Cancellation, NewAppointment } from './contract.ts';
import { appointmentCancelled, appointmentCreated, appointmentUpdated } from './contract.ts';
import type { AppointmentRow } from './queries.ts';
import { blankAppointment, saveAppointments, visibleAppointment } from './queries.ts';
import * as rules from './rules.ts';
import { appointmentView } from './view.ts';

/** Books an appointment. `source` says through which door. */
export async function createAppointment(ctx: Context, appointment: NewAppointment, source = 'API'): Promise<Appointment> {
  const body = withNumbers(ctx, appointment);
  await checkDealerCodes(ctx, openLists, body);
  return inTransaction(ctx, async (tx) => {
    const [house, found, holder] = await Promise.all([
      houseOf(tx),
      findLinks(tx, linksIn(body, kinds)),
      holderOf(tx, 'appointment', body.external_id),
    ]);
    const branch = branchFor(body.branch_id, house, tx.caller.branches);
    const own = { dealer_id: tx.dealer.id, id: uuidv7(tx.now), branch_id: branch.id, branch_name: branch.name, source, created_at: tx.now };
    const blank = { ...blankAppointment, ...own };
    const after = written(blank, body);
    checkExternalId(after, holder);
    checkFields(tx, blank, after, found, body);
    const made = settled(null, withSummaries(blank, after, found), tx.now);
    await save(tx, made, chronicle);
    return appointmentView(readerOf(tx))(made.after);
  });
}

/** The one way an appointment changes, but for its cancellation. */
export async function updateAppointment(ctx: Context, id: string, changes: AppointmentChanges): Promise<Appointment> {
  const body = withNumbers(ctx, changes);
  await checkDealerCodes(ctx, openLists, body);
  return inTransaction(ctx, async (tx) => {
    const [house, before, found, holder] = await Promise.all([
      houseOf(tx),
      visibleAppointment(tx, id),
      findLinks(tx, linksIn(body, kinds)),
      holderOf(tx, 'appointment', body.external_id),
    ]);
    if (!before) throw new Refusal('not_found');
    checkBranchMove(before.branch_id, body.branch_id, house, tx.caller.branches);
    const after = { ...written(before, body), branch_name: branchName(house, body.branch_id ?? before.branch_id, before) };
    checkExternalId(after, holder);
    rules.checkOpen(before, after);
    checkFields(tx, before, after, found, body);
    return change(tx, before, withSummaries(before, after, found), chronicle);
  });
}

/** Calls an appointment off. One that is called off already stays as it is. */
export const cancelAppointment = (ctx: Context, id: string, { reason = null }: NonNullable<Cancellation> = {}): Promise<Appointment> =>
  inTransaction(ctx, async (tx) => {
    const before = await standing(tx, id);
    if (before.status === 'CANCELLED') return appointmentView(readerOf(tx))(before);
    rules.checkCancellable(before.status);
    const after: AppointmentRow = { ...before, status: 'CANCELLED', cancelled_at: tx.now, cancellation_reason: reason };
    return change(tx, before, after, { ...chronicle, updated: appointmentCancelled });
  });

/** Takes an appointment without a job card out of the diary; what is left is a tombstone, and its external id is free again. Not by the API. */
export const deleteAppointment = (ctx: Context, id: string): Promise<Tombstone> =>
  inTransaction(ctx, async (tx) => {
    const before = await standing(tx, id);
    rules.checkDeletable(before.job_card_id);
    const deleted = settled(before, { ...before, deleted_at: tx.now }, tx.now);
    await save(tx, deleted, chronicle);
    return toTombstone(deleted.after);
  });

/** A job card was made of an appointment, at whatever branch, or deleted. To be called once that is written. */
export const jobCardChanged = (ctx: Context, id: string, jobCardId: string): Promise<void> =>
  inTransaction(acrossBranches(ctx), async (tx) => {
    const before = await visibleAppointment(tx, id);
    if (!before || !rules.shows(before, jobCardId)) return;
    await save(tx, { before, after: { ...before, updated_at: tx.now }, changed: ['job_card_id'] }, chronicle);
  });

/** Empties the records for the sandbox's reset. */
export const eraseAppointments = (ctx: Context): Promise<void> => erase(ctx, ['appointment']);

async function standing(tx: Context, id: string): Promise<AppointmentRow> {
  const appointment = await visibleAppointment(tx, id);
  if (!appointment) throw new Refusal('not_found');
  return appointment;
}

/** What an appointment names. */
const kinds = {
  customer_id: 'customer',
  enquiry_id: 'enquiry',
  deal_id: 'deal',
  vehicle_id: 'vehicle',
  assigned_to_id: 'staff',
} as const;

const openLists = { type: 'appointment-types', transport_option: 'transport-options' } as const;

/** Asks the rules about single fields: of what is named, only what is named anew. */
function checkFields(tx: Context, before: AppointmentRow, after: AppointmentRow, found: Found, body: AppointmentChanges): void {
  rules.checkMove(before.status, after, tx.now);
  checkLinks(newLinks(linksIn(body, kinds), { ...before }), found, after.branch_id, tx.caller.branches);
  rules.checkAppointment(after, body.contact ? wrongContact(after.contact) : {});
}

/** The appointment with the summaries of what it names now. */
const withSummaries = (before: AppointmentRow, after: AppointmentRow, found: Found): AppointmentRow => ({
  ...after,
  customer: summaryNow('customer', after.customer_id, { id: before.customer_id, shown: before.customer }, found),
  enquiry: summaryNow('enquiry', after.enquiry_id, { id: before.enquiry_id, shown: before.enquiry }, found),
  deal: summaryNow('deal', after.deal_id, { id: before.deal_id, shown: before.deal }, found),
  vehicle: summaryNow('vehicle', after.vehicle_id, { id: before.vehicle_id, shown: before.vehicle }, found),
  assigned_to: summaryNow('staff', after.assigned_to_id, { id: before.assigned_to_id, shown: before.assigned_to }, found),
});

/** Saves and tells a change, if it is one. */
async function change(tx: Context, before: AppointmentRow, after: AppointmentRow, told: Chronicle): Promise<Appointment> {
  const change = settled(before, after, tx.now);
  if (change.changed.length > 0) await save(tx, change, told);
  return appointmentView(readerOf(tx))(change.after);
}

async function save(tx: Context, change: Change<AppointmentRow>, told: Chronicle): Promise<void> {
  await saveAppointments(tx, [change.after]);
  stampEnquiries(tx, showing(change, 'enquiry_id', ['starts_at']));
  tell(tx, told, change, appointmentView(familyReader(tx, 'appointments:read')));
}

/** Its deletion is not told. */
const chronicle: Chronicle = { record: 'appointment', created: appointmentCreated, updated: appointmentUpdated };
