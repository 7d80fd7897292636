import { stampCustomers } from '#modules/customers/index.ts';
import { moveForDeal as moveEnquiry, stampEnquiries } from '#modules/enquiries/index.ts';
import type { Chronicle } from '#modules/events/index.ts';
import { tell } from '#modules/events/index.ts';
import { branchFor, branchName, checkBranchMove, houseOf } from '#modules/house/index.ts';
import type { Found } from '#modules/links/index.ts';
import { checkLinks, findLinks, linksIn, newLinks, summaryNow } from '#modules/links/index.ts';
import { checkDealerCodes } from '#modules/reference/index.ts';
import { checkCostsScope, moveForDeal as moveVehicle, stampVehicles } from '#modules/vehicles/index.ts';
import type { Context } from '#platform/context.ts';
import { familyReader } from '#platform/context.ts';
import { holderOf } from '#platform/db/records.ts';
import { inTransaction, takeNumbers } from '#platform/db/transaction.ts';
import { Refusal } from '#platform/errors.ts';
import type { Change } from '#platform/records.ts';
import { checkExternalId, showing } from '#platform/records.ts';
import { uuidv7 } from '#platform/secrets.ts';
import type { Named } from './changes.ts';
import { settled, written } from './changes.ts';
import type { Deal, DealChanges, NewDeal } from './contract.ts';
import { dealCreated, dealStatusChanged } from './contract.ts';
import type { DealRow } from './queries.ts';
import { blankDeal, carNamed, leadNamed, saveDeals, visibleDeal } from './queries.ts';
import { getDeal } from './reads.ts';
import * as rules from './rules.ts';
import { dealView } from './view.ts';

// A turn that is not had in time is answered `stock_busy` by everything that may move a car.

/** Writes down a deal: a quote, or one that holds its car at once. */
export async function createDeal(ctx: Context, body: NewDeal): Promise<Deal> {
  await checkCodes(ctx, body);
  checkCosts(ctx, body);
  return inTransaction(
    ctx,
    async (tx) => {
      const [house, found, holder] = await Promise.all([
        houseOf(tx),
        findLinks(tx, linksIn(body, kinds)),
        holderOf(tx, 'deal', body.external_id),
      ]);
      const branch = branchFor(body.branch_id, house, tx.caller.branches);
      const blank = { ...blankDeal, dealer_id: tx.dealer.id, id: uuidv7(tx.now), branch_id: branch.id, created_at: tx.now };
      const after = { ...written(blank, body, tx.now), branch_name: branch.name };
      const { made, named } = await plan(tx, null, withSalesperson(blank, after, found), holder);
      checkFields(tx, null, made.after, found, body, named);
      made.after.reference = `DEAL-${String(await takeNumbers(tx, 'deal', 1)).padStart(6, '0')}`;
      await carryOut(tx, made, named);
      return getDeal(tx, made.after.id);
    },
    'stock_busy',
  );
}

/** The one way a deal changes through the API. SOLD and what follows are steps of their own. */
export async function updateDeal(ctx: Context, id: string, body: DealChanges): Promise<Deal> {
  await checkCodes(ctx, body);
  checkCosts(ctx, body);
  return inTransaction(
    ctx,
    async (tx) => {
      const [house, before, found, holder] = await Promise.all([
        houseOf(tx),
        visibleDeal(tx, id),
        findLinks(tx, linksIn(body, kinds)),
        holderOf(tx, 'deal', body.external_id),
      ]);
      if (!before) throw new Refusal('not_found');
      checkBranchMove(before.branch_id, body.branch_id, house, tx.caller.branches);
      const after = { ...written(before, body, tx.now), branch_name: branchName(house, body.branch_id ?? before.branch_id, before) };
      const { made, named } = await plan(tx, before, withSalesperson(before, after, found), holder);
      rules.checkOpen(before, made.changed);
      checkFields(tx, before, made.after, found, body, named);
      await carryOut(tx, made, named);
      return getDeal(tx, id);
    },
    'stock_busy',
  );
}

/** A deal as it stands, for whoever works on it. */
export async function standing(tx: Context, id: string): Promise<DealRow> {
  const deal = await visibleDeal(tx, id);
  if (!deal) throw new Refusal('not_found');
  return deal;
}

/** The car and the enquiry a deal names, wherever in the dealership they are. */
export async function namedBy(tx: Context, { id, vehicle_id, enquiry_id }: DealRow): Promise<Named> {
  const [car, lead] = await Promise.all([carNamed(tx, vehicle_id), leadNamed(tx, enquiry_id, id)]);
  return { car, lead };
}

/** Saves and tells a change, if it is one, and then what it makes of cars and of the enquiry. */
export async function carryOut(tx: Context, change: Change<DealRow>, { lead }: Named): Promise<void> {
  const { before, after, changed } = change;
  if (before && changed.length === 0 && after.deleted_at === null) return;
  await saveDeals(tx, [after]);
  stampEnquiries(tx, showing(change, 'enquiry_id', ['status']));
  stampCustomers(tx, showing(change, 'customer_id', ['branch_id']));
  if (rules.isSold(after)) stampVehicles(tx, showing(change, 'vehicle_id', ['type']));
  tell(tx, chronicle, change, dealView(familyReader(tx, 'sales:read')));
  await moveCars(tx, before, after);
  const outcome = after.status === before?.status ? null : rules.outcomeFor(after, lead);
  if (lead && outcome) await moveEnquiry(tx, lead.id, outcome.status, outcome.reason);
}

async function moveCars(tx: Context, before: DealRow | null, after: DealRow): Promise<void> {
  const [held, holds] = [rules.carHeld(before), rules.carHeld(after)];
  if (before && held !== null && held !== holds) await moveVehicle(tx, held, rules.statusLetGo(before), null);
  if (holds !== null && (held !== holds || before?.status !== after.status))
    await moveVehicle(tx, holds, rules.statusOfHeld(after), after.id);
}

/** What a deal names. */
const kinds = { enquiry_id: 'enquiry', customer_id: 'customer', vehicle_id: 'vehicle', salesperson_id: 'staff' } as const;

async function plan(tx: Context, before: DealRow | null, after: DealRow, holder: string | undefined) {
  checkExternalId(after, holder);
  const named = await namedBy(tx, after);
  return { made: settled(before, after, named, tx.now), named };
}

/** Asks the rules: of what is named, only what is named anew. */
function checkFields(tx: Context, before: DealRow | null, after: DealRow, found: Found, body: DealChanges, { car, lead }: Named): void {
  checkLinks(newLinks(linksIn(body, kinds), { ...before }), found, after.branch_id, tx.caller.branches);
  rules.checkHold(before, after, car, lead, tx.caller.branches);
  rules.checkDeal(before, after, body);
}

const openLists = { type: 'deal-types', cancellation_reason: 'deal-cancellation-reasons' } as const;

function checkCodes(ctx: Context, { type, cancellation_reason, extras }: DealChanges): Promise<void> {
  const kinds = (extras ?? []).map(({ kind }, index) => [`extras.${index}.kind`, kind] as const);
  const lists = { ...openLists, ...Object.fromEntries(kinds.map(([field]) => [field, 'deal-extra-kinds'])) };
  return checkDealerCodes<string>(ctx, lists, { type, cancellation_reason, ...Object.fromEntries(kinds) });
}

/** What a car stands in for is of the costs, and is written with their scope. */
function checkCosts({ caller }: Context, { part_exchanges: exchanges }: DealChanges): void {
  if (exchanges?.some(({ stand_in_value: value }) => value !== undefined)) checkCostsScope(caller);
}

/** The one summary that events show. */
const withSalesperson = (before: DealRow, after: DealRow, found: Found): DealRow => ({
  ...after,
  salesperson: summaryNow('staff', after.salesperson_id, { id: before.salesperson_id, shown: before.salesperson }, found),
});

const chronicle: Chronicle = { record: 'deal', created: dealCreated, statusChanged: dealStatusChanged };
