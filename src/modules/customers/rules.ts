import type { FieldErrors } from '#platform/errors.ts';
import { invalidFields, Refusal } from '#platform/errors.ts';
import { wrongMetadata } from '#platform/records.ts';
import type { CustomerChanges, CustomerType } from './contract.ts';

// What the dealership does not allow, and who it takes for whom. Pure: the same customer and the same change always give the same answer.

/** Someone's names. */
export interface Names {
  readonly first_name: string | null;
  readonly last_name: string | null;
  readonly company_name: string | null;
}

/** How someone is reached. */
export interface Reached {
  readonly email: string | null;
  readonly mobile: string | null;
  readonly phone: string | null;
}

/** A customer as far as the rules look at it. */
export interface Standing extends Names, Reached {
  readonly id: string;
  readonly metadata: Readonly<Record<string, string>>;
}

// ---- Names ----

/** A business goes by its name, anybody else by first and last name. */
export function displayName(type: CustomerType, { first_name: first, last_name: last, company_name: company }: Names): string {
  const person = [first, last].filter((name) => name !== null).join(' ');
  return (type === 'BUSINESS' ? company || person : person || company) ?? '';
}

/** A name as it is compared: lower case, without accents. */
export const nameKey = (name: string): string => name.normalize('NFKD').replaceAll(/\p{M}/gu, '').replaceAll(/\s+/g, ' ').toLowerCase();

/** Someone who gives a company's name and no last name is taken for the company. */
export const typeOf = ({ last_name: last, company_name: company }: Names): CustomerType =>
  last === null && company !== null ? 'BUSINESS' : 'INDIVIDUAL';

// ---- Who is who ----

/** A customer as far as others are taken for them. */
export interface Known extends Reached {
  readonly id: string;
  readonly last_name_key: string | null;
}

type Contact = Reached & Pick<Names, 'last_name'>;

/**
 * The customer a contact means: by e-mail, then mobile, then phone, and of the same last name where the contact gives one, since
 * families share them. Of several the first of `known` counts.
 */
export function customerMeant<K extends Known>(contact: Contact, known: readonly K[]): K | undefined {
  const namesakes = known.filter((customer) => contact.last_name === null || isNamesake(contact, customer));
  const { email, mobile, phone } = contact;
  return (
    namesakes.find((customer) => email !== null && customer.email === email) ??
    namesakes.find((customer) => hasNumber(customer, mobile)) ??
    namesakes.find((customer) => hasNumber(customer, phone))
  );
}

/** Those a new customer may be a duplicate of, namesakes first. */
export function duplicatesAmong(contact: Contact, known: readonly Known[]): string[] {
  const namesakes = known.filter((customer) => isNamesake(contact, customer));
  return [...namesakes, ...known.filter((customer) => !namesakes.includes(customer))].slice(0, 20).map(({ id }) => id);
}

const isNamesake = ({ last_name: name }: Contact, { last_name_key: key }: Known): boolean => name !== null && nameKey(name) === key;

/** A number is the same one whichever of the two fields holds it. */
const hasNumber = ({ mobile, phone }: Known, number: string | null): boolean => number !== null && (mobile === number || phone === number);

// ---- The customer itself ----

/** What is wrong with the customer as it would be. `written` says which of it is being written. */
export function checkCustomer(after: Standing, written: CustomerChanges): void {
  const errors: FieldErrors = wrongMetadata(after);
  const writes = (...fields: (keyof CustomerChanges)[]) => fields.some((field) => written[field] !== undefined);
  if (writes('last_name', 'company_name') && after.last_name === null && after.company_name === null) {
    errors.last_name = ['A customer needs a last_name or a company_name.'];
  }
  if (writes('email', 'mobile', 'phone') && after.email === null && after.mobile === null && after.phone === null) {
    errors.email = ['A customer needs an email, a mobile or a phone.'];
  }
  if (Object.keys(errors).length > 0) throw invalidFields(errors);
}

/** What a customer is kept for. */
export type Holdings = Readonly<Record<keyof typeof singular, number>>;

export function checkDeletable(held: Holdings): void {
  const named = (Object.keys(singular) as (keyof Holdings)[]).filter((kind) => held[kind] > 0).map((kind) => counted(kind, held[kind]));
  if (named.length > 0) throw new Refusal('customer_has_enquiries', `The customer has ${list.format(named)}.`);
}

const singular = { enquiries: 'an enquiry', deals: 'a deal', job_cards: 'a job card', invoices: 'an invoice' } as const;
const list = new Intl.ListFormat('en-GB');

const counted = (kind: keyof Holdings, count: number): string => (count === 1 ? singular[kind] : `${count} ${kind.replaceAll('_', ' ')}`);
