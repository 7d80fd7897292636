import type { Logger } from 'pino';
import { builtin } from './builtin.ts';
import { dvlaEnquiry } from './dvla.ts';
import { dvsaHistory } from './dvsa.ts';
import type { FoundVehicle, Lacking, Lookup, LookupSettings, Provider, VehicleLookup } from './lookup.ts';
import { lookupTimeoutMs } from './lookup.ts';

/** Opens the providers that the settings name. */
export function openLookup({ dvla, dvsa }: LookupSettings, log: Logger, timeoutMs = lookupTimeoutMs): VehicleLookup {
  const providers = [
    ...(dvla ? [guarded('DVLA', dvlaEnquiry(dvla), log, timeoutMs)] : []),
    ...(dvsa ? [guarded('DVSA', dvsaHistory(dvsa), log, timeoutMs)] : []),
  ];
  if (providers.length === 0) return builtinLookup;
  return { find: async (registration) => together(await Promise.all(providers.map((ask) => ask(registration)))) };
}

/** The provider that asks nobody, and knows the plates of the sandbox. */
export const builtinLookup: VehicleLookup = { find: async (registration) => together([builtin(registration)]) };

const guarded = (provider: string, ask: Provider, log: Logger, timeoutMs: number) => async (registration: string) => {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    return await Promise.race([ask(registration, signal), overdue(signal)]);
  } catch (error) {
    log.warn({ provider, err: error }, 'a vehicle look-up was not answered');
    return 'unavailable';
  }
};

/** Rejects when the time is over, whatever the provider waits for. */
const overdue = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));

/** What the providers say together; where two say the same thing, the first is heard. */
function together(answers: readonly (FoundVehicle | Lacking)[]): Lookup {
  const vehicles = answers.filter((answer) => typeof answer !== 'string');
  const found = vehicles.length === 0 ? null : vehicles.reduce(completed);
  if (found?.make && found.model) return { found, lacking: null };
  return { found, lacking: (['unavailable', 'refused'] as const).find((why) => answers.includes(why)) ?? 'unknown' };
}

const completed = (first: FoundVehicle, second: FoundVehicle): FoundVehicle => ({
  ...first,
  ...Object.fromEntries(Object.entries(second).filter(([field]) => first[field as keyof FoundVehicle] === null)),
});
