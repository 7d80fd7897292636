import type { FoundVehicle, Lacking } from './lookup.ts';

/** The plates of the DVLA's own test environment, with a model to the one that is found. Any other plate is unknown. */
export function builtin(registration: string): FoundVehicle | Lacking {
  if (registration === known) return { ...fordFocus, taxDueOn: inAYear() };
  return plates.get(registration) ?? 'unknown';
}

const known = 'AA19AAA';

const plates: ReadonlyMap<string, Lacking> = new Map([
  ['ER19NFD', 'unknown'],
  ['ER19BAD', 'refused'],
  ['ER19THR', 'unavailable'],
  ['ER19ERR', 'unavailable'],
  ['ER19MNT', 'unavailable'],
]);

const fordFocus: FoundVehicle = {
  make: 'FORD',
  model: 'FOCUS',
  colour: 'RED',
  fuelType: 'PETROL',
  yearOfManufacture: 2019,
  engineCapacityCc: 2000,
  co2GKm: 300,
  emissionClass: 'EURO1',
  v5cIssuedOn: '2019-05-20',
  motStatus: 'NO_DETAILS',
  motExpiresOn: null,
  taxStatus: 'TAXED',
  taxDueOn: null,
};

function inAYear(): string {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear() + 1, now.getUTCMonth(), 1)).toISOString().slice(0, 10);
}
