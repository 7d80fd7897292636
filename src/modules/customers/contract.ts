import type { z } from 'zod';
import { email } from '#modules/staff/contract.ts';
import { registration } from '#modules/vehicles/contract.ts';
import { anyOf, byId, codeOf, eventType, operation, privateKeys, recordListQuery, text, tombstone } from '#platform/contract.ts';
import { customerTypes } from './codes.ts';
import { createdCustomer, customer, customerChanges, customerDetails, newCustomer, phone, postcode } from './shapes.ts';

export * from './codes.ts';
export * from './shapes.ts';

const tag = 'Customers';
const readers = { scopes: ['customers:read'], kinds: privateKeys } as const;
const writers = { scopes: ['customers:write'], kinds: privateKeys } as const;

export const customerListQuery = recordListQuery({
  type: anyOf(codeOf('customer-types', customerTypes)).optional(),
  email: anyOf(email).optional(),
  phone: anyOf(phone).optional().describe('A phone or mobile number, in whatever form.'),
  q: text(100).optional().describe('The beginning of a first, last or full name, or of a company’s; accents and case do not matter.'),
  postcode: anyOf(postcode).optional(),
  registration: anyOf(registration).optional().describe('Of a car that is known to be theirs.'),
});
export type CustomerListQuery = z.output<typeof customerListQuery>;

export const listCustomers = operation({
  id: 'customers.list',
  method: 'GET',
  path: '/v1/customers',
  tag,
  summary: 'List customers',
  description: 'In the order of `updated_at`; without their cars.',
  access: readers,
  query: customerListQuery,
  success: { status: 200, data: customer, shape: 'page' },
  refusals: ['validation_failed'],
});

export const getCustomer = operation({
  id: 'customers.get',
  method: 'GET',
  path: '/v1/customers/{id}',
  tag,
  summary: 'Read a customer',
  access: readers,
  params: byId,
  success: { status: 200, data: customerDetails },
  refusals: ['not_found'],
});

export const createCustomer = operation({
  id: 'customers.create',
  method: 'POST',
  path: '/v1/customers',
  tag,
  summary: 'Create a customer',
  description:
    'Needs `last_name` or `company_name`, and one of `email`, `mobile` and `phone`. Without a `type` a company without a last name is a BUSINESS. Families share e-mails, so duplicates are allowed, and named.',
  access: writers,
  body: newCustomer,
  success: { status: 201, data: createdCustomer, location: '/v1/customers/{id}' },
  refusals: ['branch_move_not_permitted', 'external_id_taken', 'validation_failed'],
  emits: ['customer.created'],
  example: {
    body: {
      external_id: 'crm-204',
      first_name: 'Robin',
      last_name: 'Hazel',
      email: 'robin.hazel@customer.example',
      mobile: '07700 900204',
      address: { line1: '4 Orchard Lane', city: 'Bristol', postcode: 'bs1 4dj', country: 'GB' },
      preferred_contact_method: 'EMAIL',
      marketing_consent: { email: true, wording: 'Yes, send me offers by e-mail.' },
      tags: ['service plan'],
    },
  },
});

export const updateCustomer = operation({
  id: 'customers.update',
  method: 'PATCH',
  path: '/v1/customers/{id}',
  tag,
  summary: 'Change a customer',
  description: 'A merge patch: an absent field is left, null clears it.',
  access: writers,
  params: byId,
  body: customerChanges,
  success: { status: 200, data: customerDetails },
  refusals: ['not_found', 'branch_move_not_permitted', 'external_id_taken', 'validation_failed'],
  emits: ['customer.updated'],
  example: { body: { phone: '0117 496 0204', address: { line2: 'Redcliffe' }, do_not_contact: false } },
});

export const deleteCustomer = operation({
  id: 'customers.delete',
  method: 'DELETE',
  path: '/v1/customers/{id}',
  tag,
  summary: 'Delete a customer',
  description: 'One without enquiries, deals, job cards and invoices. The `external_id` is free again.',
  access: writers,
  params: byId,
  success: { status: 200, data: tombstone },
  refusals: ['not_found', 'customer_has_enquiries'],
  emits: ['customer.deleted'],
});

export const customerOperations = [listCustomers, getCustomer, createCustomer, updateCustomer, deleteCustomer];

const { scopes } = readers;

export const customerCreated = eventType({
  type: 'customer.created',
  summary: 'A customer was created, by itself or from the contact of an enquiry.',
  object: customerDetails,
  scopes,
});

export const customerUpdated = eventType({
  type: 'customer.updated',
  summary: 'A field of a customer changed.',
  object: customerDetails,
  scopes,
});

export const customerDeleted = eventType({
  type: 'customer.deleted',
  summary: 'A customer was deleted.',
  object: tombstone,
  scopes,
});

export const customerEvents = [customerCreated, customerUpdated, customerDeleted];
