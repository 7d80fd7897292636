import assert from 'node:assert/strict';
import { test } from 'node:test';
import { batchItem } from '#modules/vehicles/contract.ts';
import { toVehicle } from './listings.ts';

const row = {
  make: ' Audi ',
  model: 'A1',
  year: '2017',
  price_gbp: '12500',
  transmission: 'Manual',
  mileage: '15735',
  fuel_type: 'Petrol',
  tax_gbp: '150',
  mpg: '55.4',
  engine_size_litres: '1.4',
};
const map = (changes: Partial<typeof row>) => toVehicle({ ...row, ...changes }, 'listings.csv:1', 2026);

test('a listing becomes a used car for sale', () => {
  const { vehicle, adjusted } = map({});
  assert.deepEqual(vehicle, {
    external_id: 'listings.csv:1',
    condition: 'USED',
    status: 'FOR_SALE',
    make: 'Audi',
    model: 'A1',
    year_of_manufacture: 2017,
    asking_price: 1_250_000,
    mileage: 15_735,
    transmission: 'MANUAL',
    fuel_type: 'PETROL',
    fuel_economy_combined_mpg: 55.4,
    badge_engine_size_litres: 1.4,
    metadata: { tax_gbp: '150' },
  });
  assert.deepEqual(adjusted, []);
});

test('what is not taken over as it stands is counted by its reason', () => {
  const cases = [
    [{ year: '2060' }, { year_of_manufacture: null }, ['year_after_next_year']],
    [{ year: '2027' }, { year_of_manufacture: 2027 }, []],
    [{ transmission: 'Semi-Auto' }, { transmission: 'AUTOMATIC' }, ['transmission_semi_auto']],
    [{ transmission: 'Other' }, { transmission: null }, ['transmission_other']],
    [{ transmission: 'Tiptronic' }, { transmission: null }, ['transmission_unknown']],
    [{ fuel_type: 'Hybrid' }, { fuel_type: 'PETROL_HYBRID' }, ['fuel_type_hybrid']],
    [{ fuel_type: 'Other' }, { fuel_type: 'OTHER' }, ['fuel_type_other']],
    [{ fuel_type: 'LPG' }, { fuel_type: 'OTHER' }, ['fuel_type_unknown']],
    [{ price_gbp: '' }, { asking_price: undefined, price_on_application: true }, ['price_missing']],
    [{ mileage: 'low' }, { mileage: null }, ['number_unreadable']],
    [{ year: '2060', fuel_type: 'Hybrid' }, { year_of_manufacture: null }, ['year_after_next_year', 'fuel_type_hybrid']],
  ] as const;
  for (const [changes, expected, reasons] of cases) {
    const { vehicle, adjusted } = map(changes);
    for (const [field, value] of Object.entries(expected)) assert.equal(vehicle[field], value, `${JSON.stringify(changes)} ${field}`);
    assert.deepEqual(adjusted, reasons, JSON.stringify(changes));
  }
});

test('blank cells are unknown, and every mapping is a valid item of a batch', () => {
  const { vehicle, adjusted } = map({
    year: '',
    transmission: '',
    mileage: ' ',
    fuel_type: '',
    tax_gbp: '',
    mpg: '',
    engine_size_litres: '',
  });
  const { year_of_manufacture, transmission, mileage, fuel_type, fuel_economy_combined_mpg, badge_engine_size_litres, metadata } = vehicle;
  assert.deepEqual(
    [year_of_manufacture, transmission, mileage, fuel_type, fuel_economy_combined_mpg, badge_engine_size_litres, metadata, adjusted],
    [null, null, null, null, null, null, {}, []],
  );
  for (const changes of [
    {},
    { year: '' },
    { engine_size_litres: '2.1' },
    { engine_size_litres: '0' },
    { mpg: '470.8' },
    { price_gbp: '' },
  ]) {
    assert.equal(batchItem.safeParse(map(changes).vehicle).success, true, JSON.stringify(changes));
  }
});
