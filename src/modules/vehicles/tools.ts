import { z } from 'zod';
import { id, minorUnits } from '#platform/contract.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { among, inMinorUnits, nextCursor, oneOf, overwrites, pageInput, reads, sought, tool } from '#platform/mcp/tool.ts';
import { updateVehicle } from './commands.ts';
import { registration, repricedVehicle, stockSummary, vehicle, vehicleInBrief, vehicleStatuses } from './contract.ts';
import * as stock from './reads.ts';

const vehicleId = id.describe('The id of the vehicle, a UUID from an earlier answer.');
const plate = registration.describe('The registration (number plate), such as AB12 CDE; spaces and case do not matter.');

const searchVehicles = tool({
  name: 'search_vehicles',
  title: 'Search vehicles',
  description:
    'Lists the vehicles of the dealership, filtered by status, make, model or registration; filters given together must all match. ' +
    'Use it to find a vehicle, or to see what is in stock; for totals use stock_summary, for everything about one vehicle get_vehicle. ' +
    'To see what is offered for sale, ask for status FOR_SALE: without a status sold and disposed vehicles are listed too. ' +
    'Prices are in minor units of the currency that stands in them: {"amount": 1299500, "currency": "GBP"} is 12,995.00. A vehicle with price_on_application has no asking_price.',
  scope: 'vehicles:read',
  hints: reads,
  input: z.strictObject({
    status: oneOf(vehicleStatuses)
      .optional()
      .describe(
        'DUE_IN: bought, not on site. IN_PREPARATION: on site, being prepared. FOR_SALE: offered. RESERVED: held for a buyer. SOLD: invoiced. DELIVERED: handed over. NOT_FOR_SALE: held back. DISPOSED: to trade, auction or scrap.',
      ),
    make: sought(60).optional().describe('The exact make, such as Ford; case does not matter.'),
    model: sought(60).optional().describe('The exact model, such as Fiesta; case does not matter.'),
    registration: plate.optional(),
    ...pageInput,
  }),
  output: z.object({ vehicles: z.array(vehicleInBrief), next_cursor: nextCursor }),
  refusals: {},
  async run(ctx, { limit, cursor, status, make, model, registration }) {
    const filters = { status: among(status), make: among(make), model: among(model), registration: among(registration) };
    const { data, meta } = await stock.listVehicles(ctx, { limit, cursor, ...filters });
    return { vehicles: data, next_cursor: meta.next_cursor };
  },
});

const getVehicle = tool({
  name: 'get_vehicle',
  title: 'Read a vehicle',
  description:
    'Everything about one vehicle: specification, history, prices, photos, adverts, notes. Give exactly one of id, registration and stock_number. ' +
    'Where a registration was in stock more than once, the vehicle that is still the dealership’s is meant, then the newest. ' +
    'Amounts are in minor units. costs is null unless this connection may see costs.',
  scope: 'vehicles:read',
  hints: reads,
  input: z
    .strictObject({
      id: vehicleId.optional(),
      registration: plate.optional(),
      stock_number: sought(40).optional().describe('The dealership’s own number of the vehicle, as answers show it.'),
    })
    .refine((given) => Object.values(given).filter((value) => value !== undefined).length === 1, {
      path: ['id'],
      error: 'Give exactly one of id, registration and stock_number.',
    }),
  output: vehicle,
  refusals: { not_found: 'nothing visible has it. Look for the vehicle with search_vehicles.' },
  run: (ctx, { id, ...sought }) => (id === undefined ? stock.findVehicle(ctx, sought) : stock.getVehicle(ctx, id)),
});

const updateVehiclePrice = tool({
  name: 'update_vehicle_price',
  title: 'Change the price of a vehicle',
  description:
    'Sets the asking price of one vehicle, or marks it price on application. The price that stood there is overwritten, and wherever the vehicle is advertised the new one shows at once: name vehicle, old and new price to the user, and have them agree first. ' +
    `Give either asking_price, an integer in ${inMinorUnits}, or price_on_application: true. ` +
    'Nothing else of the vehicle is changed. The answer has the price it replaced in before; to undo the change, set that again.',
  scope: 'vehicles:write',
  hints: overwrites,
  input: z
    .strictObject({
      id: vehicleId,
      asking_price: minorUnits.optional().describe('In minor units: 1299500 is 12,995.00 of a currency with two decimals.'),
      price_on_application: z.literal(true, { error: 'Only true: to show a price, give asking_price.' }).optional(),
    })
    .refine(({ asking_price, price_on_application }) => (asking_price === undefined) !== (price_on_application === undefined), {
      path: ['asking_price'],
      error: 'Give either asking_price or price_on_application: true.',
    }),
  output: repricedVehicle,
  refusals: {
    not_found: 'no such vehicle is visible. Look for it with search_vehicles.',
    vehicle_in_deal: 'it is ordered or sold, so its price stays. Tell the user; do not retry.',
    stock_busy: 'others are writing to the stock. Wait five seconds and call again, once or twice.',
  },
  run: (ctx, { id, ...price }) =>
    inTransaction(
      ctx,
      async (tx) => {
        const before = await stock.getVehicle(tx, id);
        return { ...(await updateVehicle(tx, id, price)), before };
      },
      'stock_busy',
    ),
});

const summariseStock = tool({
  name: 'stock_summary',
  title: 'Summarise the stock',
  description:
    'How many vehicles there are of each status, and how many are on sale for how much in all. Use it for totals instead of paging through search_vehicles. ' +
    'on_sale counts status FOR_SALE; asking_value is in minor units and leaves out vehicles whose price is on application.',
  scope: 'vehicles:read',
  hints: reads,
  input: z.strictObject({
    branch_id: id.optional().describe('Only this branch: the branch_id of a vehicle. All that are visible unless given.'),
  }),
  output: stockSummary,
  refusals: {},
  run: (ctx, { branch_id }) => stock.stockSummary(ctx, branch_id),
});

export const vehicleTools = [searchVehicles, getVehicle, updateVehiclePrice, summariseStock];
