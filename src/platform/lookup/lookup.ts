/** Who knows which vehicle has a registration: the one interface behind which the providers are. */
export interface VehicleLookup {
  /** Never rejects: a provider that is slow, limited, broken or down is an answer as well. */
  find(registration: string): Promise<Lookup>;
}

/** What came of a look-up. */
export interface Lookup {
  readonly found: FoundVehicle | null;
  /** Why make and model are not both known; null when they are. */
  readonly lacking: Lacking | null;
}

/** Nobody knows it, a provider says it is no registration, or a provider could not be asked. */
export type Lacking = 'unknown' | 'refused' | 'unavailable';

/** What a provider says of a vehicle; null is what it does not say. */
export interface FoundVehicle {
  readonly make: string | null;
  readonly model: string | null;
  readonly colour: string | null;
  readonly fuelType: 'PETROL' | 'DIESEL' | 'ELECTRIC' | 'DIESEL_HYBRID' | 'BI_FUEL' | 'HYDROGEN' | 'OTHER' | null;
  readonly yearOfManufacture: number | null;
  readonly engineCapacityCc: number | null;
  readonly co2GKm: number | null;
  readonly emissionClass: string | null;
  readonly v5cIssuedOn: string | null;
  readonly motStatus: 'VALID' | 'NOT_VALID' | 'NO_DETAILS' | 'NO_RESULTS' | null;
  readonly motExpiresOn: string | null;
  readonly taxStatus: 'TAXED' | 'UNTAXED' | 'SORN' | 'NOT_TAXED_FOR_ROAD_USE' | null;
  readonly taxDueOn: string | null;
}

/** A vehicle of which nothing is known. */
export const unknownVehicle: FoundVehicle = {
  make: null,
  model: null,
  colour: null,
  fuelType: null,
  yearOfManufacture: null,
  engineCapacityCc: null,
  co2GKm: null,
  emissionClass: null,
  v5cIssuedOn: null,
  motStatus: null,
  motExpiresOn: null,
  taxStatus: null,
  taxDueOn: null,
};

/** Which providers are asked: none is the built-in one. */
export interface LookupSettings {
  readonly dvla: { readonly apiUrl: string; readonly apiKey: string } | null;
  readonly dvsa: {
    readonly apiUrl: string;
    readonly apiKey: string;
    readonly tokenUrl: string;
    readonly clientId: string;
    readonly clientSecret: string;
  } | null;
}

/** Where the providers answer, unless the operator says otherwise. */
export const publishedUrls = { dvla: 'https://driver-vehicle-licensing.api.gov.uk', dvsa: 'https://history.mot.api.gov.uk' };

/** A provider has answered whole within this time, or is as good as down. */
export const lookupTimeoutMs = 5_000;

/** A provider: the vehicle, or why there is none. Rejects when it could not be asked. */
export type Provider = (registration: string, signal: AbortSignal) => Promise<FoundVehicle | Lacking>;
