import { isDeepStrictEqual } from 'node:util';
import type { Chronicle } from '#modules/events/index.ts';
import { tell } from '#modules/events/index.ts';
import { branchFor, branchName, checkBranchMove, houseOf } from '#modules/house/index.ts';
import type { CustomerSummary } from '#modules/links/contract.ts';
import type { Context } from '#platform/context.ts';
import { familyReader, readerOf } from '#platform/context.ts';
import type { Tombstone } from '#platform/contract.ts';
import { erase, holderOf } from '#platform/db/records.ts';
import { inTransaction, takeNumbers } from '#platform/db/transaction.ts';
import { Refusal } from '#platform/errors.ts';
import { checked } from '#platform/field-errors.ts';
import { dialable } from '#platform/phone.ts';
import type { Change } from '#platform/records.ts';
import { checkExternalId, toTombstone } from '#platform/records.ts';
import { uuidv7 } from '#platform/secrets.ts';
import { settled, written } from './changes.ts';
import type { Consent, CreatedCustomer, CustomerChanges, CustomerDetails, CustomerType, NewCustomer, NewOwnedVehicle } from './contract.ts';
import { customerCreated, customerDeleted, customerUpdated, newOwnedVehicle } from './contract.ts';
import type { Address, DetailedRow, Sought } from './queries.ts';
import { blankCustomer, customersReachedBy, holdingsOf, saveCustomers, saveOwnedVehicle, visibleCustomer } from './queries.ts';
import * as rules from './rules.ts';
import { detailsView } from './view.ts';

/** Takes a customer into the records, and says whom it may be a duplicate of. */
export async function createCustomer(ctx: Context, customer: NewCustomer): Promise<CreatedCustomer> {
  const body = dialable(customer, ctx.dealer.country);
  return inTransaction(ctx, async (tx) => {
    const names = { first_name: null, last_name: body.last_name ?? null, company_name: body.company_name ?? null };
    const contact = { ...names, email: body.email ?? null, mobile: body.mobile ?? null, phone: body.phone ?? null };
    const [house, known, holder] = await Promise.all([
      houseOf(tx),
      customersReachedBy(tx, sought(contact)),
      holderOf(tx, 'customer', body.external_id),
    ]);
    const branch = branchFor(body.branch_id, house, tx.caller.branches);
    const made = settled(null, written(newRow(tx, branch.id, rules.typeOf(names)), body, tx.now), branch.name, tx.now);
    checkExternalId(made.after, holder);
    rules.checkCustomer(null, made.after);
    await save(tx, made);
    tellOf(tx, made);
    return { ...detailsView(readerOf(tx))(made.after), duplicate_of_candidates: rules.duplicatesAmong(contact, known) };
  });
}

/** The one way a customer's own fields change. */
export async function updateCustomer(ctx: Context, id: string, changes: CustomerChanges): Promise<CustomerDetails> {
  const body = dialable(changes, ctx.dealer.country);
  return inTransaction(ctx, async (tx) => {
    const [house, before, holder] = await Promise.all([houseOf(tx), visibleCustomer(tx, id), holderOf(tx, 'customer', body.external_id)]);
    if (!before) throw new Refusal('not_found');
    checkBranchMove(before.branch_id, body.branch_id, house, tx.caller.branches);
    const after = written(before, body, tx.now);
    checkExternalId(after, holder);
    rules.checkCustomer(before, after);
    const change = settled(before, after, branchName(house, after.branch_id, before), tx.now);
    if (change.changed.length > 0) {
      await save(tx, change);
      tellOf(tx, change);
    }
    return detailsView(readerOf(tx))(change.after);
  });
}

/** Takes a customer nothing names out of the records; what is left is a tombstone, and its external id is free again. */
export const deleteCustomer = (ctx: Context, id: string): Promise<Tombstone> =>
  inTransaction(ctx, async (tx) => {
    const [customer, held] = await Promise.all([standing(tx, id), holdingsOf(tx, id)]);
    rules.checkDeletable(held);
    const deleted = settled(customer, { ...customer, deleted_at: tx.now }, null, tx.now);
    await save(tx, deleted);
    tellOf(tx, deleted);
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
  const made = settled(null, { ...row, marketing_consent: consent, dealings, everywhere: dealings }, branch.name, tx.now);
  await save(tx, made);
  return { customer: summaryOf(made.after), tell: () => tellOf(tx, made) };
}

/** Notes a car that is known to be a customer's; one of the same registration is known already. */
export async function noteOwnedVehicle(ctx: Context, customerId: string, input: NewOwnedVehicle): Promise<CustomerDetails> {
  const vehicle = checked(newOwnedVehicle, input);
  return inTransaction(ctx, async (tx) => {
    const before = await standing(tx, customerId);
    const { owned_vehicles: owned } = before;
    const known = owned.find(({ registration }) => registration !== null && registration === vehicle.registration);
    const noted = { id: known?.id ?? uuidv7(tx.now), ...vehicle };
    if (isDeepStrictEqual(known, noted)) return detailsView(readerOf(tx))(before);
    const owned_vehicles = known ? owned.map((one) => (one === known ? noted : one)) : [...owned, noted];
    const after = { ...before, owned_vehicles, updated_at: tx.now };
    await saveOwnedVehicle(tx, customerId, noted);
    await saveCustomers(tx, [after]);
    tellOf(tx, { before, after, changed: ['owned_vehicles'] });
    return detailsView(readerOf(tx))(after);
  });
}

/** Empties the records for the sandbox's reset. */
export const eraseCustomers = (ctx: Context): Promise<void> => erase(ctx, ['customer_vehicle', 'customer']);

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
async function save(tx: Context, { before, after }: Change<DetailedRow>): Promise<void> {
  if (!before) after.reference = `CUS-${String(await takeNumbers(tx, 'customer', 1)).padStart(6, '0')}`;
  await saveCustomers(tx, [after]);
}

function tellOf(tx: Context, change: Change<DetailedRow>): void {
  const show = detailsView(familyReader(tx, 'customers:read'));
  tell(tx, chronicle, change, (row) => show({ ...row, dealings: row.everywhere }));
}

const chronicle: Chronicle = { record: 'customer', created: customerCreated, updated: customerUpdated, deleted: customerDeleted };
