import { z } from 'zod';
import { address } from '#modules/dealers/contract.ts';
import { shownBranch } from '#modules/house/contract.ts';
import { email } from '#modules/staff/contract.ts';
import { registration, vin } from '#modules/vehicles/contract.ts';
import { codeOf, date, dateTime, externalIdField, id, metadataChanges, moment, needing, text, whole } from '#platform/contract.ts';
import { contactMethods, customerTypes } from './codes.ts';

const line = (max: number) => text(max).nullable();
const yes = z.boolean({ error: 'Either true or false.' }).nullable();

// ---- Requests, each in the form of a merge patch: absent leaves it, null clears it, an object is merged, an array replaced ----

/** The postcodes that have a space, and where: British with Girobank, overseas and forces ones, Irish, Canadian, Dutch. */
const spacedPostcodes = [
  /^([A-Z]{1,2}\d[A-Z\d]?|GIR|[A-Z]{4})(\d[A-Z]{2})$/,
  /^(BFPO)(\d{1,4})$/,
  /^([AC-FHKNPRTV-Y]\d[\dW])([AC-FHKNPRTV-Y\d]{4})$/,
  /^([A-Z]\d[A-Z])(\d[A-Z]\d)$/,
  /^(\d{4})([A-Z]{2})$/,
];

/** Upper case with one space, where the country's postcodes have one; else as it was written. */
export const postcode = text(20).transform((value) => {
  const written = value.toUpperCase().replaceAll(/\s+/g, ' ');
  const together = written.replaceAll(/[\s-]/g, '');
  const [, ...halves] = spacedPostcodes.map((form) => form.exec(together)).find((found) => found !== null) ?? [];
  return halves.length > 0 ? halves.join(' ') : written;
});

/** A phone number as someone writes it; which one it is, the dealership's country decides. */
export const phone = text(40).describe('Kept as E.164; without a country code it is read as one of the dealership’s country.');

export const contactMethod = codeOf('contact-methods', contactMethods).nullable();

/** Who someone is and how they are reached. */
export const person = {
  title: line(40),
  first_name: line(120),
  last_name: line(120),
  company_name: line(160),
  email: email.nullable().describe('Kept in lower case.'),
  mobile: phone.nullable(),
  phone: phone.nullable(),
  address: z
    .strictObject({
      line1: line(120),
      line2: line(120),
      city: line(120),
      county: line(120),
      postcode: postcode.nullable().describe('Kept in upper case with one space.'),
      country: line(60),
    })
    .partial()
    .nullable(),
};

/** What may be sent to someone, in the words they agreed to. */
export const consentChanges = z
  .strictObject({ email: yes, sms: yes, phone: yes, post: yes, wording: line(2000), recorded_at: moment.nullable() })
  .partial()
  .nullable()
  .describe('`recorded_at` is the moment of the write unless it is given.');
export type ConsentChanges = z.output<typeof consentChanges>;

/** The body of a change: any of the writable fields. */
export const customerChanges = z
  .strictObject({
    external_id: externalIdField,
    branch_id: id.describe('The home branch: the default one, or the key’s only one, unless it is given.'),
    type: codeOf('customer-types', customerTypes),
    ...person,
    preferred_contact_method: contactMethod,
    marketing_consent: consentChanges,
    do_not_contact: yes,
    vat_number: line(30),
    account_number: line(60),
    tags: z.array(text(40)).max(20, { error: 'At most 20 tags.' }).nullable(),
    metadata: metadataChanges,
  })
  .partial();
export type CustomerChanges = z.output<typeof customerChanges>;

/** The body of a creation: a name, and a way to reach whoever it is. */
export const newCustomer = customerChanges
  .superRefine((customer, ctx) => {
    const { last_name: lastName, company_name: companyName, email: address, mobile, phone: landline } = customer;
    const missing = (field: string, message: string) => ctx.addIssue({ code: 'custom', path: [field], message });
    if (!lastName && !companyName) missing('last_name', 'Required, unless a company_name is given.');
    if (!address && !mobile && !landline) missing('email', 'Required, unless a mobile or phone is given.');
  })
  .meta(needing([['last_name'], ['company_name']], [['email'], ['mobile'], ['phone']]));
export type NewCustomer = z.output<typeof newCustomer>;

/** A car that is known to be a customer's, as staff note it. */
export const newOwnedVehicle = z.strictObject({
  registration: registration.nullable(),
  vin: vin.nullable(),
  make: line(60),
  model: line(60),
  mileage: whole(0, 9_999_999).nullable(),
  mot_expires_on: date.nullable(),
  next_service_on: date.nullable(),
});
export type NewOwnedVehicle = z.input<typeof newOwnedVehicle>;

// ---- Responses ----

const uuid = z.string().meta({ format: 'uuid' });
const known = z.string().nullable();
const day = date.nullable();

export const consent = z
  .object({
    email: z.boolean(),
    sms: z.boolean(),
    phone: z.boolean(),
    post: z.boolean(),
    wording: known,
    recorded_at: dateTime,
  })
  .meta({ id: 'MarketingConsent', description: 'What may be sent to someone, in the words they agreed to.' });
export type Consent = z.output<typeof consent>;

const ownedVehicle = z
  .object({
    id: uuid,
    registration: known,
    vin: known,
    make: known,
    model: known,
    mileage: z.int().nullable(),
    mot_expires_on: day,
    next_service_on: day,
  })
  .meta({ id: 'OwnedVehicle' });
export type OwnedVehicle = z.output<typeof ownedVehicle>;

/** A customer as lists show it. */
export const customer = z
  .object({
    id: uuid,
    reference: z.string().describe('`CUS-` and a number: sequential per dealership, never used again.'),
    external_id: known,
    branch_id: uuid.describe('The home branch.'),
    branch: shownBranch,
    type: z.enum(customerTypes),
    title: known,
    first_name: known,
    last_name: known,
    company_name: known,
    display_name: z.string().describe('The company’s name of a business, else first and last name.'),
    email: known,
    mobile: known.describe('E.164.'),
    phone: known.describe('E.164.'),
    address: address.nullable(),
    preferred_contact_method: contactMethod,
    marketing_consent: consent.nullable(),
    do_not_contact: z.boolean(),
    vat_number: known,
    account_number: known,
    tags: z.array(z.string()),
    enquiry_count: z.int().describe('Counted when read, as are the next two: of the records that the key may see.'),
    deal_count: z.int(),
    last_contacted_at: dateTime.nullable(),
    metadata: z.record(z.string(), z.string()),
    created_at: dateTime,
    updated_at: dateTime,
  })
  .meta({ id: 'Customer' });
export type Customer = z.output<typeof customer>;

/** A customer as a single read shows it. */
export const customerDetails = customer
  .extend({ owned_vehicles: z.array(ownedVehicle) })
  .meta({ id: 'CustomerDetails', description: 'A customer with the cars known to be theirs.' });
export type CustomerDetails = z.output<typeof customerDetails>;

/** What a creation answers. */
export const createdCustomer = customerDetails
  .extend({
    duplicate_of_candidates: z
      .array(uuid)
      .describe('Customers with the same e-mail or a same number, those of the same last name first; at most 20.'),
  })
  .meta({ id: 'CreatedCustomer' });
export type CreatedCustomer = z.output<typeof createdCustomer>;
