import type { z } from 'zod';
import { phone } from '#modules/customers/contract.ts';
import { email } from '#modules/staff/contract.ts';
import { anyOf, byId, codeOf, eventType, flag, id, operation, privateKeys, recordListQuery, tombstone } from '#platform/contract.ts';
import { enquiryStatuses } from './codes.ts';
import { enquiry, enquiryChanges, enquirySource, enquiryType, enquiryWithNotes, newEnquiry, newNote, note } from './shapes.ts';

export * from './codes.ts';
export * from './shapes.ts';

const tag = 'Enquiries';
const readers = { scopes: ['enquiries:read'], kinds: privateKeys } as const;
const writers = { scopes: ['enquiries:write'], kinds: privateKeys } as const;

export const enquiryListQuery = recordListQuery({
  status: anyOf(codeOf('enquiry-statuses', enquiryStatuses)).optional(),
  type: anyOf(enquiryType).optional(),
  source: anyOf(enquirySource).optional(),
  customer_id: anyOf(id).optional(),
  vehicle_id: anyOf(id).optional(),
  assigned_to_id: anyOf(id).optional(),
  email: anyOf(email).optional().describe('Of the contact.'),
  phone: anyOf(phone).optional().describe('A phone or mobile number of the contact, in whatever form.'),
  unanswered: flag.optional().describe('`true`: open ones nobody has responded to yet; `false`: those someone has.'),
});
export type EnquiryListQuery = z.output<typeof enquiryListQuery>;

export const listEnquiries = operation({
  id: 'enquiries.list',
  method: 'GET',
  path: '/v1/enquiries',
  tag,
  summary: 'List enquiries',
  description: 'In the order of `updated_at`; without their notes.',
  access: readers,
  query: enquiryListQuery,
  success: { status: 200, data: enquiry, shape: 'page' },
  refusals: ['validation_failed'],
});

export const getEnquiry = operation({
  id: 'enquiries.get',
  method: 'GET',
  path: '/v1/enquiries/{id}',
  tag,
  summary: 'Read an enquiry with its notes',
  access: readers,
  params: byId,
  success: { status: 200, data: enquiryWithNotes },
  refusals: ['not_found'],
});

export const createEnquiry = operation({
  id: 'enquiries.create',
  method: 'POST',
  path: '/v1/enquiries',
  tag,
  summary: 'Create an enquiry',
  description:
    'Needs `customer_id` or `contact`. A contact is taken for the customer with the same e-mail, else mobile, else phone, and the same last name where one is given; else a customer is created. Customers beyond the key’s branches are not looked at.',
  access: writers,
  body: newEnquiry,
  success: { status: 201, data: enquiryWithNotes, location: '/v1/enquiries/{id}' },
  refusals: ['branch_move_not_permitted', 'external_id_taken', 'validation_failed'],
  emits: ['enquiry.created', 'customer.created'],
  example: {
    body: {
      external_id: 'lead-5521',
      type: 'SALES',
      source: 'AUTO_TRADER',
      channel: 'WEB',
      contact: {
        first_name: 'Alex',
        last_name: 'Rowan',
        email: 'Alex.Rowan@customer.example',
        mobile: '07700 900118',
        preferred_method: 'PHONE',
        preferred_time: 'After 17:00',
      },
      message: 'Is the car still available, and could I see it on Saturday?',
      vehicle_id: '{/v1/vehicles}',
      part_exchange: { registration: 'ab12 cde', mileage: 61_200, condition: 'GOOD', expected_value: 420_000 },
      finance: { interested: true, type: 'PCP', deposit: 150_000, term_months: 48 },
      marketing_consent: { email: true, phone: true, wording: 'You may contact me about offers.' },
      attribution: { utm_source: 'newsletter', utm_medium: 'email' },
    },
  },
});

export const updateEnquiry = operation({
  id: 'enquiries.update',
  method: 'PATCH',
  path: '/v1/enquiries/{id}',
  tag,
  summary: 'Change an enquiry',
  description:
    'A merge patch: an absent field is left, null clears it. An open enquiry moves to any status but WON, which the deal sets; LOST needs a `lost_reason`. A lost or disqualified one is opened again as CONTACTED. A `part_exchange` can be cleared until it is appraised.',
  access: writers,
  params: byId,
  body: enquiryChanges,
  success: { status: 200, data: enquiryWithNotes },
  refusals: [
    'not_found',
    'branch_move_not_permitted',
    'external_id_taken',
    'enquiry_has_invoiced_order',
    'enquiry_has_part_exchange',
    'validation_failed',
  ],
  emits: ['enquiry.updated'],
  example: { body: { status: 'CONTACTED', next_action_at: '2026-02-03T10:00:00Z' } },
});

export const deleteEnquiry = operation({
  id: 'enquiries.delete',
  method: 'DELETE',
  path: '/v1/enquiries/{id}',
  tag,
  summary: 'Delete an enquiry',
  description: 'One whose deal is not invoiced, and whose part exchange is not appraised. The `external_id` is free again.',
  access: writers,
  params: byId,
  success: { status: 200, data: tombstone },
  refusals: ['not_found', 'enquiry_has_invoiced_order', 'enquiry_has_part_exchange'],
  emits: ['enquiry.deleted'],
});

export const addNote = operation({
  id: 'enquiries.add_note',
  method: 'POST',
  path: '/v1/enquiries/{id}/notes',
  tag,
  summary: 'Add a note to an enquiry',
  access: writers,
  params: byId,
  body: newNote,
  success: { status: 201, data: note },
  refusals: ['not_found', 'validation_failed'],
  emits: ['enquiry.updated'],
  example: { body: { body: 'Rang back: will come on Saturday at ten.' } },
});

export const enquiryOperations = [listEnquiries, getEnquiry, createEnquiry, updateEnquiry, deleteEnquiry, addNote];

const { scopes } = readers;

export const enquiryCreated = eventType({
  type: 'enquiry.created',
  summary: 'An enquiry came in.',
  object: enquiryWithNotes,
  scopes,
});

export const enquiryUpdated = eventType({
  type: 'enquiry.updated',
  summary: 'A field, the status or the part exchange of an enquiry changed, or a note was added.',
  object: enquiryWithNotes,
  scopes,
});

export const enquiryDeleted = eventType({
  type: 'enquiry.deleted',
  summary: 'An enquiry was deleted.',
  object: tombstone,
  scopes,
});

export const enquiryEvents = [enquiryCreated, enquiryUpdated, enquiryDeleted];
