import type { Chronicle } from '#modules/events/index.ts';
import { tell } from '#modules/events/index.ts';
import type { HouseRow } from '#modules/house/index.ts';
import { branchFor, checkBranchMove, houseOf } from '#modules/house/index.ts';
import { isDealerCode } from '#modules/reference/index.ts';
import type { Context } from '#platform/context.ts';
import { familyReader } from '#platform/context.ts';
import { takeNumbers, undoneIfThrown } from '#platform/db/transaction.ts';
import { invalidFields, Refusal } from '#platform/errors.ts';
import type { Lookup } from '#platform/lookup/lookup.ts';
import { reaches } from '#platform/reach.ts';
import { checkExternalId } from '#platform/records.ts';
import { uuidv7 } from '#platform/secrets.ts';
import type { Gallery, Settled } from './changes.ts';
import { isNews, settled, withGallery, written } from './changes.ts';
import type { BatchItem, VehicleChanges } from './contract.ts';
import { purchaseSources, vehicleCreated, vehicleDeleted, vehicleStatusChanged, vehicleUpdated } from './contract.ts';
import { columnsOf, isBare } from './lookup.ts';
import { galleryFor, isOpen } from './photo-gallery.ts';
import type { BatchPlace } from './photo-queries.ts';
import { beginImports, endImports } from './photo-staging.ts';
import type { VehicleRow } from './queries.ts';
import { blankVehicle, saveVehicles, stockCounted, vehiclesNamed } from './queries.ts';
import type { Match } from './rules.ts';
import * as rules from './rules.ts';
import { vehicleView } from './view.ts';

/** What is asked for: a new vehicle, a change of one, or whichever of both an item means. A new one takes from the look-up what it does not say. */
export type Write =
  | { readonly create: VehicleChanges; readonly lookUp?: Lookup | undefined }
  | { readonly id: string; readonly update: VehicleChanges }
  | { readonly upsert: BatchItem; readonly lookUp?: Lookup | undefined; readonly forItem?: BatchPlace };

/** What became of it, and the vehicle that was found to be meant. */
export type Outcome = { readonly match: Match<VehicleRow> | null } & (Written | { readonly refusal: Refusal });

interface Written {
  readonly operation: 'created' | 'updated';
  readonly vehicle: VehicleRow;
  /** How many photos are to be fetched; null when none were written. */
  readonly requested: number | null;
}

/**
 * Writes vehicles: one, or those of a batch, in their order. The stock they concern is read at once, the rules are asked in memory,
 * and what they let pass is saved at once; a refusal belongs to its write alone. For inside a transaction.
 */
export async function writeVehicles(tx: Context, writes: readonly Write[]): Promise<Outcome[]> {
  const stock = await stockFor(tx, writes);
  const outcomes: Outcome[] = [];
  let group = emptyGroup();
  for (const write of writes) {
    const target = targetOf(stock, write);
    // What an earlier write has touched is saved first: one statement can neither write a row twice nor pass on an external id.
    if (collides(group, write, target)) {
      await save(tx, group.writes);
      group = emptyGroup();
    }
    const outcome = orRefusal(() => plan(tx, stock, write, target));
    outcomes.push(outcomeOf(outcome, target));
    if (!(outcome instanceof Refusal)) join(group, outcome);
  }
  await save(tx, group.writes);
  return outcomes;
}

/** The same for a batch, of which one vehicle that cannot be saved must not hold up the others: it fails alone. */
export async function writeEach(tx: Context, writes: readonly Write[]): Promise<Outcome[]> {
  try {
    return await undoneIfThrown(tx, () => writeVehicles(tx, writes));
  } catch (fault) {
    if (!isOfTheData(fault)) throw fault;
    const outcomes: Outcome[] = [];
    for (const write of writes) outcomes.push(await alone(tx, write));
    return outcomes;
  }
}

/** What writes would become, for a dry run: nothing is written, no turn is needed. */
export async function foresee(ctx: Context, writes: readonly Write[]): Promise<Outcome[]> {
  const stock = await stockFor(ctx, writes);
  return writes.map((write) => {
    const target = targetOf(stock, write);
    return outcomeOf(
      orRefusal(() => plan(ctx, stock, write, target)),
      target,
    );
  });
}

/** The registrations of those that would be new vehicles, but for a look-up of make and model that was not made yet. */
export async function registrationsToLookUp(ctx: Context, writes: readonly Write[]): Promise<string[]> {
  if (!writes.some(lacksLookUp)) return [];
  const outcomes = await foresee(ctx, writes);
  const lacking = writes.filter((write, at) => lacksLookUp(write) && isNotCreated(outcomes[at]!));
  return present(lacking.map(bodyOf), 'registration');
}

/** Saves a change that no rule is asked about, as a deal or an import of photos makes it; the vehicle may be sold by it. */
export async function saveSettled(tx: Context, before: VehicleRow, after: VehicleRow): Promise<VehicleRow> {
  const house = await houseOf(tx);
  const branch = house.branches.find(({ id }) => id === after.branch_id);
  const write = settled(before, after, branch, tx.now);
  await save(tx, [write]);
  return write.after;
}

// ---- The stock in memory ----

interface Stock {
  readonly house: HouseRow;
  /** Every vehicle the writes may concern, as the writes before have left it. */
  readonly vehicles: Map<string, VehicleRow>;
  /** Those that exist for this caller. */
  readonly reach: Context['caller']['branches'];
  /** The dealer-made codes among those named. */
  readonly dealerCodes: ReadonlySet<string>;
  room: rules.Room;
}

async function stockFor(ctx: Context, writes: readonly Write[]): Promise<Stock> {
  const bodies = writes.map(bodyOf);
  const { limits } = ctx.service;
  const [house, vehicles, dealerCodes] = await Promise.all([
    houseOf(ctx),
    vehiclesNamed(ctx, {
      ids: writes.map(idOf).filter((id) => id !== undefined),
      externalIds: present(bodies, 'external_id'),
      registrations: present(bodies, 'registration'),
      vins: writes.some((write) => 'update' in write) ? [] : present(bodies, 'vin'),
    }),
    dealerCodesAmong(ctx, bodies),
  ]);
  const { isSandbox } = ctx.dealer;
  const most = Math.max(limits.freeStockCap, limits.sandboxStockCap) + writes.length;
  const counted = rules.hasCap(house.plan, isSandbox) ? await stockCounted(ctx, most) : { used: 0, share: 0 };
  return {
    house,
    vehicles: new Map(vehicles.map((vehicle) => [vehicle.id, vehicle])),
    reach: ctx.caller.branches,
    dealerCodes,
    room: rules.roomLeft({ plan: house.plan, isSandbox, ...counted }, limits),
  };
}

const bodyOf = (write: Write): VehicleChanges => {
  if ('create' in write) return write.create;
  if ('update' in write) return write.update;
  const { id: _id, ...body } = write.upsert;
  return body;
};

const idOf = (write: Write): string | undefined =>
  'update' in write ? write.id : 'upsert' in write ? (write.upsert.id ?? undefined) : undefined;

const lookUpOf = (write: Write): Lookup | undefined => ('update' in write ? undefined : write.lookUp);

const lacksLookUp = (write: Write): boolean => !('update' in write) && write.lookUp === undefined && isBare(bodyOf(write));

const isNotCreated = (outcome: Outcome): boolean => 'refusal' in outcome && outcome.refusal.code === 'vehicle_not_created';

const present = (bodies: readonly VehicleChanges[], field: 'external_id' | 'registration' | 'vin'): string[] =>
  bodies.map((body) => body[field]).filter((value) => typeof value === 'string');

async function dealerCodesAmong(ctx: Context, bodies: readonly VehicleChanges[]): Promise<Set<string>> {
  const named = new Set(bodies.map(({ costs }) => costs?.purchase_source).filter((code) => code?.startsWith('X_')));
  const made = await Promise.all([...named].map(async (code) => ((await isDealerCode(ctx, 'purchase-sources', code!)) ? code! : null)));
  return new Set(made.filter((code) => code !== null));
}

// ---- One write ----

/** The vehicle a write is about: a match, none for a new one, or the refusal to say that there is none. */
type Target = Match<VehicleRow> | undefined | Refusal;

function targetOf({ vehicles, reach }: Stock, write: Write): Target {
  if ('create' in write) return undefined;
  if ('upsert' in write) {
    return rules.matchFor(
      write.upsert,
      [...vehicles.values()].filter(({ branch_id }) => reaches(reach, branch_id)),
    );
  }
  const vehicle = vehicles.get(write.id);
  return vehicle && reaches(reach, vehicle.branch_id) ? { vehicle, by: 'id' } : new Refusal('not_found');
}

/** Asks every rule, in the order of their answers, and leaves the stock in memory as it will be. */
function plan(ctx: Context, stock: Stock, write: Write, target: Target): Settled {
  checkCodes(stock, bodyOf(write));
  if (target instanceof Refusal) throw target;
  const outcome = target ? change(ctx, stock, target.vehicle, write) : creation(ctx, stock, write);
  const { before, after } = outcome;
  stock.room = { ...stock.room, left: stock.room.left + Number(before !== null && rules.counts(before)) - Number(rules.counts(after)) };
  stock.vehicles.set(after.id, after);
  return outcome;
}

function change(ctx: Context, stock: Stock, before: VehicleRow, write: Write): Settled {
  const body = bodyOf(write);
  const after = written(before, body);
  checkBranchMove(before.branch_id, body.branch_id, stock.house, stock.reach);
  checkExternalId(after, holderOf(stock, after));
  rules.checkDeal(before, after);
  rules.checkVehicle(after, body);
  const gallery = galleryOf(before, write);
  return { ...settled(before, gallery ? withGallery(after, gallery) : after, branchOf(stock, after), ctx.now), gallery };
}

function creation(ctx: Context, stock: Stock, write: Write): Settled {
  const body = bodyOf(write);
  const lookUp = lookUpOf(write);
  const branch = branchFor(body.branch_id, stock.house, stock.reach);
  const { dealer, caller, now } = ctx;
  const blank = {
    ...blankVehicle,
    ...(lookUp?.found && columnsOf(lookUp.found)),
    dealer_id: dealer.id,
    id: uuidv7(now),
    branch_id: branch.id,
    created_for_dealer_id: caller.callingDealerId,
  };
  const after = { ...written(blank, body), created_at: now };
  checkExternalId(after, holderOf(stock, after));
  rules.checkVehicle(after, body);
  rules.checkNewVehicle(after, body, lookUp?.lacking ?? null);
  rules.checkCreatable(after, [...stock.vehicles.values()]);
  rules.checkRoom(after, stock.room);
  const gallery = galleryOf(blank, write);
  return { ...settled(null, gallery ? withGallery(after, gallery) : after, branch, now), gallery };
}

function galleryOf({ images }: VehicleRow, write: Write): Gallery | undefined {
  const wanted = bodyOf(write).images;
  if (wanted === undefined) return undefined;
  return { places: galleryFor(images, wanted ?? []), forItem: 'upsert' in write ? (write.forItem ?? null) : null };
}

const holderOf = ({ vehicles }: Stock, { external_id: externalId }: VehicleRow): string | undefined =>
  externalId === null ? undefined : [...vehicles.values()].find(({ external_id }) => external_id === externalId)?.id;

const branchOf = ({ house }: Stock, vehicle: VehicleRow) => house.branches.find(({ id }) => id === vehicle.branch_id);

function checkCodes({ dealerCodes }: Stock, { costs }: VehicleChanges): void {
  const code = costs?.purchase_source;
  if (!code || dealerCodes.has(code) || purchaseSources.some((shipped) => shipped === code)) return;
  throw invalidFields({ 'costs.purchase_source': ['Not a code of the reference list "purchase-sources".'] });
}

function orRefusal(plan: () => Settled): Settled | Refusal {
  try {
    return plan();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

function outcomeOf(outcome: Settled | Refusal, target: Target): Outcome {
  const match = target && !(target instanceof Refusal) ? target : null;
  if (outcome instanceof Refusal) return { refusal: outcome, match };
  const { before, after, gallery } = outcome;
  return {
    operation: before ? 'updated' : 'created',
    vehicle: after,
    match,
    requested: gallery ? gallery.places.filter(isOpen).length : null,
  };
}

async function alone(tx: Context, write: Write): Promise<Outcome> {
  try {
    const [outcome] = await undoneIfThrown(tx, () => writeVehicles(tx, [write]));
    return outcome!;
  } catch (fault) {
    if (!isOfTheData(fault)) throw fault;
    tx.service.log.error({ err: fault, request_id: tx.requestId, dealer: tx.dealer.code }, 'an item of a batch cannot be saved');
    return { refusal: new Refusal('internal_error'), match: null };
  }
}

/** Whether trying again would fail again: not so when a server was busy, full, slow or gone. */
function isOfTheData(fault: unknown): boolean {
  const { code } = fault as { code?: unknown };
  return typeof code === 'string' ? /^(22|23|54)...$/.test(code) : true;
}

// ---- Saving together ----

interface Group {
  readonly writes: Settled[];
  readonly touched: Set<string>;
  readonly freed: Set<string>;
}

const emptyGroup = (): Group => ({ writes: [], touched: new Set(), freed: new Set() });

function collides({ touched, freed }: Group, write: Write, target: Target): boolean {
  const externalId = bodyOf(write).external_id;
  if (externalId && freed.has(externalId)) return true;
  return target !== undefined && !(target instanceof Refusal) && touched.has(target.vehicle.id);
}

function join(group: Group, write: Settled): void {
  const { before, after } = write;
  group.writes.push(write);
  group.touched.add(after.id);
  if (before?.external_id && before.external_id !== after.external_id) group.freed.add(before.external_id);
}

/** Numbers the new ones, saves all that is news, and tells of it. */
export async function save(tx: Context, writes: readonly Settled[]): Promise<void> {
  const news = writes.filter(isNews);
  if (news.length === 0) return;
  await endImports(tx, news);
  const created = news.filter(({ before }) => before === null);
  if (created.length > 0) {
    let next = await takeNumbers(tx, 'stock_number', created.length);
    for (const { after } of created) after.stock_number = String(next++);
  }
  await saveVehicles(
    tx,
    news.map(({ after }) => after),
  );
  await beginImports(tx, news);
  const show = vehicleView(familyReader(tx, 'vehicles:read'));
  for (const write of news) tell(tx, chronicle, write, show);
}

const chronicle: Chronicle = {
  record: 'vehicle',
  created: vehicleCreated,
  updated: vehicleUpdated,
  statusChanged: vehicleStatusChanged,
  deleted: vehicleDeleted,
};
