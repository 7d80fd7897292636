import { z } from 'zod';
import { date, text, whole } from '../contract.ts';
import { ask, at, unexpected } from './ask.ts';
import type { FoundVehicle, LookupSettings, Provider } from './lookup.ts';
import { unknownVehicle } from './lookup.ts';

/** The DVLA's Vehicle Enquiry Service: all that the registration document says but the model. */
export function dvlaEnquiry({ apiUrl, apiKey }: NonNullable<LookupSettings['dvla']>): Provider {
  const url = at(apiUrl, '/vehicle-enquiry/v1/vehicles');
  const headers = { 'content-type': 'application/json', accept: 'application/json', 'x-api-key': apiKey };
  return async (registration, signal) => {
    const told = await ask(url, { method: 'POST', headers, body: JSON.stringify({ registrationNumber: registration }), signal });
    if (told.status === 200) return toVehicle(enquiry.parse(told.json));
    if (told.status === 404) return 'unknown';
    if (told.status === 400) return 'refused';
    throw unexpected(told);
  };
}

// A year that is still to come is none that may be written.
const year = whole(1885, 9999).refine((said) => said <= new Date().getUTCFullYear() + 1);

/** What is not as published is as good as not said; only an answer without a make that is a text is no answer. */
const enquiry = z.object({
  make: text(60).nullish(),
  colour: text(60).nullish().catch(null),
  fuelType: text(60).nullish().catch(null),
  yearOfManufacture: year.nullish().catch(null),
  engineCapacity: whole(0, 999_999).nullish().catch(null),
  co2Emissions: whole(0, 999_999).nullish().catch(null),
  euroStatus: text(60).nullish().catch(null),
  dateOfLastV5CIssued: date.nullish().catch(null),
  motStatus: text(60).nullish().catch(null),
  motExpiryDate: date.nullish().catch(null),
  taxStatus: text(60).nullish().catch(null),
  taxDueDate: date.nullish().catch(null),
});

function toVehicle(said: z.output<typeof enquiry>): FoundVehicle {
  return {
    ...unknownVehicle,
    make: said.make ?? null,
    colour: said.colour ?? null,
    fuelType: coded(fuelTypes, said.fuelType),
    yearOfManufacture: said.yearOfManufacture ?? null,
    engineCapacityCc: said.engineCapacity ?? null,
    co2GKm: said.co2Emissions ?? null,
    emissionClass: said.euroStatus ?? null,
    v5cIssuedOn: said.dateOfLastV5CIssued ?? null,
    motStatus: coded(motStatuses, said.motStatus),
    motExpiresOn: said.motExpiryDate ?? null,
    taxStatus: coded(taxStatuses, said.taxStatus),
    taxDueOn: said.taxDueDate ?? null,
  };
}

const coded = <C>(codes: ReadonlyMap<string, C>, said: string | null | undefined): C | null => codes.get(said?.toUpperCase() ?? '') ?? null;

/** `HYBRID ELECTRIC` is none of them: it does not say which fuel, nor whether it is plugged in. */
const fuelTypes = new Map<string, FoundVehicle['fuelType']>([
  ['PETROL', 'PETROL'],
  ['DIESEL', 'DIESEL'],
  ['HEAVY OIL', 'DIESEL'],
  ['ELECTRICITY', 'ELECTRIC'],
  ['ELECTRIC', 'ELECTRIC'],
  ['ELECTRIC DIESEL', 'DIESEL_HYBRID'],
  ['GAS BI-FUEL', 'BI_FUEL'],
  ['GAS DIESEL', 'BI_FUEL'],
  ['FUEL CELLS', 'HYDROGEN'],
  ['GAS', 'OTHER'],
  ['STEAM', 'OTHER'],
  ['OTHER', 'OTHER'],
]);

const motStatuses = new Map<string, FoundVehicle['motStatus']>([
  ['VALID', 'VALID'],
  ['NOT VALID', 'NOT_VALID'],
  ['NO DETAILS HELD BY DVLA', 'NO_DETAILS'],
  ['NO RESULTS RETURNED', 'NO_RESULTS'],
]);

const taxStatuses = new Map<string, FoundVehicle['taxStatus']>([
  ['TAXED', 'TAXED'],
  ['UNTAXED', 'UNTAXED'],
  ['SORN', 'SORN'],
  ['NOT TAXED FOR ON ROAD USE', 'NOT_TAXED_FOR_ROAD_USE'],
  ['NOT TAXED FOR ROAD USE', 'NOT_TAXED_FOR_ROAD_USE'],
]);
