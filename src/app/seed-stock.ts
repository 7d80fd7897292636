import type { NewVehicle } from '#modules/vehicles/index.ts';
import { createVehicle } from '#modules/vehicles/index.ts';
import type { Context } from '#platform/context.ts';
import { dateIn, fromMillis, toMillis } from '#platform/dates.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import type { Body } from './drawings/drawings.ts';
import { drawingsOf } from './drawings/drawings.ts';
import type { Colour } from './drawings/paint.ts';
import { unlessMade } from './seed-once.ts';
import type { Album, Sitter } from './seed-photos.ts';
import { drawAhead, photograph } from './seed-photos.ts';

/** Statuses in the proportions of a dealership's day; every one of them is among the first eight. */
const statuses = [
  'FOR_SALE',
  'IN_PREPARATION',
  'DUE_IN',
  'RESERVED',
  'SOLD',
  'DELIVERED',
  'NOT_FOR_SALE',
  'DISPOSED',
  'FOR_SALE',
  'FOR_SALE',
  'FOR_SALE',
  'FOR_SALE',
] as const;

const models = [
  {
    make: 'Ford',
    model: 'Fiesta',
    derivative: '1.0 EcoBoost Titanium',
    body_type: 'HATCHBACK',
    doors: 5,
    fuel_type: 'PETROL',
    price: 11_495,
  },
  { make: 'Vauxhall', model: 'Corsa', derivative: '1.2 Turbo SRi', body_type: 'HATCHBACK', doors: 5, fuel_type: 'PETROL', price: 12_295 },
  { make: 'Volkswagen', model: 'Golf', derivative: '1.5 TSI Life', body_type: 'HATCHBACK', doors: 5, fuel_type: 'PETROL', price: 19_995 },
  { make: 'BMW', model: '3 Series', derivative: '320d M Sport', body_type: 'SALOON', doors: 4, fuel_type: 'DIESEL', price: 24_995 },
  { make: 'Kia', model: 'e-Niro', derivative: '64 kWh 4+', body_type: 'SUV', doors: 5, fuel_type: 'ELECTRIC', price: 22_750 },
  {
    make: 'Toyota',
    model: 'Corolla',
    derivative: '1.8 Hybrid Icon',
    body_type: 'ESTATE',
    doors: 5,
    fuel_type: 'PETROL_HYBRID',
    price: 20_495,
  },
  { make: 'Nissan', model: 'Qashqai', derivative: '1.3 DIG-T N-Connecta', body_type: 'SUV', doors: 5, fuel_type: 'PETROL', price: 17_995 },
  { make: 'Audi', model: 'A4', derivative: '40 TDI S line Avant', body_type: 'ESTATE', doors: 5, fuel_type: 'DIESEL', price: 26_500 },
] as const satisfies ({ body_type: Body } & Record<string, unknown>)[];

const colours = ['Blue', 'Black', 'White', 'Grey', 'Red', 'Silver'] as const satisfies Colour[];
const letters = 'ABCDEFGHJKLMNOPRSTUVWXY';

/** Those that are advertised, or were, have photos. */
const advertised: readonly string[] = ['FOR_SALE', 'RESERVED', 'SOLD', 'DELIVERED'];

export interface StockSeed {
  readonly branchIds: readonly string[];
  readonly vehicles: number;
  /** The first so many of the advertised have photos. */
  readonly photographed: number;
}

/** Takes the first vehicles of a fixed seed into stock, spread over the branches: the same on every machine but for ids and times. */
export async function seedStock(ctx: Context, seed: StockSeed): Promise<void> {
  for (const one of stockOf(ctx, seed)) await takeIn(ctx, one);
}

/** The same, each with its photos before the next. For outside a transaction, as files are written. */
export async function seedStockWithPhotos(ctx: Context, seed: StockSeed, album: Album): Promise<void> {
  const stock = stockOf(ctx, seed);
  drawAhead(
    album,
    stock.flatMap(({ drawings }) => drawings),
  );
  for (const one of stock) {
    await takeIn(ctx, one);
    if (one.drawings.length > 0) await photograph(ctx, album, one);
  }
}

/** The photos of a stock that was taken in without. */
export async function photographStock(ctx: Context, seed: StockSeed, album: Album): Promise<void> {
  for (const one of stockOf(ctx, seed)) if (one.drawings.length > 0) await photograph(ctx, album, one);
}

interface Seeded extends Sitter {
  readonly vehicle: ReturnType<typeof vehicleOf>;
  readonly status: (typeof statuses)[number];
}

function stockOf(ctx: Context, { branchIds, vehicles, photographed }: StockSeed): Seeded[] {
  const random = randomNumbers(20_200_101);
  let left = photographed;
  return Array.from({ length: vehicles }, (_, n) => {
    const vehicle = vehicleOf(ctx, random, n, branchIds[n % branchIds.length]!);
    const status = statuses[n % statuses.length]!;
    const { side, front, interior } = drawingsOf(vehicle);
    const drawings = advertised.includes(status) && left-- > 0 ? [side, ...(status === 'FOR_SALE' ? [front] : []), interior] : [];
    return { vehicle, status, drawings };
  });
}

/** What a deal sells is for sale until it does. */
async function takeIn(ctx: Context, { vehicle, status }: Seeded): Promise<void> {
  const ofDeal = status === 'SOLD' || status === 'DELIVERED';
  await inTransaction(ctx, (tx) => unlessMade(tx, () => createVehicle(tx, { ...vehicle, status: ofDeal ? 'FOR_SALE' : status })));
}

/** How far a deal comes. */
export type Outcome = 'QUOTE' | 'RESERVED' | 'ORDERED' | 'SOLD' | 'DELIVERED' | 'CANCELLED' | 'CREDITED';

/** A car of the seed of which a deal is made. */
export interface Traded {
  readonly external_id: string;
  readonly outcome: Outcome;
}

/** Besides those that are sold, some that are for sale: a deal of every status. */
const underWay = ['QUOTE', 'RESERVED', 'ORDERED', 'CANCELLED', 'CREDITED', 'QUOTE'] as const satisfies Outcome[];

/** The cars of the seed of which deals are made. */
export function tradedOf(ctx: Context, seed: StockSeed): Traded[] {
  const stock = stockOf(ctx, seed).map(({ vehicle: { external_id }, status }) => ({ external_id, status }));
  const sold = stock.flatMap(({ external_id, status }) =>
    status === 'SOLD' || status === 'DELIVERED' ? [{ external_id, outcome: status }] : [],
  );
  const forSale = stock.filter(({ status }) => status === 'FOR_SALE').map(({ external_id }) => external_id);
  return [...sold, ...underWay.flatMap((outcome, n) => (forSale[n] === undefined ? [] : [{ external_id: forSale[n], outcome }]))];
}

function vehicleOf(ctx: Context, random: (below: number) => number, n: number, branchId: string) {
  const { price, ...model } = models[random(models.length)]!;
  const age = 1 + random(7);
  const year = Number(ctx.now.slice(0, 4)) - age;
  const daysInStock = random(90);
  return {
    ...model,
    external_id: `seed-${n + 1}`,
    branch_id: branchId,
    type: 'CAR',
    condition: 'USED',
    registration: registrationOf(random, year),
    year_of_manufacture: year,
    mileage: age * (6_000 + random(5_000)),
    transmission: model.fuel_type === 'ELECTRIC' || random(3) === 0 ? 'AUTOMATIC' : 'MANUAL',
    colour: colours[random(colours.length)]!,
    seats: 5,
    previous_keepers: 1 + random(3),
    number_of_keys: 2,
    service_history: random(3) === 0 ? 'PART_SERVICE_HISTORY' : 'FULL_SERVICE_HISTORY',
    vat_scheme: random(5) === 0 ? 'VAT_QUALIFYING' : 'MARGIN',
    asking_price: Math.round(price * (1 - age * 0.06)) * 100,
    stocked_on: dateIn(ctx.dealer.timeZone, fromMillis(toMillis(ctx.now) - daysInStock * 86_400_000)),
    attention_grabber: 'Fully prepared',
    description: `A ${year} ${model.make} ${model.model} ${model.derivative}, inspected and prepared in our own workshop.`,
    features: [
      { name: 'Air conditioning', type: 'STANDARD' },
      { name: 'Bluetooth', type: 'STANDARD' },
      { name: 'Parking sensors', type: 'OPTIONAL' },
    ],
    costs: { purchase_price: Math.round(price * (0.82 - age * 0.05)) * 100, purchase_source: 'AUCTION' },
  } satisfies NewVehicle;
}

/** A plate of the present British form for a year. */
function registrationOf(random: (below: number) => number, year: number): string {
  const letter = () => letters.charAt(random(letters.length));
  const age = String((year % 100) + (random(2) === 0 ? 0 : 50)).padStart(2, '0');
  return `${letter()}${letter()}${age}${letter()}${letter()}${letter()}`;
}

/** Numbers from 0 to below a bound, the same for the same seed (mulberry32). */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (((mixed ^ (mixed >>> 14)) >>> 0) % 1_000_003) % below;
  };
}
