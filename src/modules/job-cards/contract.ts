import type { z } from 'zod';
import { registration } from '#modules/vehicles/contract.ts';
import {
  anyOf,
  byId,
  codeOf,
  dateOrMoment,
  eventType,
  flag,
  id,
  operation,
  privateKeys,
  recordListQuery,
  wholeParameter,
} from '#platform/contract.ts';
import { jobCardStatuses } from './codes.ts';
import { jobCard, jobCardChanges, jobCardType, newJobCard } from './shapes.ts';

export * from './codes.ts';
export * from './line-shapes.ts';
export * from './shapes.ts';

const tag = 'Job cards';
const readers = { scopes: ['workshop:read'], kinds: privateKeys } as const;
const writers = { scopes: ['workshop:write'], kinds: privateKeys } as const;

const from = dateOrMoment.optional().describe('At or after it; a date is a day in the dealership’s time zone.');
const to = dateOrMoment.optional().describe('At or before it: of a date, by the end of that day.');

export const jobCardListQuery = recordListQuery({
  status: anyOf(codeOf('job-card-statuses', jobCardStatuses)).optional(),
  type: anyOf(jobCardType).optional(),
  customer_id: anyOf(id).optional(),
  vehicle_id: anyOf(id).optional().describe('Vehicles of the stock.'),
  registration: anyOf(registration).optional().describe('Of the car, whether it is of the stock or a customer’s.'),
  advisor_id: anyOf(id).optional(),
  technician_id: anyOf(id).optional(),
  number: anyOf(wholeParameter(1, 2_147_483_647)).optional(),
  invoiced: flag.optional().describe('Whether an invoice was raised that is not credited.'),
  booked_in_from: from,
  booked_in_to: to,
  promised_from: from,
  promised_to: to,
});
export type JobCardListQuery = z.output<typeof jobCardListQuery>;

export const listJobCards = operation({
  id: 'job_cards.list',
  method: 'GET',
  path: '/v1/job-cards',
  tag,
  summary: 'List job cards',
  description: 'In the order of `updated_at`.',
  access: readers,
  query: jobCardListQuery,
  success: { status: 200, data: jobCard, shape: 'page' },
  refusals: ['validation_failed'],
});

export const getJobCard = operation({
  id: 'job_cards.get',
  method: 'GET',
  path: '/v1/job-cards/{id}',
  tag,
  summary: 'Read a job card',
  access: readers,
  params: byId,
  success: { status: 200, data: jobCard },
  refusals: ['not_found'],
});

export const createJobCard = operation({
  id: 'job_cards.create',
  method: 'POST',
  path: '/v1/job-cards',
  tag,
  summary: 'Open a job card',
  description: 'An ESTIMATE, or BOOKED, for a vehicle of the stock or a car of a customer’s. Its lines are written in the DMS.',
  access: writers,
  body: newJobCard,
  success: { status: 201, data: jobCard, location: '/v1/job-cards/{id}' },
  refusals: ['branch_move_not_permitted', 'external_id_taken', 'stock_busy', 'validation_failed'],
  emits: ['job_card.created', 'appointment.updated'],
  example: {
    body: {
      external_id: 'booking-77',
      status: 'BOOKED',
      customer_vehicle: { registration: 'ab12 cde', make: 'Vauxhall', model: 'Astra' },
      mileage_in: 61_200,
      concern: 'Squeals when braking. Service due.',
      booked_in_at: '2026-02-09T08:30:00Z',
      promised_at: '2026-02-09T16:30:00Z',
      transport_option: 'WHILE_YOU_WAIT',
    },
  },
});

export const updateJobCard = operation({
  id: 'job_cards.update',
  method: 'PATCH',
  path: '/v1/job-cards/{id}',
  tag,
  summary: 'Change a job card',
  description:
    'A merge patch: an absent field is left, null clears it. The status goes from any to any but INVOICED, which the DMS sets with the invoice. Authorised parts are RESERVED, as far as there are enough, from BOOKED to AWAITING_AUTHORISATION; ISSUED in COMPLETED, which needs them all; and given back in ESTIMATE and CANCELLED. When the card changes branch, what is reserved is put back at the old one and, as far as there are enough, reserved at the new. An invoiced card keeps its branch, and its status until the invoice is credited.',
  access: writers,
  params: byId,
  body: jobCardChanges,
  success: { status: 200, data: jobCard },
  refusals: [
    ...(['not_found', 'branch_move_not_permitted', 'external_id_taken', 'job_card_paid', 'stock_busy'] as const),
    ...(['request_refused', 'validation_failed'] as const),
  ],
  emits: ['job_card.updated', 'vehicle.updated'],
  example: { body: { status: 'CHECKED_IN', key_tag: '17', promised_at: '2026-02-09T15:00:00Z' } },
});

export const jobCardOperations = [listJobCards, getJobCard, createJobCard, updateJobCard];

const { scopes } = readers;

export const jobCardCreated = eventType({
  type: 'job_card.created',
  summary: 'A job card was opened.',
  object: jobCard,
  scopes,
});

export const jobCardUpdated = eventType({
  type: 'job_card.updated',
  summary: 'A field, the status or the lines of a job card changed, or its invoice was raised, paid or credited.',
  object: jobCard,
  scopes,
});

export const jobCardEvents = [jobCardCreated, jobCardUpdated];
