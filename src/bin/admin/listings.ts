import type { NewVehicle } from './vehicle-batches.ts';

/** A row of the file, by the names of its columns. */
export type Listing = Readonly<Record<string, string>>;

/** The columns a file of listings must have. */
export const columns = [
  'make',
  'model',
  'year',
  'price_gbp',
  'transmission',
  'mileage',
  'fuel_type',
  'tax_gbp',
  'mpg',
  'engine_size_litres',
] as const;

/** Why a row was not taken over as it stands. */
export const reasons = {
  year_after_next_year: 'the year lies after next year and was dropped',
  transmission_semi_auto: 'transmission Semi-Auto became AUTOMATIC',
  transmission_other: 'transmission Other was dropped',
  transmission_unknown: 'the transmission is none we know and was dropped',
  fuel_type_hybrid: 'fuel Hybrid became PETROL_HYBRID',
  fuel_type_other: 'fuel Other became OTHER',
  fuel_type_unknown: 'the fuel is none we know and became OTHER',
  price_missing: 'there is no price: it is on application',
  number_unreadable: 'a number could not be read and was dropped',
} as const;

export type Reason = keyof typeof reasons;

export interface Mapped {
  readonly vehicle: NewVehicle;
  readonly adjusted: readonly Reason[];
}

/** A listing as a vehicle for sale. `externalId` is the name of its file and the number of its row. */
export function toVehicle(row: Listing, externalId: string, thisYear: number): Mapped {
  const adjusted = new Set<Reason>();
  const choose = <T>(column: string, known: Readonly<Record<string, Choice<T>>>, otherwise: Choice<T>): T | null => {
    const given = cell(row, column);
    if (given === null) return null;
    const [value, reason] = known[given.toLowerCase()] ?? otherwise;
    if (reason) adjusted.add(reason);
    return value;
  };
  const number = (column: string, decimals = 0): number | null => {
    const given = cell(row, column);
    if (given === null) return null;
    const value = Number(given.replaceAll(',', ''));
    if (Number.isFinite(value) && value >= 0) return Number(value.toFixed(decimals));
    adjusted.add('number_unreadable');
    return null;
  };

  const year = number('year');
  const tooLate = year !== null && year > thisYear + 1;
  if (tooLate) adjusted.add('year_after_next_year');
  const pounds = number('price_gbp', 2);
  if (pounds === null) adjusted.add('price_missing');
  const tax = cell(row, 'tax_gbp');

  const vehicle = {
    external_id: externalId,
    condition: 'USED',
    status: 'FOR_SALE',
    make: cell(row, 'make'),
    model: cell(row, 'model'),
    year_of_manufacture: tooLate ? null : year,
    ...(pounds === null ? { price_on_application: true } : { asking_price: Math.round(pounds * 100) }),
    mileage: number('mileage'),
    transmission: choose('transmission', transmissions, [null, 'transmission_unknown']),
    fuel_type: choose('fuel_type', fuelTypes, ['OTHER', 'fuel_type_unknown']),
    fuel_economy_combined_mpg: number('mpg', 1),
    badge_engine_size_litres: number('engine_size_litres', 1),
    metadata: tax === null ? {} : { tax_gbp: tax },
  };
  return { vehicle, adjusted: [...adjusted] };
}

type Choice<T> = readonly [T | null, Reason?];

const transmissions: Readonly<Record<string, Choice<'MANUAL' | 'AUTOMATIC'>>> = {
  manual: ['MANUAL'],
  automatic: ['AUTOMATIC'],
  'semi-auto': ['AUTOMATIC', 'transmission_semi_auto'],
  other: [null, 'transmission_other'],
};

const fuelTypes: Readonly<Record<string, Choice<string>>> = {
  petrol: ['PETROL'],
  diesel: ['DIESEL'],
  electric: ['ELECTRIC'],
  hybrid: ['PETROL_HYBRID', 'fuel_type_hybrid'],
  other: ['OTHER', 'fuel_type_other'],
};

function cell(row: Listing, column: string): string | null {
  const text = row[column]?.trim() ?? '';
  return text === '' ? null : text;
}
