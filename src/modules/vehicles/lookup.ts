import type { Context } from '#platform/context.ts';
import type { FoundVehicle, Lookup } from '#platform/lookup/lookup.ts';
import { builtinLookup } from '#platform/lookup/open-lookup.ts';
import type { VehicleChanges } from './contract.ts';

/** What only a look-up makes a new vehicle of: it has a registration, but lacks make or model. */
export const isBare = ({ registration, make, model }: VehicleChanges): boolean =>
  typeof registration === 'string' && (make === undefined || model === undefined);

/** Asks the providers for one vehicle. */
export async function lookUp(ctx: Context, { registration }: VehicleChanges): Promise<Lookup | undefined> {
  return typeof registration === 'string' ? providerFor(ctx).find(registration) : undefined;
}

/** The look-ups of one piece of work. */
export interface LookUps {
  readonly known: ReadonlyMap<string, Lookup>;
  /** Asks for these, and knows what came of them. */
  ask(registrations: readonly string[]): Promise<void>;
}

/** Asks a few at a time, and nobody any more when the time spent on asking is over. */
export function lookUpsWithin(ctx: Context, mostMs: number): LookUps {
  const provider = providerFor(ctx);
  const known = new Map<string, Lookup>();
  let leftMs = mostMs;
  return {
    known,
    async ask(registrations) {
      const until = performance.now() + leftMs;
      const open = new Set(registrations).values();
      const askNext = async () => {
        for (const registration of open) known.set(registration, performance.now() < until ? await provider.find(registration) : overdue);
      };
      await Promise.all(Array.from({ length: atOnce }, askNext));
      leftMs = until - performance.now();
    },
  };
}

/** The DVSA lets ten requests through at a time, of all processes together. */
const atOnce = 4;

const overdue: Lookup = { found: null, lacking: 'unavailable' };

/** The sandbox asks nobody, so that its plates hold wherever it runs. */
function providerFor({ dealer, service, tx }: Context) {
  if (tx) throw new Error('Nothing waits on the network inside a transaction.');
  return dealer.isSandbox ? builtinLookup : service.lookup;
}

/** What was found, as a vehicle keeps it. The day of its first registration is not: the DVLA knows the month. */
export const columnsOf = (found: FoundVehicle) => ({
  make: found.make ?? '',
  model: found.model ?? '',
  colour: found.colour,
  fuel_type: found.fuelType,
  year_of_manufacture: found.yearOfManufacture,
  engine_capacity_cc: found.engineCapacityCc,
  co2_g_km: found.co2GKm,
  emission_class: found.emissionClass,
  v5c_issued_on: found.v5cIssuedOn,
  mot_status: found.motStatus,
  mot_expires_on: found.motExpiresOn,
  tax_status: found.taxStatus,
  tax_due_on: found.taxDueOn,
});
