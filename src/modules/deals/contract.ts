import type { z } from 'zod';
import { anyOf, byId, codeOf, dateOrMoment, eventType, id, operation, privateKeys, recordListQuery } from '#platform/contract.ts';
import { dealStatuses } from './codes.ts';
import { deal, dealChanges, dealType, newDeal } from './shapes.ts';

export * from './codes.ts';
export * from './shapes.ts';

const tag = 'Deals';
const readers = { scopes: ['sales:read'], kinds: privateKeys } as const;
const writers = { scopes: ['sales:write'], kinds: privateKeys } as const;

const from = (what: string) => dateOrMoment.optional().describe(`${what} at or after this; a date is a day in the dealership’s time zone.`);
const to = (what: string) => dateOrMoment.optional().describe(`${what} at or before this; of a date the whole day counts.`);

export const dealListQuery = recordListQuery({
  status: anyOf(codeOf('deal-statuses', dealStatuses)).optional(),
  type: anyOf(dealType).optional(),
  customer_id: anyOf(id).optional(),
  vehicle_id: anyOf(id).optional(),
  enquiry_id: anyOf(id).optional(),
  salesperson_id: anyOf(id).optional(),
  sold_from: from('Sold'),
  sold_to: to('Sold'),
  handover_from: from('Handover scheduled'),
  handover_to: to('Handover scheduled'),
});
export type DealListQuery = z.output<typeof dealListQuery>;

export const listDeals = operation({
  id: 'deals.list',
  method: 'GET',
  path: '/v1/deals',
  tag,
  summary: 'List deals',
  description: 'In the order of `updated_at`.',
  access: readers,
  query: dealListQuery,
  success: { status: 200, data: deal, shape: 'page' },
  refusals: ['validation_failed'],
});

export const getDeal = operation({
  id: 'deals.get',
  method: 'GET',
  path: '/v1/deals/{id}',
  tag,
  summary: 'Read a deal',
  access: readers,
  params: byId,
  success: { status: 200, data: deal },
  refusals: ['not_found'],
});

export const createDeal = operation({
  id: 'deals.create',
  method: 'POST',
  path: '/v1/deals',
  tag,
  summary: 'Create a deal',
  description: 'A QUOTE unless a `status` is given; it holds no vehicle. RESERVED and ORDERED need a vehicle and an enquiry.',
  access: writers,
  body: newDeal,
  success: { status: 201, data: deal, location: '/v1/deals/{id}' },
  refusals: [
    'insufficient_scope',
    'scope_not_permitted_for_owner',
    'branch_move_not_permitted',
    'external_id_taken',
    'stock_busy',
    'deal_has_no_vehicle',
    'deal_has_no_enquiry',
    'vehicle_in_deal',
    'validation_failed',
    'request_refused',
  ],
  emits: ['deal.created', 'vehicle.updated', 'vehicle.status_changed'],
  example: {
    body: {
      external_id: 'order-318',
      enquiry_id: '{/v1/enquiries}',
      vehicle_id: '{/v1/vehicles}',
      vehicle_price: 1_849_500,
      discount: 50_000,
      extras: [
        { kind: 'WARRANTY', description: '24 months', unit_price: 39_900 },
        { kind: 'ROAD_TAX', unit_price: 19_500, vat_code: 'OUTSIDE_SCOPE' },
      ],
      part_exchanges: [
        { registration: 'ab12 cde', make: 'Ford', model: 'Fiesta', mileage: 61_200, allowance: 400_000, settlement: 120_000 },
      ],
      deposit: { required: 50_000 },
      finance: { type: 'PCP', provider: 'Example Motor Finance', advance: 1_200_000, term_months: 48, apr_bps: 990, status: 'QUOTED' },
    },
  },
});

export const updateDeal = operation({
  id: 'deals.update',
  method: 'PATCH',
  path: '/v1/deals/{id}',
  tag,
  summary: 'Change a deal',
  description:
    'A merge patch: an absent field is left, null clears it; of `extras` and `part_exchanges` the whole list is given, those that stay by their `id`. A deal moves between QUOTE, RESERVED and ORDERED, and to CANCELLED with a `cancellation_reason`. From RESERVED on it holds its vehicle; SOLD and DELIVERED are set in the DMS. A cancelled deal loses its enquiry, unless that has another deal.',
  access: writers,
  params: byId,
  body: dealChanges,
  success: { status: 200, data: deal },
  refusals: [
    'insufficient_scope',
    'scope_not_permitted_for_owner',
    'not_found',
    'branch_move_not_permitted',
    'external_id_taken',
    'stock_busy',
    'deal_closed',
    'deal_sold',
    'deal_has_no_vehicle',
    'deal_has_no_enquiry',
    'vehicle_in_deal',
    'validation_failed',
    'request_refused',
  ],
  emits: ['deal.status_changed', 'vehicle.updated', 'vehicle.status_changed', 'enquiry.updated'],
  example: {
    body: {
      discount: 75_000,
      handover: { method: 'DELIVERY', scheduled_at: '2026-02-14T10:00:00Z', address: { line1: '4 Orchard Lane', postcode: 'bs1 4dj' } },
    },
  },
});

export const dealOperations = [listDeals, getDeal, createDeal, updateDeal];

const { scopes } = readers;

export const dealCreated = eventType({
  type: 'deal.created',
  summary: 'A deal was created.',
  object: deal,
  scopes,
});

export const dealStatusChanged = eventType({
  type: 'deal.status_changed',
  summary: 'The status of a deal changed; what it makes of vehicle and enquiry follows.',
  object: deal,
  scopes,
});

export const dealEvents = [dealCreated, dealStatusChanged];
