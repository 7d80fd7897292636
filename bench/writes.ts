import { measureCreation } from './creation.ts';
import type { Ground } from './ground.ts';
import { registrationNumber, vehicleNumber } from './stock.ts';

/** A vehicle created. */
export const measureWrites = (ground: Ground): Promise<void> =>
  measureCreation(ground, { title: 'Writes', path: '/v1/vehicles', shows: 'vehicle', bodies: { 'a vehicle': body } });

/** A car is in stock once, so each has a registration of its own. */
function body(): string {
  const n = made++;
  return texts[n % texts.length]!.replace(/BN\d{6}/, registrationNumber(n));
}

const texts = Array.from({ length: 200 }, (_, n) => JSON.stringify(vehicleNumber(n)));
let made = 0;
