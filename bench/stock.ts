import type { z } from 'zod';
import type { newVehicle } from '#modules/vehicles/contract.ts';

const models = [
  ['Ford', 'Focus', '1.0 EcoBoost Titanium', 'HATCHBACK', 'PETROL'],
  ['Vauxhall', 'Corsa', '1.4 SE Nav', 'HATCHBACK', 'PETROL'],
  ['Volkswagen', 'Golf', '2.0 TDI Match', 'HATCHBACK', 'DIESEL'],
  ['BMW', '3 Series', '320d M Sport Touring', 'ESTATE', 'DIESEL'],
  ['Audi', 'Q5', '40 TDI quattro S line', 'SUV', 'DIESEL'],
  ['Toyota', 'Yaris', '1.5 Hybrid Icon', 'HATCHBACK', 'PETROL_HYBRID'],
  ['Tesla', 'Model 3', 'Long Range', 'SALOON', 'ELECTRIC'],
] as const;

const features = [
  'Air conditioning',
  'Alloy wheels',
  'Apple CarPlay',
  'Automatic headlights',
  'Blind spot monitor',
  'Cruise control',
  'Electric windows',
  'Heated front seats',
  'Keyless entry',
  'Lane assist',
  'LED headlights',
  'Parking sensors',
  'Rear view camera',
  'Satellite navigation',
  'Split folding rear seats',
];

const description =
  'One careful owner from new, serviced on time and supplied with a full history, two keys and a fresh inspection before collection. ' +
  'Every car is prepared in our own workshop and comes with a warranty that can be extended to three years. ' +
  'Part exchange is welcome, finance can be arranged, and we deliver anywhere on the mainland. ' +
  'Please call ahead so that the car is at the front when you arrive.';

/** A used car as a dealer's system would send it: about 1.7 kB of JSON, every one a little different. */
export function vehicleNumber(n: number) {
  const [make, model, derivative, bodyType, fuelType] = models[n % models.length]!;
  const year = 2012 + (n % 13);
  return {
    status: 'FOR_SALE',
    registration: registrationNumber(n),
    condition: 'USED',
    make,
    model,
    derivative,
    body_type: bodyType,
    fuel_type: fuelType,
    transmission: n % 3 === 0 ? 'AUTOMATIC' : 'MANUAL',
    drivetrain: 'FRONT_WHEEL',
    colour: ['Black', 'White', 'Grey', 'Blue', 'Red'][n % 5]!,
    interior_colour: 'Anthracite',
    upholstery: 'Cloth',
    doors: 5,
    seats: 5,
    gears: 6,
    cylinders: 4,
    engine_capacity_cc: 1_498,
    engine_power_bhp: 120 + (n % 80),
    badge_engine_size_litres: 1.5,
    co2_g_km: 109,
    fuel_economy_combined_mpg: 55.4,
    top_speed_mph: 124,
    insurance_group: '17E',
    first_registered_on: `${year}-03-01`,
    year_of_manufacture: year,
    mileage: 4_000 + ((n * 977) % 90_000),
    previous_keepers: 1,
    number_of_keys: 2,
    mot_expires_on: '2030-02-28',
    service_history: 'FULL_SERVICE_HISTORY',
    warranty_months: 12,
    conditions: { interior: 'EXCELLENT', body: 'GOOD', tyres: 'GOOD' },
    write_off_category: 'NONE',
    asking_price: 599_500 + ((n * 12_500) % 2_400_000),
    vat_scheme: 'MARGIN',
    price_vat_status: 'INC_VAT',
    costs: { purchase_price: 499_500 + ((n * 12_500) % 2_000_000), purchased_on: '2025-01-15', purchase_source: 'AUCTION' },
    stocked_on: '2025-01-20',
    attention_grabber: 'Low mileage',
    description,
    features: features.map((name) => ({ name, type: 'STANDARD' })),
    metadata: { source: 'bench', row: `${n}` },
  } satisfies z.input<typeof newVehicle>;
}

export const registrationNumber = (n: number): string => `BN${String(n).padStart(6, '0')}`;
