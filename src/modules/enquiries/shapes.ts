import { z } from 'zod';
import { consent, consentChanges, contactMethod, contactMethods, person } from '#modules/customers/contract.ts';
import { address } from '#modules/dealers/contract.ts';
import { shownBranch } from '#modules/house/contract.ts';
import { shownCustomer, shownDeal, shownStaff, shownVehicle } from '#modules/links/contract.ts';
import { bodyTypes, fuelTypes, registration, transmissions } from '#modules/vehicles/contract.ts';
import {
  codeOf,
  date,
  dateTime,
  externalIdField,
  id,
  metadataChanges,
  minorUnits,
  moment,
  money,
  needing,
  openCodeOf,
  shownOpenCode,
  text,
  whole,
} from '#platform/contract.ts';
import { conditionRatings, enquiryLostReasons, enquirySources, enquiryStatuses, enquiryTypes, financeTypes } from './codes.ts';

const line = (max: number) => text(max).nullable();
const yes = z.boolean({ error: 'Either true or false.' }).nullable();
const amount = minorUnits.nullable();

export const enquiryType = openCodeOf('enquiry-types', enquiryTypes);
export const enquirySource = openCodeOf('enquiry-sources', enquirySources);
const lostReason = openCodeOf('enquiry-lost-reasons', enquiryLostReasons);

// ---- What is written as it is read ----

const wish = {
  make: line(60),
  model: line(60),
  condition: z.enum(['NEW', 'USED'], { error: 'Either NEW or USED.' }).nullable(),
  max_mileage: whole(0, 9_999_999).nullable(),
  fuel_type: codeOf('fuel-types', fuelTypes).nullable(),
  transmission: codeOf('transmissions', transmissions).nullable(),
  body_type: codeOf('body-types', bodyTypes).nullable(),
  colour: line(60),
  change_by: date.nullable(),
};

const offer = {
  make: line(60),
  model: line(60),
  derivative: line(120),
  mileage: whole(0, 9_999_999).nullable(),
  condition: codeOf('condition-ratings', conditionRatings).nullable(),
};

const plan = {
  interested: yes,
  type: codeOf('finance-types', financeTypes).nullable(),
  term_months: whole(1, 999).nullable(),
  annual_mileage: whole(0, 999_999).nullable(),
};

const drive = { requested: yes, location: z.enum(['BRANCH', 'HOME'], { error: 'Either BRANCH or HOME.' }).nullable() };

const origin = {
  page_url: line(2048),
  referrer: line(2048),
  utm_source: line(255),
  utm_medium: line(255),
  utm_campaign: line(255),
  gclid: line(255),
};

// ---- Requests, each in the form of a merge patch: absent leaves it, null clears it, an object is merged ----

const someOf = <S extends z.ZodRawShape>(shape: S) => z.strictObject(shape).partial().nullable();

/** A status the API never sets is an error of shape, like a status that does not exist. */
const notAStatus = 'Not a code of the reference list "enquiry-statuses".';
const settable = z
  .enum(enquiryStatuses, { error: notAStatus })
  .exclude(['WON'], { error: ({ input }) => (input === 'WON' ? 'WON is set by the deal when it is SOLD.' : notAStatus) });

/** Someone as given: a snapshot, whatever becomes of the customer. */
export const contactChanges = someOf({ ...person, preferred_method: contactMethod, preferred_time: line(120) }).describe(
  'Who asks, as given: a name, and an e-mail or a number.',
);
export type ContactChanges = z.output<typeof contactChanges>;

/** What a creation may say. */
const given = {
  external_id: externalIdField,
  branch_id: id.describe('Of a new enquiry the default branch, or the key’s only one, unless it is given.'),
  type: enquiryType.describe(`SALES unless it is given. ${enquiryType.description}`),
  source: enquirySource.describe(`API unless it is given, AI_ASSISTANT from an assistant’s tool. ${enquirySource.description}`),
  source_detail: line(120),
  channel: contactMethod.describe('How it arrived.'),
  customer_id: id,
  contact: contactChanges,
  message: line(5000),
  vehicle_id: id.nullable().describe('The vehicle of interest.'),
  wanted: someOf({ ...wish, min_price: amount, max_price: amount }).describe('What is looked for; prices in minor units.'),
  part_exchange: someOf({ registration: registration.nullable(), ...offer, outstanding_finance: amount, expected_value: amount }).describe(
    'The car offered in part exchange; amounts in minor units.',
  ),
  finance: someOf({ ...plan, deposit: amount, monthly_budget: amount }).describe('Amounts in minor units.'),
  test_drive: someOf({ ...drive, preferred_at: moment.nullable() }),
  assigned_to_id: id.nullable().describe('A member of staff.'),
  next_action_at: moment.nullable(),
  marketing_consent: consentChanges,
  attribution: someOf(origin),
  metadata: metadataChanges,
};

/** The body of a change: any of the writable fields. */
export const enquiryChanges = z
  .strictObject({
    ...given,
    status: settable,
    lost_reason: lostReason.nullable().describe(`Required with LOST. ${lostReason.description}`),
    lost_note: line(2000),
  })
  .partial();
export type EnquiryChanges = z.output<typeof enquiryChanges>;

/** The body of a creation: whose enquiry it is, by id or as given. */
export const newEnquiry = z
  .strictObject(given)
  .partial()
  .superRefine(({ customer_id: customerId, contact }, ctx) => {
    if (customerId === undefined && !contact)
      ctx.addIssue({ code: 'custom', path: ['contact'], message: 'Required, unless a customer_id is given.' });
  })
  .meta(needing([['customer_id'], ['contact']]));
export type NewEnquiry = z.output<typeof newEnquiry>;

export const newNote = z.strictObject({ body: text(10_000) });
export type NewNote = z.output<typeof newNote>;

/** What the dealership would give for the car that is offered. */
export const appraisal = z.strictObject({ valuation: minorUnits });

// ---- Responses ----

const uuid = z.string().meta({ format: 'uuid' });
const known = z.string().nullable();
const price = money.nullable();

export const contact = z
  .object({
    title: known,
    first_name: known,
    last_name: known,
    company_name: known,
    email: known,
    mobile: known,
    phone: known,
    address: address.nullable(),
    preferred_method: z.enum(contactMethods).nullable(),
    preferred_time: known,
  })
  .meta({ id: 'Contact', description: 'Who asks, as given; changing the customer does not change it.' });
export type Contact = z.output<typeof contact>;

const wanted = z.object({ ...wish, min_price: price, max_price: price }).meta({ id: 'WantedVehicle' });
export type Wanted = z.output<typeof wanted>;

const partExchange = z
  .object({
    id: uuid,
    registration: known,
    ...offer,
    outstanding_finance: price,
    expected_value: price,
    valuation: price.describe('What the dealership would give for it.'),
    valued_at: dateTime.nullable(),
    vehicle_id: uuid.nullable().describe('The vehicle it became in stock.'),
  })
  .meta({ id: 'PartExchange' });
export type PartExchange = z.output<typeof partExchange>;

const finance = z.object({ ...plan, deposit: price, monthly_budget: price }).meta({ id: 'FinanceWish' });
export type Finance = z.output<typeof finance>;

const testDrive = z.object({ ...drive, preferred_at: dateTime.nullable() }).meta({ id: 'TestDriveWish' });
export type TestDrive = z.output<typeof testDrive>;

const attribution = z.object(origin).meta({ id: 'Attribution' });
export type Attribution = z.output<typeof attribution>;

export const noteAuthors = ['user', 'api', 'customer', 'system'] as const;

export const note = z
  .object({
    id: uuid,
    body: z.string(),
    author: z.object({ id: uuid.nullable(), name: z.string(), kind: z.enum(noteAuthors) }),
    created_at: dateTime,
  })
  .meta({ id: 'Note' });
export type Note = z.output<typeof note>;

/** An enquiry as lists show it. */
export const enquiry = z
  .object({
    id: uuid,
    reference: z.string().describe('`ENQ-` and a number: sequential per dealership, never used again.'),
    external_id: known,
    branch_id: uuid,
    branch: shownBranch,
    status: z.enum(enquiryStatuses),
    type: shownOpenCode('enquiry-types', enquiryTypes),
    source: shownOpenCode('enquiry-sources', enquirySources),
    source_detail: known,
    channel: z.enum(contactMethods).nullable().describe('How it arrived.'),
    customer_id: uuid,
    customer: shownCustomer,
    contact: contact.nullable(),
    message: known,
    vehicle_id: uuid.nullable(),
    vehicle: shownVehicle,
    wanted: wanted.nullable(),
    part_exchange: partExchange.nullable(),
    finance: finance.nullable(),
    test_drive: testDrive.nullable(),
    assigned_to_id: uuid.nullable(),
    assigned_to: shownStaff,
    lost_reason: shownOpenCode('enquiry-lost-reasons', enquiryLostReasons).nullable(),
    lost_note: known,
    first_responded_at: dateTime.nullable().describe('When it first became CONTACTED, APPOINTMENT, NEGOTIATING or WON.'),
    next_action_at: dateTime.nullable(),
    marketing_consent: consent.nullable(),
    attribution: attribution.nullable(),
    deal_id: uuid.nullable(),
    appointment_ids: z.array(uuid),
    metadata: z.record(z.string(), z.string()),
    created_at: dateTime,
    updated_at: dateTime,
  })
  .meta({ id: 'Enquiry' });
export type Enquiry = z.output<typeof enquiry>;

/** An enquiry as a single read shows it. */
export const enquiryWithNotes = enquiry
  .extend({ deal: shownDeal, notes: z.array(note).describe('Oldest first.') })
  .meta({ id: 'EnquiryWithNotes' });
export type EnquiryWithNotes = z.output<typeof enquiryWithNotes>;
