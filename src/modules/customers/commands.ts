import { isDeepStrictEqual } from 'node:util';
import { recordActivity } from '#modules/activity/index.ts';
import { emit } from '#modules/events/index.ts';
import { branchFor, checkBranchMove, houseOf } from '#modules/vehicles/index.ts';
import type { Context } from '#platform/context.ts';
import { familyReader, readerOf } from '#platform/context.ts';
import type { Tombstone } from '#platform/contract.ts';
import { inTransaction, takeNumbers } from '#platform/db/transaction.ts';
import { Refusal } from '#platform/errors.ts';
import { dialable } from '#platform/phone.ts';
import { uuidv7 } from '#platform/secrets.ts';
import type { Settled } from './changes.ts';
import { settled, written } from './changes.ts';
import type {
  Consent,
  CreatedCustomer,
  CustomerChanges,
  CustomerDetails,
  CustomerSummary,
  CustomerType,
  NewCustomer,
  OwnedVehicle,
} from './contract.ts';
import { customerCreated, customerDeleted, customerUpdated } from './contract.ts';
import type { Address, DetailedRow, Sought } from './queries.ts';
import { blankCustomer, customersReachedBy, eraseAll, holderOf, saveCustomer, saveOwnedVehicle, visibleCustomer } from './queries.ts';
import * as rules from './rules.ts';
import { detailsView, toTombstone } from './view.ts';

/** Takes a customer into the records, and says whom it may be a duplicate of. */
export async function createCustomer(ctx: Context, customer: NewCustomer): Promise<CreatedCustomer> {
  const body = dialable(customer, ctx.dealer.country);
  return inTransaction(ctx, async (tx) => {
    const names = { first_name: null, last_name: body.last_name ?? null, company_name: body.company_name ?? null };
    const contact = { ...names, email: body.email ?? null, mobile: body.mobile ?? null, phone: body.phone ?? null };
    const [house, known, holder] = await Promise.all([
      houseOf(tx, 0),
      customersReachedBy(tx, sought(contact)),
      holderOf(tx, body.external_id),
    ]);
    const branch = branchFor(body.branch_id, house, tx.caller.branches);
    const made = settled(null, written(newRow(tx, branch.id, rules.typeOf(names)), body, tx.now), branch.name, tx.now);
    rules.checkExternalId(made.after, holder);
    rules.checkCustomer(made.after, body);
    await save(tx, made);
    tell(tx, made, []);
    const shown = detailsView(readerOf(tx))({ ...made.after, owned_vehicles: [] });
    return { ...shown, duplicate_of_candidates: rules.duplicatesAmong(contact, known) };
  });
}

/** The one way a customer's own fields change. */
export async function updateCustomer(ctx: Context, id: string, changes: CustomerChanges): Promise<CustomerDetails> {
  const body = dialable(changes, ctx.dealer.country);
  return inTransaction(ctx, async (tx) => {
    const [house, before, holder] = await Promise.all([houseOf(tx, 0), visibleCustomer(tx, id), holderOf(tx, body.external_id)]);
    if (!before) throw new Refusal('not_found');
    checkBranchMove(before.branch_id, body.branch_id, house, tx.caller.branches);
    const after = written(before, body, tx.now);
    rules.checkExternalId(after, holder);
    rules.checkCustomer(after, body);
    const branch = house.branches.find(({ id }) => id === after.branch_id);
    const change = settled(before, after, branch?.name ?? null, tx.now);
    if (change.changed.length > 0) {
      await save(tx, change);
      tell(tx, change, before.owned_vehicles);
    }
    return detailsView(readerOf(tx))({ ...change.after, owned_vehicles: before.owned_vehicles });
  });
}

/** Takes a customer without enquiries out of the records; what is left is a tombstone, and its external id is free again. */
export const deleteCustomer = (ctx: Context, id: string): Promise<Tombstone> =>
  inTransaction(ctx, async (tx) => {
    const customer = await standing(tx, id);
    rules.checkDeletable(customer.dealings.enquiries);
    const deleted = settled(customer, { ...customer, deleted_at: tx.now }, null, tx.now);
    await save(tx, deleted);
    tell(tx, deleted, []);
    return toTombstone(deleted.after);
  });

/** Who made an enquiry, as given there. */
export interface Contact extends rules.Names, rules.Reached {
  readonly title: string | null;
  readonly address: Address | null;
  readonly preferred_method: DetailedRow['preferred_contact_method'];
}

/** The customer an enquiry is of. `tell` is to be called once the enquiry was told, because what led to a customer comes first. */
export interface Asking {
  readonly customer: CustomerSummary;
  tell(): void;
}

/** The customer the contact of a new enquiry means, or a new one at the enquiry's branch. Inside a transaction. */
export async function customerAsking(
  tx: Context,
  contact: Contact,
  { branch, consent }: { branch: { id: string; name: string }; consent: Consent | null },
): Promise<Asking> {
  const known = await customersReachedBy(tx, sought(contact));
  const meant = rules.customerMeant(contact, known);
  if (meant) return { customer: summaryOf(meant), tell: () => undefined };

  const { preferred_method, title, first_name, last_name, company_name, email, mobile, phone, address } = contact;
  const given = { title, first_name, last_name, company_name, email, mobile, phone, address };
  const row = { ...newRow(tx, branch.id, rules.typeOf(contact)), ...given, preferred_contact_method: preferred_method };
  const dealings = { ...blankCustomer.dealings, enquiries: 1 };
  const made = settled(null, { ...row, marketing_consent: consent, dealings }, branch.name, tx.now);
  await save(tx, made);
  return { customer: summaryOf(made.after), tell: () => tell(tx, made, []) };
}

/** Notes a car that is known to be a customer's; one of the same registration is known already. */
export const noteOwnedVehicle = (ctx: Context, customerId: string, vehicle: Omit<OwnedVehicle, 'id'>): Promise<CustomerDetails> =>
  inTransaction(ctx, async (tx) => {
    const before = await standing(tx, customerId);
    const { owned_vehicles: owned } = before;
    const known = owned.find(({ registration }) => registration !== null && registration === vehicle.registration);
    const noted = { id: known?.id ?? uuidv7(tx.now), ...vehicle };
    if (isDeepStrictEqual(known, noted)) return detailsView(readerOf(tx))(before);
    const after = { ...before, updated_at: tx.now };
    const vehicles = known ? owned.map((one) => (one === known ? noted : one)) : [...owned, noted];
    await saveOwnedVehicle(tx, customerId, noted);
    await saveCustomer(tx, after);
    tell(tx, { before, after, changed: ['owned_vehicles'] }, vehicles);
    return detailsView(readerOf(tx))({ ...after, owned_vehicles: vehicles });
  });

/** Empties the records without tombstones or events; nothing but the sandbox's reset may do that. */
export const eraseCustomers = (ctx: Context): Promise<void> =>
  inTransaction(ctx, async (tx) => {
    if (!tx.dealer.isSandbox) throw new Error('Only the sandbox is ever emptied.');
    await eraseAll(tx);
  });

async function standing(tx: Context, id: string): Promise<DetailedRow> {
  const customer = await visibleCustomer(tx, id);
  if (!customer) throw new Refusal('not_found');
  return customer;
}

const sought = ({ email, mobile, phone, last_name: lastName }: rules.Reached & Pick<rules.Names, 'last_name'>): Sought => ({
  email,
  numbers: [mobile, phone].filter((number) => number !== null),
  lastNameKey: lastName && rules.nameKey(lastName),
});

const newRow = (tx: Context, branchId: string, type: CustomerType) => ({
  ...blankCustomer,
  dealer_id: tx.dealer.id,
  id: uuidv7(tx.now),
  branch_id: branchId,
  type,
  created_at: tx.now,
});

const summaryOf = ({ id, reference, display_name }: CustomerSummary): CustomerSummary => ({ id, reference, display_name });

/** Numbers a new one. */
async function save(tx: Context, { before, after }: Settled): Promise<void> {
  if (!before) after.reference = `CUS-${String(await takeNumbers(tx, 'customer', 1)).padStart(6, '0')}`;
  await saveCustomer(tx, after);
}

function tell(tx: Context, { before, after, changed }: Settled, ownedVehicles: OwnedVehicle[]): void {
  const about = { resourceId: after.id, branchId: after.branch_id };
  if (after.deleted_at !== null) {
    recordActivity(tx, 'deleted', 'customer', after.id, []);
    emit(tx, customerDeleted, toTombstone(after), about);
    return;
  }
  const object = detailsView(familyReader(tx, 'customers:read'))({ ...after, owned_vehicles: ownedVehicles });
  recordActivity(tx, before ? 'updated' : 'created', 'customer', after.id, changed);
  if (before) emit(tx, customerUpdated, object, { ...about, changed });
  else emit(tx, customerCreated, object, about);
}
