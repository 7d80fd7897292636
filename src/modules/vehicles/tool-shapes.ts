import { z } from 'zod';
import { money } from '#platform/contract.ts';
import { vehicleStatuses } from './codes.ts';
import { vehicle } from './shapes.ts';

// What tools answer that no operation does.

/** A vehicle as a list for a model shows it: what tells it from others, and what it is offered for. */
export const vehicleInBrief = vehicle.pick({
  id: true,
  stock_number: true,
  branch_id: true,
  branch: true,
  status: true,
  registration: true,
  title: true,
  make: true,
  model: true,
  derivative: true,
  condition: true,
  type: true,
  body_type: true,
  fuel_type: true,
  transmission: true,
  colour: true,
  year_of_manufacture: true,
  mileage: true,
  mileage_unit: true,
  asking_price: true,
  price_on_application: true,
  previous_asking_price: true,
  days_in_stock: true,
  website_visible: true,
  deal_id: true,
  updated_at: true,
});

/** The vehicle with its new price, and the price it had. */
export const repricedVehicle = vehicleInBrief
  .extend({ before: vehicle.pick({ asking_price: true, price_on_application: true }).describe('What this call replaced.') })
  .describe('the vehicle in brief with its new price, and in `before` the price it had');

export const stockSummary = z.object({
  by_status: z
    .array(
      z.object({
        status: z.string().describe(`One of ${vehicleStatuses.join(', ')}.`),
        name: z.string().describe('As the dealership calls it.'),
        count: z.int(),
      }),
    )
    .describe('Every status, in the dealership’s order.'),
  on_sale: z
    .object({
      count: z.int(),
      asking_value: money.describe('The sum of the asking prices.'),
      price_on_application_count: z.int().describe('Those without a price, which the sum leaves out.'),
    })
    .describe('The vehicles that are FOR_SALE.'),
});
export type StockSummary = z.output<typeof stockSummary>;
