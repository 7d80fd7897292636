import type { Instant } from '#platform/dates.ts';
import type { FieldErrors } from '#platform/errors.ts';
import { invalid, invalidFields, Refusal } from '#platform/errors.ts';
import { wrongMetadata } from '#platform/records.ts';
import type { BatchItem, VehicleChanges, VehicleStatus } from './contract.ts';

// What the dealership does not allow, and what it decides. Pure: the same vehicle and the same change always give the same answer.

/** A vehicle as far as the rules look at it. */
export interface Standing {
  readonly id: string;
  readonly external_id: string | null;
  readonly branch_id: string;
  readonly status: VehicleStatus;
  readonly registration: string | null;
  readonly vin: string | null;
  readonly condition: 'NEW' | 'USED';
  readonly make: string;
  readonly model: string;
  readonly first_registered_on: string | null;
  readonly year_of_manufacture: number | null;
  readonly write_off_category: string | null;
  readonly asking_price: number | null;
  readonly price_on_application: boolean;
  readonly provenance: { readonly stolen: boolean | null; readonly scrapped: boolean | null } | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly website_visible: boolean | null;
  readonly deal_id: string | null;
  /** The status of that deal, where a write was asked about. */
  readonly deal_status?: string | null;
  readonly deleted_at: Instant | null;
  readonly created_at: Instant;
}

// ---- Scopes of what a body names ----

/** Costs are written with their own scope alone, whatever else the request holds. */
export function checkCostsScope({ granted, scopes }: { readonly granted: readonly string[]; readonly scopes: readonly string[] }): void {
  const scope = 'vehicles:costs';
  if (scopes.includes(scope)) return;
  if (!granted.includes(scope))
    throw new Refusal('insufficient_scope', 'Writing costs needs the scope vehicles:costs.', { required: { scope } });
  throw new Refusal('scope_not_permitted_for_owner', undefined, { required: { scope, permission: 'STOCK_COSTS' } });
}

export function checkMayDelete({ permissions }: { readonly permissions: readonly string[] }): void {
  const permission = 'STOCK_DELETE';
  if (!permissions.includes(permission)) throw new Refusal('scope_not_permitted_for_owner', undefined, { required: { permission } });
}

// ---- Which vehicle an item means ----

export interface Match<K> {
  readonly vehicle: K;
  readonly by: 'id' | 'external_id' | 'registration';
}

type Known = Pick<Standing, 'id' | 'external_id' | 'registration' | 'status' | 'created_at'>;

/** By id, then external id, then registration: there live ones first, then the newest. None means a new one. */
export function matchFor<K extends Known>(item: BatchItem, known: readonly K[]): Match<K> | undefined {
  const byId = item.id && known.find(({ id }) => id === item.id);
  if (byId) return { vehicle: byId, by: 'id' };
  const byExternalId = item.external_id && known.find(({ external_id }) => external_id === item.external_id);
  if (byExternalId) return { vehicle: byExternalId, by: 'external_id' };
  const [first] = item.registration ? known.filter(({ registration }) => registration === item.registration).sort(liveThenNewest) : [];
  return first && { vehicle: first, by: 'registration' };
}

const liveThenNewest = (a: Known, b: Known): number =>
  Number(isLive(b)) - Number(isLive(a)) || (a.created_at < b.created_at ? 1 : a.created_at > b.created_at ? -1 : a.id < b.id ? 1 : -1);

/** Still the dealership's own to sell. */
export const isLive = ({ status }: Pick<Standing, 'status'>): boolean =>
  status !== 'SOLD' && status !== 'DELIVERED' && status !== 'DISPOSED';

/** Stock that a cap counts: the same as what is live. */
export const counts = (vehicle: Pick<Standing, 'status' | 'deleted_at'>): boolean => vehicle.deleted_at === null && isLive(vehicle);

// ---- The record's state ----

/** A live deal holds its car, and once ordered its price. */
export function checkDeal(before: Standing, after: Standing): void {
  const invoiced = before.status === 'SOLD' || before.status === 'DELIVERED';
  if (!invoiced && before.deal_id === null) return;
  const moves = after.status !== before.status || after.branch_id !== before.branch_id || after.registration !== before.registration;
  const priced = after.asking_price !== before.asking_price || after.price_on_application !== before.price_on_application;
  if (moves || (priced && (invoiced || before.deal_status === 'ORDERED'))) throw new Refusal('vehicle_in_deal');
}

export function checkDeletable({ deal_id, status }: Standing): void {
  if (deal_id !== null || status === 'SOLD' || status === 'DELIVERED') throw new Refusal('vehicle_in_deal');
}

/** A vehicle on a purchase order stays, unless that was cancelled. */
export function checkOrder(status: string | null): void {
  if (status !== null && status !== 'CANCELLED') throw new Refusal('vehicle_has_purchase_order');
}

// ---- The vehicle itself ----

/** What is wrong with a change by the calendar; nothing of the vehicle is needed to say so. */
export function wrongByCalendar({ year_of_manufacture: year }: VehicleChanges, now: Instant): FieldErrors {
  const latest = Number(now.slice(0, 4)) + 1;
  return typeof year === 'number' && year > latest ? { year_of_manufacture: [`At most ${latest}.`] } : {};
}

/** What is wrong with the vehicle as it would be. `written` says which of it is being written. */
export function checkVehicle(after: Standing, written: VehicleChanges): void {
  const errors: FieldErrors = wrongMetadata(after);
  if (saysOfVin(written) && after.vin !== null && !strictVin.test(after.vin) && !mayHaveFreeVin(after)) {
    errors.vin = ['17 letters and digits without I, O and Q; free in form only on a used vehicle built before 1981.'];
  }
  if (after.status === 'FOR_SALE') Object.assign(errors, wrongForSale(after));
  if (Object.keys(errors).length > 0) throw invalidFields(errors);
}

/** What keeps a vehicle from being for sale. */
export function wrongForSale(vehicle: Pick<Standing, 'asking_price' | 'price_on_application' | 'write_off_category'>): FieldErrors {
  const { asking_price: price, price_on_application: onApplication, write_off_category: category } = vehicle;
  const errors: FieldErrors = {};
  if (price === null && !onApplication) errors.asking_price = ['A vehicle for sale needs an asking_price, or price_on_application.'];
  if (category === 'A' || category === 'B') errors.write_off_category = [`A category ${category} write-off can never be for sale.`];
  return errors;
}

/** The status of a vehicle that a deal lets go: one that may not be for sale any more is looked at again. */
export const statusBack = (vehicle: Parameters<typeof wrongForSale>[0], status: VehicleStatus): VehicleStatus =>
  status === 'FOR_SALE' && Object.keys(wrongForSale(vehicle)).length > 0 ? 'IN_PREPARATION' : status;

/** Whether a change bears on the form of the VIN: itself, or what lets it be free. */
const saysOfVin = ({ vin, condition, year_of_manufacture: year, first_registered_on: registered }: VehicleChanges): boolean =>
  [vin, condition, year, registered].some((value) => value !== undefined);

const strictVin = /^[A-HJ-NPR-Z0-9]{17}$/;

function mayHaveFreeVin({ condition, year_of_manufacture: year, first_registered_on: registered }: Standing): boolean {
  return condition !== 'NEW' && (year ?? (registered === null ? Number.POSITIVE_INFINITY : Number(registered.slice(0, 4)))) < 1981;
}

/** A new vehicle names its condition; make and model are written or were found. `lacking` is what a look-up said instead of both. */
export function checkNewVehicle(
  { make, model }: Pick<Standing, 'make' | 'model'>,
  written: VehicleChanges,
  lacking: keyof typeof notNamed | null,
): void {
  if (written.condition === undefined) throw invalid('condition', 'Required for a new vehicle.');
  if (make === '' || model === '') throw new Refusal('vehicle_not_created', notNamed[lacking ?? 'unknown']);
}

const notNamed = {
  unknown: 'Make and model are missing, and no look-up of the registration yielded both.',
  refused: 'Make and model are missing, and the look-up takes this for no registration. Send both.',
  unavailable:
    'Make and model are missing, and the look-up of the registration is not available at the moment. Send both, or try again later.',
};

/** A car is in stock once, and one that is scrapped or stolen not at all. `known` are the dealership's vehicles that may be the same. */
export function checkCreatable(vehicle: Standing, known: readonly Standing[]): void {
  checkOnce(vehicle, known, 'vehicle_not_created');
  const { provenance } = vehicle;
  if (provenance?.stolen || provenance?.scrapped) {
    throw new Refusal('vehicle_not_created', `The provenance check says ${provenance.stolen ? 'stolen' : 'scrapped'}.`);
  }
}

/** Whether a car comes back into stock. */
export const returns = (before: Pick<Standing, 'status'>, after: Pick<Standing, 'status'>): boolean => !isLive(before) && isLive(after);

/** One that comes back was not bought anew meanwhile. */
export const checkReturn = (vehicle: Standing, known: readonly Standing[]): void => checkOnce(vehicle, known, 'request_refused');

function checkOnce({ id, registration, vin }: Standing, known: readonly Standing[], code: 'vehicle_not_created' | 'request_refused'): void {
  const others = known.filter((other) => other.id !== id && isLive(other));
  if (registration !== null && others.some((other) => other.registration === registration)) {
    throw new Refusal(code, `A vehicle with the registration ${registration} is already in stock.`);
  }
  if (vin !== null && others.some((other) => other.vin === vin))
    throw new Refusal(code, `A vehicle with the VIN ${vin} is already in stock.`);
}

// ---- Stock caps ----

export interface Caps {
  readonly freeStockCap: number;
  readonly sandboxStockCap: number;
  readonly sandboxStockShare: number;
}

/** How many more vehicles fit, and what is said when none does. */
export interface Room {
  readonly left: number;
  readonly code: 'plan_stock_cap_reached' | 'sandbox_stock_cap_reached';
}

/** Whether a dealership's stock is counted at all. */
export const hasCap = (plan: string, isSandbox: boolean): boolean => isSandbox || plan === 'FREE';

/** `used` counts the whole dealership, `share` what the calling dealership has in the sandbox. */
export function roomLeft(
  { plan, isSandbox, used, share }: { readonly plan: string; readonly isSandbox: boolean; readonly used: number; readonly share: number },
  caps: Caps,
): Room {
  if (isSandbox) {
    return { left: Math.min(caps.sandboxStockCap - used, caps.sandboxStockShare - share), code: 'sandbox_stock_cap_reached' };
  }
  return { left: plan === 'FREE' ? caps.freeStockCap - used : Number.POSITIVE_INFINITY, code: 'plan_stock_cap_reached' };
}

/** Only creations are refused; updates always succeed. */
export function checkRoom(vehicle: Pick<Standing, 'status' | 'deleted_at'>, { left, code }: Room): void {
  if (!counts(vehicle) || left > 0) return;
  throw new Refusal(code, undefined, { required: code === 'plan_stock_cap_reached' ? { plan: 'STANDARD' } : { restriction: 'stock_cap' } });
}

// ---- The website ----

/** Website-visible stock: visible, for sale or reserved, not deleted, at a published branch. */
export const isOnWebsite = (vehicle: Pick<Standing, 'status' | 'website_visible' | 'deleted_at'>, branchPublished: boolean): boolean =>
  branchPublished &&
  vehicle.deleted_at === null &&
  vehicle.website_visible === true &&
  (vehicle.status === 'FOR_SALE' || vehicle.status === 'RESERVED');

/** The filters a publishable key may not use: they would tell what it may not see. */
export function checkPublicFilters(query: {
  readonly vin?: unknown;
  readonly external_id?: unknown;
  readonly website_visible?: unknown;
  readonly status?: readonly string[] | undefined;
}): void {
  const errors: FieldErrors = {};
  for (const filter of ['vin', 'external_id', 'website_visible'] as const) {
    if (query[filter] !== undefined) errors[filter] = ['Not for publishable keys.'];
  }
  if (query.status?.some((status) => status !== 'FOR_SALE' && status !== 'RESERVED')) {
    errors.status = ['Publishable keys may ask for FOR_SALE and RESERVED.'];
  }
  if (Object.keys(errors).length > 0) throw invalidFields(errors);
}
